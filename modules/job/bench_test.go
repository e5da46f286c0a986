package job_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/modules/job"
)

func benchEngines(b *testing.B, run func(b *testing.B, s *server)) {
	b.Run("sqlite", func(b *testing.B) { run(b, serve(b, nil)) })
	b.Run("postgres", func(b *testing.B) { run(b, serveOn(b, open(b, db.Config{URL: postgres(b)}), nil)) })
}

// BenchmarkClaim takes jobs while sixteen workers poll for others; p50 is what
// one claim takes, in milliseconds.
func BenchmarkClaim(b *testing.B) {
	benchEngines(b, func(b *testing.B, s *server) {
		ctx := auth.With(b.Context(), testUsers()["admin"])
		quit := make(chan struct{})
		var polling sync.WaitGroup
		for range 16 {
			polling.Go(func() {
				for tick := time.NewTicker(10 * time.Millisecond); ; {
					select {
					case <-quit:
						tick.Stop()
						return
					case <-tick.C:
						if _, err := s.Next(ctx, "nothing", 0, 0, 0); err != nil {
							b.Error(err)
						}
					}
				}
			})
		}
		var took []time.Duration
		b.ReportAllocs()
		for b.Loop() {
			b.StopTimer()
			if _, err := s.Create(ctx, job.Order{Command: "x", Tag: "t"}); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
			begin := time.Now()
			if c, err := s.Next(ctx, "t", 0, 0, 0); err != nil || c == nil {
				b.Fatal(c, err)
			}
			took = append(took, time.Since(begin))
		}
		close(quit)
		polling.Wait()
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	})
}

// BenchmarkAppend appends 1,000 times 1 KiB to one job; last/first
// compares the median of the last hundred with that of the first.
func BenchmarkAppend(b *testing.B) {
	benchEngines(b, func(b *testing.B, s *server) {
		ctx := auth.With(b.Context(), testUsers()["admin"])
		text := strings.Repeat("x", 1023) + "\n"
		var first, last []time.Duration
		for b.Loop() {
			j, err := s.Create(ctx, job.Order{Command: "x", Tag: "t"})
			if err != nil {
				b.Fatal(err)
			}
			for i := range 1000 {
				begin := time.Now()
				if _, err := s.Write(ctx, job.Report{ID: j.ID}, text, nil); err != nil {
					b.Fatal(err)
				}
				switch {
				case i >= 50 && i < 150: // the first ones warm up
					first = append(first, time.Since(begin))
				case i >= 900:
					last = append(last, time.Since(begin))
				}
			}
		}
		slices.Sort(first)
		slices.Sort(last)
		b.ReportMetric(float64(last[len(last)/2])/float64(first[len(first)/2]), "last/first")
	})
}
