package content_test

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/rawjson"
	"github.com/quoin-cms/quoin/core/testkit"
)

// TestRealSite puts the configuration and the documents of a real website
// through HTTP and reads every one back: equal to its file, with the order of
// its keys.
func TestRealSite(t *testing.T) {
	dir := filepath.Join(testkit.Data(t), "elasticms-demo")
	engines(t, func(t *testing.T, s *server) {
		kinds, documents := map[string]int{}, 0
		for _, kind := range []string{"filter", "analyzer", "environment", "managed-alias", "form", "i18n", "content-type", "query-search", "schedule"} {
			for _, file := range files(t, dir, "admin", kind) {
				export := read(t, file)
				path := "/api/admin/" + kind + "/" + url.PathEscape(nameIn(t, export))
				s.call("admin", http.MethodPost, path, export).is(200)
				if got := s.call("admin", http.MethodGet, path, nil).is(200); !rawjson.Equal(got.body, export) {
					t.Errorf("%s reads back as\n%s", file, got.body)
				}
				kinds[kind]++
			}
		}
		if kinds["content-type"] != 15 {
			t.Errorf("%v, want 15 content types", kinds)
		}
		system := []string{"_contenttype", "_finalization_datetime", "_finalized_by", "_sha1"}
		folders, err := os.ReadDir(filepath.Join(dir, "document"))
		if err != nil {
			t.Fatal(err)
		}
		for _, folder := range folders {
			for _, file := range files(t, dir, "document", folder.Name()) {
				data, ouuid := read(t, file), strings.TrimSuffix(filepath.Base(file), ".json")
				base := "/api/data/" + folder.Name() + "/"
				s.call("super", http.MethodPost, base+"index/"+ouuid, data).is(200).has("success", "true", "ouuid", `"`+ouuid+`"`)
				got := s.call("super", http.MethodGet, base+ouuid, nil).is(200)
				if content := rawjson.Without(nil, []byte(got.raw("revision")), system...); !rawjson.Equal(content, rawjson.Without(nil, data, system...)) {
					t.Errorf("%s reads back as\n%s", file, content)
				}
				documents++
			}
		}
		if documents != 186 {
			t.Errorf("%d documents, want 186", documents)
		}
		if events := s.events(); len(events) < documents {
			t.Errorf("%d events of %d documents", len(events), documents)
		}
	})
}

func files(t *testing.T, parts ...string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(filepath.Join(parts...), "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(list)
	return list
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func nameIn(t *testing.T, export []byte) string {
	t.Helper()
	properties, _ := rawjson.Get(export, "properties")
	for _, key := range []string{"identifier", "name"} {
		if v, ok := rawjson.Get(properties, key); ok {
			if name, ok := rawjson.String(v); ok && name != "" {
				return name
			}
		}
	}
	t.Fatalf("no name in %s", export)
	return ""
}
