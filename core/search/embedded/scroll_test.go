package embedded_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/quoin-cms/quoin/core/search"
)

// BenchmarkScroll reads 10,000 documents in pages of 1,000, without what
// loading their sources costs.
func BenchmarkScroll(b *testing.B) {
	e, _ := loaded(b)
	b.ReportAllocs()
	for b.Loop() {
		c, err := e.Scroll(context.Background(), one, &search.Request{Size: 1000})
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for !c.Done() {
			out, err := c.Next(context.Background(), nil)
			if err != nil {
				b.Fatal(err)
			}
			n += len(out.Hits)
		}
		if n != benchDocs {
			b.Fatalf("%d documents", n)
		}
	}
	b.ReportMetric(float64(benchDocs*b.N)/b.Elapsed().Seconds(), "docs/s")
}

// TestScrollIsSmall opens many scrolls over 10,000 documents.
func TestScrollIsSmall(t *testing.T) {
	ops := corpus(benchDocs)
	other := heapInUse() // what the documents take, and tests before this one
	e := load(t, ops)
	const n = 100
	cursors := make([]search.Cursor, n)
	before := heapInUse()
	for i := range cursors {
		var err error
		if cursors[i], err = e.Scroll(t.Context(), one, &search.Request{Size: 10}); err != nil {
			t.Fatal(err)
		}
	}
	if each := (heapInUse() - before) / n; each > 4096 {
		t.Errorf("a scroll over %d documents takes %d bytes", benchDocs, each)
	} else {
		t.Logf("a scroll over %d documents takes %d bytes", benchDocs, each)
	}
	// When the index is another one, the old one must go.
	before = heapInUse()
	if err := e.Drop(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	for _, c := range cursors[:1] {
		c.Tidy()
	}
	clear(cursors[1:])
	if after := heapInUse(); after-other > (before-other)/2 {
		t.Errorf("%d of %d bytes are still held after the index was dropped", after-other, before-other)
	} else {
		t.Logf("%d of %d bytes are still held after the index was dropped", after-other, before-other)
	}
	out, err := cursors[0].Next(t.Context(), nil)
	if err != nil || len(out.Hits) != 10 || out.Total != benchDocs {
		t.Errorf("%+v, %v", out, err)
	}
	runtime.KeepAlive(ops)
}

func heapInUse() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
