package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/cli"
	"github.com/quoin-cms/quoin/core/rawjson"
	"github.com/quoin-cms/quoin/core/testkit"
)

// TestRealSite brings a real site over, with kill -9 between the steps: import,
// read back, search, restore an older revision, publish, search in live.
func TestRealSite(t *testing.T) {
	site := filepath.Join(testkit.Data(t), "elasticms-demo")
	t.Run("sqlite", func(t *testing.T) { realSite(t, site, "QUOIN_DATA="+t.TempDir()) })
	t.Run("postgres", func(t *testing.T) {
		realSite(t, site, "QUOIN_DATA="+t.TempDir(), "QUOIN_DATABASE_URL="+testkit.Postgres(t))
	})
}

func realSite(t *testing.T, site string, vars ...string) {
	vars = append(vars, "QUOIN_INSTANCE__ID=ems_promo_v2_")
	s := start(t, vars...)
	s.login()
	first := importSite(t, s, site)
	if first["documents"] != (counts{Created: 186}) || first["content-type"].Created != 15 || first["assets"].Failed != 0 {
		t.Fatalf("first import: %+v", first)
	}
	again := func(old *server) *server {
		old.kill()
		s := start(t, vars...)
		s.login()
		s.must(http.MethodPost, "/api/search/refresh", `{"index":null}`)
		return s
	}
	s = again(s)
	if second := importSite(t, s, site); second["documents"] != (counts{Unchanged: 186}) || second["content-type"].Unchanged != 15 {
		t.Fatalf("second import: %+v", second)
	}
	readBack(t, s, site)
	checkAssets(t, s, site)
	for query, want := range map[string]int{
		`{"query":{"term":{"_contenttype":"news"}}}`:                                                             17,
		`{"contentTypes":["feature"]}`:                                                                           106,
		`{"query":{"match_phrase":{"fr.title":"le monitoring externe"}}}`:                                        0,
		`{"query":{"query_string":{"query":"fr.title:monit*","analyze_wildcard":true}},"contentTypes":["news"]}`: 2,
		`{"query":{"percolate":{"field":"x"}}}`:                                                                  -1, // refused with words, not wrongly answered
		`{"query":{"match":{"fr.title":"monitoring"}},"contentTypes":["news"]}`:                                  2,
		`{"query":{"term":{"categories":"category:d9gzcokBTbVbdHDC6n5N"}}}`:                                      fileCount(t, site, `"category:d9gzcokBTbVbdHDC6n5N"`, `"categories"`),
	} {
		if got := s.count("ems_promo_v2_preview", query); got != want {
			t.Errorf("%s finds %d, want %d", query, got, want)
		}
	}
	restoreAndPublish(t, s, again)
}

// restoreAndPublish changes a document, brings its first revision back and
// publishes that.
func restoreAndPublish(t *testing.T, s *server, again func(*server) *server) {
	const doc = "bf19cfbb-c666-4004-aa2d-11cb534c0a3b"
	var list []struct{ ID int64 }
	_, answer := s.must(http.MethodGet, "/api/data/news/revisions/"+doc, "")
	if err := json.Unmarshal(answer, &list); err != nil || len(list) != 1 {
		t.Fatalf("revisions: %s", answer)
	}
	_, before := s.must(http.MethodGet, "/api/data/news/"+doc, "")
	s.must(http.MethodPost, "/api/data/news/update/"+doc, `{"label":"changed by mistake"}`)
	s = again(s)
	s.must(http.MethodPost, fmt.Sprintf("/api/data/news/restore/%s/%d", doc, list[0].ID), "[]")
	s.must(http.MethodPost, "/api/data/news/publish/"+doc+"/live", "[]")
	s = again(s)
	_, after := s.must(http.MethodGet, "/api/data/news/"+doc, "")
	if !rawjson.Equal(content(before), content(after)) {
		t.Errorf("the restored document differs:\n%s\n%s", before, after)
	}
	if n := s.count("ems_promo_v2_live", `{"query":{"ids":{"values":["`+doc+`"]}}}`); n != 1 {
		t.Errorf("live finds it %d times", n)
	}
	if n := s.count("ems_promo_v2_live", `{}`); n != 1 {
		t.Errorf("live holds %d documents", n)
	}
}

type counts struct{ Created, Updated, Unchanged, Failed int }

// importSite runs the import command against the server and sums the documents.
func importSite(t *testing.T, s *server, site string) map[string]counts {
	t.Helper()
	var out, errs bytes.Buffer
	args := []string{"import", "elasticms", site, "--server", s.base, "--token", s.token, "--json"}
	if err := cli.Run(t.Context(), cli.Program{Version: "test"}, args, nil, nil, &out, &errs); err != nil {
		t.Fatalf("%v\n%s%s", err, &errs, s.log)
	}
	var report struct {
		Groups []struct {
			Kind, Name string
			counts
		}
	}
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		t.Fatal(err)
	}
	sum := map[string]counts{}
	for _, g := range report.Groups {
		name := g.Name
		if g.Kind == "documents" {
			name = "documents"
		}
		c := sum[name]
		sum[name] = counts{c.Created + g.Created, c.Updated + g.Updated, c.Unchanged + g.Unchanged, c.Failed + g.Failed}
	}
	return sum
}

// readBack compares every document with its file, the order of keys included.
func readBack(t *testing.T, s *server, site string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(site, "document", "*", "*.json"))
	if err != nil || len(files) != 186 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Base(filepath.Dir(file)) + "/" + strings.TrimSuffix(filepath.Base(file), ".json")
		_, answer := s.must(http.MethodGet, "/api/data/"+path, "")
		if !rawjson.Equal(rawjson.Object(raw), content(answer)) {
			t.Errorf("%s differs from its file", path)
		}
	}
}

// content is what people wrote of a document that was read.
func content(answer []byte) []byte {
	revision, _ := rawjson.Get(answer, "revision")
	return rawjson.Without(nil, revision, "_contenttype", "_finalization_datetime", "_finalized_by", "_sha1")
}

// count asks the search; -1 when it refuses the query.
func (s *server) count(index, query string) int {
	s.t.Helper()
	object := rawjson.Set(nil, []byte(query), "indices", []byte(`["`+index+`"]`))
	body, err := json.Marshal(map[string]string{"search": string(object)})
	if err != nil {
		s.t.Fatal(err)
	}
	status, answer, err := s.call(http.MethodPost, "/api/search/count", string(body))
	if err != nil {
		s.t.Fatal(err)
	}
	var found struct{ Count int }
	if status == http.StatusBadRequest || json.Unmarshal(answer, &found) != nil {
		return -1
	}
	return found.Count
}

// fileCount counts the documents whose file holds all of the texts.
func fileCount(t *testing.T, site string, texts ...string) int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(site, "document", "*", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all := true
		for _, text := range texts {
			all = all && bytes.Contains(raw, []byte(text))
		}
		if all {
			n++
		}
	}
	return n
}
