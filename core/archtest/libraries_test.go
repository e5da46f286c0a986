package archtest

import (
	"path"
	"strings"
)

// fence keeps a library in its home.
type fence struct {
	libraries []string
	packages  []string // with everything below
	files     []string // patterns of files besides, relative to the repository
	instead   string
}

// fences are the libraries that one or two packages may see.
func fences() []fence {
	return []fence{
		{[]string{"go.uber.org/fx", "go.uber.org/dig"}, []string{"core/app", "core/module"}, []string{"modules/*/module.go", "core/pluginhost/module.go"},
			"wire in module.go with the helpers of core/module; constructors take plain values"},
		{[]string{"github.com/uptrace/bun"}, []string{"core/db", "core/work", "core/event"}, []string{"modules/*/store*.go"},
			"put models and queries into store.go and give the service a method"},
		{[]string{"github.com/uptrace/bunrouter", "github.com/danielgtaylor/huma/v2"}, []string{"core/web"}, nil,
			"describe the operation with core/web"},
		{[]string{"github.com/jackc/pgx/v5"}, []string{"core/db", "core/testkit"}, nil,
			"use core/db; dialect differences live there and in migrations"},
		{[]string{"modernc.org/sqlite"}, []string{"core/db"}, nil,
			"use core/db; dialect differences live there and in migrations"},
		{[]string{"github.com/minio/minio-go/v7"}, []string{"core/blob"}, nil, "use the port of core/blob"},
		{[]string{"github.com/prometheus/client_golang"}, []string{"core/telemetry"}, nil, "contribute gauges through core/module"},
		{[]string{"github.com/typesense/typesense-go"}, []string{"core/search/typesense"}, nil, "use the port of core/search"},
		{[]string{"github.com/RoaringBitmap/roaring", "github.com/blevesearch"}, []string{"core/search"}, nil, "use the port of core/search"},
		{[]string{"github.com/spf13/cobra", "github.com/spf13/pflag", "golang.org/x/term"}, []string{"core/cli"}, nil,
			"describe the command as data in core/module; core/cli mounts it"},
		{[]string{"github.com/hashicorp/go-plugin", "github.com/hashicorp/go-hclog"}, []string{"core/pluginhost", "sdk"}, nil,
			"talk to plugins through core/port"},
		{[]string{"go.opentelemetry.io"}, []string{"core/telemetry"}, nil, "make spans with core/telemetry"},
		{[]string{"google.golang.org/grpc", "google.golang.org/protobuf"}, []string{"core/pluginhost", "sdk", "plugins", "core/telemetry/tracetest"}, nil,
			"talk to plugins through core/port"},
		{[]string{"github.com/modelcontextprotocol/go-sdk"}, []string{"modules/mcp"}, []string{"mcp_test.go"}, "contribute tools and resources through core/port"},
		{[]string{"go.yaml.in/yaml", "gopkg.in/yaml.v2", "gopkg.in/yaml.v3", "sigs.k8s.io/yaml", "github.com/goccy/go-yaml"}, []string{"core/conf", "sdk"}, nil,
			"declare a section for configuration; for other YAML take the JSON that conf.JSON gives"},
	}
}

// sdkMayImport are the libraries a plugin author gets with sdk.
func sdkMayImport() []string {
	return []string{"github.com/hashicorp/go-plugin", "github.com/hashicorp/go-hclog", "google.golang.org/grpc", "google.golang.org/protobuf", "go.yaml.in/yaml"}
}

// sdkNeverReaches are the libraries that must not be in the closure of sdk.
func sdkNeverReaches() []string {
	return []string{"github.com/uptrace/bun", "github.com/uptrace/bunrouter", "go.uber.org/fx", "go.uber.org/dig", "github.com/jackc/pgx",
		"modernc.org/sqlite", "github.com/minio", "github.com/typesense", "github.com/danielgtaylor/huma", "github.com/blevesearch"}
}

func standard(p string) bool { return !strings.Contains(first(p, 1), ".") }

func judgeLibrary(e edge) string {
	if standard(e.to) {
		return ""
	}
	if e.from == "config" {
		return "config imports the standard library only"
	}
	if within(e.from, "sdk") && !withinAny(e.to, sdkMayImport()...) {
		return "sdk may import the standard library, " + strings.Join(sdkMayImport(), ", ") + " only: authors stay light"
	}
	for _, f := range fences() {
		if !withinAny(e.to, f.libraries...) || withinAny(e.from, f.packages...) || first(e.from, 1) == "plugins" {
			continue
		}
		if !matches(f.files, path.Join(e.from, e.file)) {
			return "only " + strings.Join(append(f.packages, f.files...), ", ") + " may see it: " + f.instead
		}
	}
	return ""
}

func matches(patterns []string, file string) bool {
	for _, pattern := range patterns {
		if ok, _ := path.Match(pattern, file); ok { // the patterns are ours and well formed
			return true
		}
	}
	return false
}

// judgeClosure gives the packages that sdk must not reach but does.
func judgeClosure(pkg string, closure []string) []string {
	var broken []string
	if !within(pkg, "sdk") {
		return nil
	}
	for _, dep := range closure {
		if withinAny(dep, sdkNeverReaches()...) || withinAny(dep, home+"/core", home+"/modules") {
			broken = append(broken, dep)
		}
	}
	return broken
}
