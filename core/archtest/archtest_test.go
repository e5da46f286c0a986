package archtest

import (
	"strings"
	"testing"
)

// TestRulesCanFail judges invented edges: "file imports target", and the words
// that the broken rule must say, or "" when the edge is fine.
func TestRulesCanFail(t *testing.T) {
	const ours = home + "/"
	for _, c := range []struct{ file, imports, rule string }{
		{"main.go", ours + "core/cli", ""},
		{"main.go", ours + "modules", ""},
		{"main.go", ours + "config", ""},
		{"main.go", ours + "core/app", "main hands"},
		{"main.go", ours + "modules/content", "main hands"},
		{"tour_test.go", ours + "core/app", ""},

		{"core/db/db.go", ours + "core/problem", ""},
		{"core/db/lite/lite.go", ours + "core/db", ""},
		{"core/problem/problem.go", ours + "core/db", "lower levels only"},
		{"core/work/work.go", ours + "core/event", "lower levels only"},
		{"core/event/event.go", ours + "core/work", ""},
		{"core/web/web.go", ours + "core/db", "lower levels only"},
		{"core/app/app.go", ours + "core/cli", "lower levels only"},
		{"core/app/app.go", ours + "modules", "core must not know modules"},
		{"core/app/app_test.go", ours + "modules", ""},
		{"core/db/db_test.go", ours + "modules", "core must not know modules"},
		{"core/cli/cli.go", ours + "config", "core must not know config"},
		{"core/cli/cli.go", ours + "plugins/hello", "core must not know plugins"},
		{"core/cli/plugin.go", ours + "sdk/manifest", ""},
		{"core/pluginhost/host.go", ours + "sdk/proto", ""},
		{"core/module/module.go", ours + "sdk/proto", "only core/pluginhost and core/cli"},
		{"core/utils/utils.go", ours + "core/db", "no level yet"},
		{"core/app/app.go", ours + "core/utils", "no level yet"},

		{"core/db/db_test.go", ours + "core/testkit", ""},
		{"core/db/db.go", ours + "core/testkit", "for tests"},
		{"core/testkit/postgres.go", ours + "core/problem", ""},
		{"core/testkit/postgres.go", ours + "core/db", "core/problem only"},
		{"core/testkit/postgres_test.go", ours + "core/testkit", ""},
		{"core/search/typesense/client_test.go", ours + "core/search/typesense/double", ""},
		{"core/search/typesense/client.go", ours + "core/search/typesense/double", "only tests"},
		{"core/db/db_test.go", ours + "core/archtest", "tests only"},

		{"modules/modules.go", ours + "modules/content", ""},
		{"modules/modules.go", ours + "core/module", ""},
		{"modules/modules.go", ours + "core/db", "list of modules"},
		{"modules/webhook/service.go", ours + "modules/content", "do not import one another"},
		{"modules/webhook/service.go", ours + "modules/content/schema", "do not import one another"},
		{"modules/content/service.go", ours + "modules/content/schema", ""},
		{"modules/content/schema/field.go", ours + "core/rawjson", ""},
		{"modules/content/service.go", ours + "modules", "do not import one another"},
		{"modules/content/scenario_test.go", ours + "modules", ""},
		{"modules/content/scenario_test.go", ours + "core/app", ""},
		{"modules/content/scenario_test.go", ours + "modules/search", "do not import one another"},
		{"modules/content/service.go", ours + "core/app", "assembled by core/app"},
		{"modules/content/service.go", ours + "core/pluginhost", "core/port and events"},
		{"modules/content/service.go", ours + "core/search/dsl", ""},
		{"modules/content/service.go", ours + "config", "a module may import"},
		{"modules/content/service.go", ours + "plugins/hello", "a module may import"},

		{"config/config.go", "embed", ""},
		{"config/config.go", ours + "core/conf", "imports nothing of ours"},
		{"config/config.go", "go.yaml.in/yaml/v3", "standard library only"},
		{"sdk/plugin/serve.go", ours + "sdk/proto", ""},
		{"sdk/plugin/serve.go", ours + "core/problem", "sdk stands alone"},
		{"sdk/client/main_test.go", ours + "core/cli", "sdk stands alone"},
		{"sdk/client/client.go", ours + "core/cli", "sdk stands alone"},
		{"sdk/plugin/serve.go", "github.com/hashicorp/go-plugin", ""},
		{"sdk/manifest/manifest.go", "go.yaml.in/yaml/v3", ""},
		{"sdk/plugin/serve.go", "github.com/spf13/cobra", "authors stay light"},
		{"plugins/hello/main.go", ours + "sdk/plugin", ""},
		{"plugins/hello/main.go", ours + "core/problem", "sees sdk only"},
		{"plugins/hello/main.go", "github.com/spf13/cobra", ""},
		{"plugins/hello/main.go", ours + "plugins/redact", "sees sdk only"},
		{"pkg/utils/utils.go", ours + "core/problem", "not in the architecture"},

		{"modules/content/module.go", "go.uber.org/fx", ""},
		{"modules/content/service.go", "go.uber.org/fx", "wire in module.go"},
		{"modules/content/schema/module.go", "go.uber.org/fx", "wire in module.go"},
		{"core/web/web.go", "go.uber.org/fx/fxevent", "wire in module.go"},
		{"modules/content/store.go", "github.com/uptrace/bun", ""},
		{"modules/content/store_revision.go", "github.com/uptrace/bun/schema", ""},
		{"modules/content/store_test.go", "github.com/uptrace/bun", ""},
		{"modules/content/revision.go", "github.com/uptrace/bun", "store.go"},
		{"core/web/web.go", "github.com/uptrace/bunrouter", ""},
		{"core/db/db.go", "github.com/uptrace/bunrouter", "only core/web"},
		{"modules/user/operations.go", "github.com/danielgtaylor/huma/v2", "only core/web"},
		{"core/db/postgres.go", "github.com/jackc/pgx/v5/stdlib", ""},
		{"core/work/claim.go", "github.com/jackc/pgx/v5", "use core/db"},
		{"modules/user/store.go", "modernc.org/sqlite", "use core/db"},
		{"core/search/embedded/index.go", "github.com/RoaringBitmap/roaring/v2", ""},
		{"modules/search/service.go", "github.com/blevesearch/bleve/v2/analysis", "port of core/search"},
		{"modules/file/service.go", "github.com/minio/minio-go/v7", "port of core/blob"},
		{"modules/user/command.go", "github.com/spf13/cobra", "as data"},
		{"modules/content/types.go", "go.yaml.in/yaml/v3", "conf.JSON"},
		{"modules/job/service.go", "github.com/hashicorp/go-plugin", "core/port"},
		{"modules/job/service.go", "golang.org/x/crypto/argon2", ""},
	} {
		edges, _, err := edgesOf(folder(c.file), c.file, "package x\nimport _ \""+c.imports+"\"\n")
		if err != nil || len(edges) != 1 {
			t.Fatalf("%s: %v, %v", c.file, edges, err)
		}
		rule := judge(edges[0])
		if (rule == "") != (c.rule == "") || !strings.Contains(rule, c.rule) {
			t.Errorf("%s\n  got:  %s\n  want: %s", edges[0], rule, c.rule)
		}
	}
}

func folder(file string) string {
	if i := strings.LastIndexByte(file, '/'); i >= 0 {
		return file[:i]
	}
	return "."
}

func TestInitIsFound(t *testing.T) {
	for text, want := range map[string]bool{
		"package x\nfunc init() {}":                  true,
		"package x\ntype t int\nfunc (t) init() {}":  false,
		"package x\nfunc Init() {}\nvar init_ = 1":   false,
		"package x\nvar x = func() int { return 1 }": false,
	} {
		if _, got, err := edgesOf("core/db", "x.go", text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

func TestClosureOfTheSDK(t *testing.T) {
	closure := []string{"fmt", "google.golang.org/grpc", "github.com/uptrace/bun", "github.com/uptrace/bunrouter/x", home + "/core/problem", home + "/sdk/proto"}
	if got := judgeClosure("sdk/plugin", closure); len(got) != 3 {
		t.Errorf("got %v", got)
	}
	if got := judgeClosure("core/db", closure); len(got) != 0 {
		t.Errorf("core may reach them: %v", got)
	}
}
