package embedded_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/dsl"
	"github.com/quoin-cms/quoin/core/search/embedded"
)

// testData gives the folder of sample data, or skips loudly.
func testData(tb testing.TB) string {
	dir := os.Getenv("QUOIN_TEST_DATA")
	if dir == "" {
		tb.Skip("NOT TESTED: QUOIN_TEST_DATA names no folder of sample data")
	}
	return dir
}

// entities reads the configured analyzers or filters of a real project.
func entities(t *testing.T, dir string) map[string]json.RawMessage {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files, %v", dir, len(files), err)
	}
	out := map[string]json.RawMessage{}
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var e struct {
			Properties struct {
				Name    string
				Options json.RawMessage
			}
		}
		if err := json.Unmarshal(raw, &e); err != nil {
			t.Fatal(err)
		}
		out[e.Properties.Name] = e.Properties.Options
	}
	return out
}

// A real project: its analyzers, its documents, and searches as its templates
// make them.
func TestRealProject(t *testing.T) {
	dir := filepath.Join(testData(t), "elasticms-demo")
	sub := []search.Field{{Path: "alpha_order", Kind: search.KindText, Analyzer: "alpha_order", Fielddata: true}}
	page := []search.Field{
		{Path: "label", Kind: search.KindText, Fields: sub},
		{Path: "fr.title", Kind: search.KindText, Analyzer: "french_for_highlighting", CopyTo: []string{"live_search"}},
		{Path: "fr.body", Kind: search.KindText, Analyzer: "french_for_highlighting"},
		{Path: "nl.title", Kind: search.KindText, Analyzer: "dutch_with_synonyms"},
		{Path: "live_search", Kind: search.KindSearchAsType},
	}
	settings := search.Settings{
		Types:     map[string][]search.Field{"page": page, "news": page},
		Analyzers: entities(t, filepath.Join(dir, "admin", "analyzer")),
		Filters:   entities(t, filepath.Join(dir, "admin", "filter")),
	}
	raws := map[int64][]byte{}
	e := single(t, raws, settings)
	files, err := filepath.Glob(filepath.Join(dir, "document", "*", "*.json"))
	if err != nil || len(files) < 100 {
		t.Fatalf("%d documents, %v", len(files), err)
	}
	var ops []search.Op
	for i, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		raws[int64(i)] = raw
		key := search.Key{Type: filepath.Base(filepath.Dir(name)), OUUID: strings.TrimSuffix(filepath.Base(name), ".json")}
		ops = append(ops, search.Op{Key: key, Doc: &search.Doc{Key: key, Ref: int64(i), Raw: raw}})
	}
	if err := e.Apply(context.Background(), "one", ops); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		object string
		least  int64
	}{
		{`{"size":200}`, int64(len(files))},
		{`{"query":{"match":{"fr.body":"administrations"}}}`, 1},
		{`{"query":{"match":{"fr.body":{"query":"l'accessibilité","operator":"AND"}}}}`, 1},
		{`{"query":{"match":{"fr.title":"strong"}}}`, 0},
		{`{"contentTypes":["page"],"sort":{"label.alpha_order":{"order":"asc","missing":"_last","unmapped_type":"text"}}}`, 10},
		{`{"query":{"prefix":{"live_search":"elastic"}}}`, 1},
		{`{"query":{"term":{"_contenttype":{"value":"section"}}},"sort":[{"order":{"order":"asc"}}],"sources":["structure","label"]}`, 1},
		{`{"size":0,"aggs":{"t":{"terms":{"field":"_contenttype","size":100},"aggs":{"i":{"terms":{"field":"_index"}}}}}}`, int64(len(files))},
	} {
		r, err := dsl.Parse([]byte(c.object))
		if err != nil {
			t.Fatal(err)
		}
		out, err := e.Search(context.Background(), one, r)
		if err != nil {
			t.Errorf("%s: %v", c.object, err)
			continue
		}
		if out.Total < c.least {
			t.Errorf("%s: %d hits, want %d or more", c.object, out.Total, c.least)
		}
		if !json.Valid(out.AppendJSON(nil)) {
			t.Errorf("%s: the answer is no JSON", c.object)
		}
	}
}

// packages loads the Debian packages.
func packages(b *testing.B) (ops []search.Op, raws map[int64][]byte) {
	f, err := os.Open(filepath.Join(testData(b), "debian-packages.ndjson.gz"))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		b.Fatal(err)
	}
	raws = map[int64][]byte{}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<20)
	for i := int64(0); lines.Scan(); i++ {
		raw := []byte(lines.Text())
		raws[i] = raw
		key := search.Key{Type: "package", OUUID: fmt.Sprintf("p%d", i)}
		ops = append(ops, search.Op{Key: key, Doc: &search.Doc{Key: key, Ref: i, Raw: raw}})
	}
	return ops, raws
}

// BenchmarkPackages runs the rows of a comparison of engines over some
// 63,000 packages.
func BenchmarkPackages(b *testing.B) {
	ops, raws := packages(b)
	keyword := func(paths ...string) (out []search.Field) {
		for _, p := range paths {
			out = append(out, search.Field{Path: p, Kind: search.KindKeyword})
		}
		return out
	}
	settings := search.Settings{NoAll: true, Types: map[string][]search.Field{"package": append(
		keyword("ouuid", "package", "version", "source", "section", "priority", "architecture", "tags", "depends", "homepage"),
		search.Field{Path: "summary", Kind: search.KindText})}}
	before := heap()
	var e *embedded.Engine
	b.Run("Build", func(b *testing.B) {
		for b.Loop() {
			e = single(b, raws, settings)
			if err := e.Apply(context.Background(), "one", ops); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(heap()-before)/float64(len(ops)), "B/doc")
	})
	for name, object := range map[string]string{
		"TextFilter3Facets": `{"query":{"bool":{"must":{"match":{"summary":"library development files"}},"filter":{"term":{"priority":"optional"}}}},"aggs":{"s":{"terms":{"field":"section"}},"p":{"terms":{"field":"priority"}},"t":{"terms":{"field":"tags"}}}}`,
		"TwoWords":          `{"query":{"match":{"summary":"development library"}}}`,
		"All3Facets":        `{"size":0,"aggs":{"s":{"terms":{"field":"section"}},"p":{"terms":{"field":"priority"}},"t":{"terms":{"field":"tags"}}}}`,
		"SortTwoKeys":       `{"sort":[{"section":"asc"},{"size":"desc"}]}`,
		"SortFrom10000":     `{"from":10000,"sort":[{"section":"asc"},{"size":"desc"}]}`,
		"WildcardDev":       `{"query":{"wildcard":{"package":"*-dev"}}}`,
		"PrefixLibx":        `{"query":{"prefix":{"package":"libx"}}}`,
	} {
		r, err := dsl.Parse([]byte(object))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.Search(context.Background(), one, r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
