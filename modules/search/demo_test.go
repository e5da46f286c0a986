package search_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/rawjson"
	"github.com/quoin-cms/quoin/core/testkit"
)

// demo loads a real site, as an import does, and gives its ouuids by content
// type.
func demo(t *testing.T, s *server) map[string][]string {
	t.Helper()
	folder := filepath.Join(testkit.Data(t), "elasticms-demo")
	for _, kind := range []string{"filter", "analyzer", "environment", "managed-alias", "form", "content-type"} {
		for _, file := range files(t, filepath.Join(folder, "admin", kind)) {
			text, err := os.ReadFile(file)
			s.must(err)
			s.post("/api/admin/"+kind, string(text)).is(200)
		}
	}
	types, err := os.ReadDir(filepath.Join(folder, "document"))
	s.must(err)
	ouuids := map[string][]string{}
	for _, d := range types {
		var lines strings.Builder
		for _, file := range files(t, filepath.Join(folder, "document", d.Name())) {
			text, err := os.ReadFile(file)
			s.must(err)
			ouuid := strings.TrimSuffix(filepath.Base(file), ".json")
			ouuids[d.Name()] = append(ouuids[d.Name()], ouuid)
			lines.Write(rawjson.AppendString([]byte(`{"ouuid":`), ouuid))
			lines.WriteString(`,"data":` + string(rawjson.Compact(nil, text)) + "}\n")
		}
		a := s.post("/api/data/"+d.Name()+"/_bulk?refresh=true", lines.String()).is(200)
		if strings.Contains(string(a.body), `"success":false`) {
			t.Fatalf("%s: %s", d.Name(), a.body)
		}
	}
	return ouuids
}

func files(t *testing.T, folder string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(list) == 0 {
		t.Fatalf("no files in %s: %v", folder, err)
	}
	return list
}

// TestDemo finds every document of a real site, by its type, by its category
// and by words of its title, after the import, after a build and after a
// restart.
func TestDemo(t *testing.T) {
	engines(t, func(t *testing.T, vars ...string) {
		s := start(t, vars...)
		ouuids := demo(t, s)
		check := func(when string) {
			t.Helper()
			all := 0
			for name, list := range ouuids {
				all += len(list)
				if got := s.count("admin", `{"contentTypes":["`+name+`"]}`); got != strconv.Itoa(len(list)) {
					t.Errorf("%s: %s of %d %s are found", when, got, len(list), name)
				}
				for _, id := range list {
					s.post("/api/search/document", `{"index":"quoin_*","content-type":"`+name+`","ouuid":"`+id+`"}`).is(200)
				}
			}
			if got := s.count("admin", `{}`); got != strconv.Itoa(all) || all != 186 {
				t.Errorf("%s: %s of %d documents", when, got, all)
			}
			for _, object := range []string{
				`{"contentTypes":["news"],"query":{"term":{"categories":"category:d9gzcokBTbVbdHDC6n5N"}}}`,
				`{"contentTypes":["news"],"query":{"match":{"fr.title":"monitoring"}}}`,
				`{"query":{"match":{"_all":{"query":"monitoring externe","operator":"and"}}}}`,
				`{"contentTypes":["page"],"sort":{"_id":{"order":"asc","missing":"_last","unmapped_type":"long"}},"aggs":{"t":{"terms":{"field":"_contenttype"},"aggs":{"latest":{"max":{"field":"_published_datetime"}}}}}}`,
			} {
				if got := s.count("admin", object); got == "0" {
					t.Errorf("%s: nothing is found by %s", when, object)
				}
				s.search("admin", object).is(200)
			}
		}
		check("after the import")
		s.post("/api/search/refresh", "[]").is(200)
		check("after a build")
		s = s.again()
		check("after a restart")
		if refused := s.index.Stats().Refused; refused != 0 {
			t.Errorf("%d documents were refused", refused)
		}
	})
}
