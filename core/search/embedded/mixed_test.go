package embedded_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/search/dsl"
)

// BenchmarkSearchWhileWriting measures searches while one writer replaces
// documents, eight at a time, as fast as it can.
func BenchmarkSearchWhileWriting(b *testing.B) {
	e, ops := loaded(b)
	r, err := dsl.Parse([]byte(benchRequests["TextFilter3Facet"]))
	if err != nil {
		b.Fatal(err)
	}
	stop, stopped := make(chan struct{}), make(chan int)
	go func() {
		n := 0
		for {
			select {
			case <-stop:
				stopped <- n
				return
			default:
			}
			at := n * 8 % (benchDocs - 8)
			if err := e.Apply(context.Background(), "one", ops[at:at+8]); err != nil {
				b.Error(err)
			}
			n++
		}
	}()
	var times []time.Duration
	begin := time.Now()
	for b.Loop() {
		start := time.Now()
		if _, err := e.Search(context.Background(), one, r); err != nil {
			b.Fatal(err)
		}
		times = append(times, time.Since(start))
	}
	took := time.Since(begin)
	close(stop)
	batches := <-stopped
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), "p99-µs")
	b.ReportMetric(float64(times[len(times)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(8*batches)/took.Seconds(), "docs/s")
}
