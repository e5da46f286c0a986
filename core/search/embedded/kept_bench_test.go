package embedded_test

import (
	"context"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/embedded"
)

func packageSettings() search.Settings {
	var fields []search.Field
	for _, p := range []string{"ouuid", "package", "version", "source", "section", "priority", "architecture", "tags", "depends", "homepage"} {
		fields = append(fields, search.Field{Path: p, Kind: search.KindKeyword})
	}
	return search.Settings{Types: map[string][]search.Field{"package": append(fields, search.Field{Path: "summary", Kind: search.KindText})}}
}

// BenchmarkKept builds an index of the packages, with _all, and finds it again:
// what the import, the merge, the start and the memory cost.
func BenchmarkKept(b *testing.B) {
	ops, _ := packages(b)
	ctx, settings := context.Background(), packageSettings()
	o := embedded.Options{Dir: b.TempDir()}
	before := heap()
	var e *embedded.Engine
	b.Run("Build", func(b *testing.B) {
		for b.Loop() {
			if e != nil {
				e.Close()
			}
			e = embedded.Open(nil, embedded.Options{Dir: b.TempDir()})
			must(b, e.Create(ctx, "one", settings))
			for part := range slices.Chunk(ops, 128) {
				must(b, e.Apply(ctx, "one", part))
			}
		}
		b.ReportMetric(float64(len(ops)*b.N)/b.Elapsed().Seconds(), "docs/s")
		e.Settle()
		b.ReportMetric(float64(heap()-before)/float64(len(ops)), "B/doc")
		e.Close()
	})
	e = embedded.Open(nil, o)
	must(b, e.Create(ctx, "one", settings))
	must(b, e.Apply(ctx, "one", ops))
	e.SaveAll()
	b.Run("Merge", func(b *testing.B) {
		n := 0
		for b.Loop() {
			n++
			must(b, e.Apply(ctx, "one", ops[n:n+1]))
			e.SaveAll()
		}
		b.ReportMetric(float64(heap()-before)/float64(len(ops)), "B/doc")
	})
	info, err := os.Stat(e.FileOf("one"))
	must(b, err)
	e.Close()
	e = nil
	keys := make([]search.Key, len(ops))
	for i := range ops {
		keys[i] = ops[i].Key
	}
	slices.SortFunc(keys, func(x, y search.Key) int { return strings.Compare(x.OUUID, y.OUUID) })
	b.Run("Open", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			e = embedded.Open(nil, o) // what was open has no timers: nothing was written
			if ok, reason, err := e.Restore(ctx, "one", settings); !ok {
				b.Fatal(reason, err)
			}
		}
		b.ReportMetric(float64(heap()-before)/float64(len(ops)), "B/doc")
		b.ReportMetric(float64(info.Size())/float64(len(ops)), "file-B/doc")
	})
	b.Run("Compare", func(b *testing.B) {
		for b.Loop() {
			c, err := e.Compare("one")
			must(b, err)
			for _, k := range keys {
				c.Same(k, 0, 0)
			}
			must(b, c.Rest(func(search.Key) error { b.Fatal("a document is left"); return nil }))
		}
	})
	runtime.KeepAlive(ops)
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}
