package event_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/testkit"
)

// benchEach runs a benchmark on both engines, with durable commits.
func benchEach(b *testing.B, fn func(b *testing.B, d *db.DB)) {
	b.Run("sqlite", func(b *testing.B) {
		fn(b, open(b, db.Config{Path: filepath.Join(b.TempDir(), "quoin.db")}))
	})
	b.Run("postgres", func(b *testing.B) {
		fn(b, open(b, db.Config{URL: testkit.Postgres(b)}))
	})
}

// register makes n subscribers known that nobody serves.
func register(b *testing.B, d *db.DB, n int) {
	b.Helper()
	bus := event.New(d, event.Options{Grace: -1})
	var subs []event.Subscription
	for i := range n {
		subs = append(subs, event.Subscription{Name: fmt.Sprint("s", i), Patterns: []string{"content.published.*", "content.delete"}, Handle: nothing})
	}
	must(b, bus.Register(subs, nil))
	must(b, bus.Start(b.Context()))
	must(b, bus.Stop(b.Context()))
}

// happened has about 1 KB of data, like a published page.
func happened() event.Event {
	data, _ := json.Marshal(map[string]any{"environment": "live", "ouuid": "MdiFZIoBTbVbdHDCfpe5", "raw_data": map[string]any{"title": string(make([]byte, 150)), "body": fmt.Sprintf("%0900d", 1)}})
	return event.Event{Type: "content.published.live", Subject: "page:MdiFZIoBTbVbdHDCfpe5", Data: data, Actor: "admin", RequestID: "01JC3Z3Q6Z"}
}

// BenchmarkEmit measures transactions of one row and its event with 0, 1 and 3
// subscribers; "bare" is the row alone. 16 goroutines write.
func BenchmarkEmit(b *testing.B) {
	benchEach(b, func(b *testing.B, d *db.DB) {
		for _, n := range []int{-1, 0, 1, 3} {
			name := fmt.Sprint(n, " subscribers")
			if n < 0 {
				name = "bare"
			}
			b.Run(name, func(b *testing.B) {
				register(b, d, max(n, 0))
				bus := event.New(d, event.Options{})
				ev := happened()
				b.SetParallelism(8)
				b.ReportAllocs()
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						err := d.InTx(context.Background(), func(ctx context.Context) error {
							if err := d.Queue(ctx, addSeen, 1, ev.Subject); err != nil || n < 0 {
								return err
							}
							return bus.Emit(ctx, ev)
						})
						if err != nil {
							b.Error(err)
							return
						}
					}
				})
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "tx/s")
			})
		}
	})
}

// BenchmarkEmitMany measures one event of a long transaction, without the
// commit.
func BenchmarkEmitMany(b *testing.B) {
	benchEach(b, func(b *testing.B, d *db.DB) {
		register(b, d, 1)
		bus := event.New(d, event.Options{})
		ev := happened()
		b.ReportAllocs()
		must(b, d.InTx(b.Context(), func(ctx context.Context) error {
			for i := 0; b.Loop(); i++ {
				if err := bus.Emit(ctx, ev); err != nil {
					return err
				}
			}
			return nil
		}))
	})
}

// BenchmarkDeliver measures events from Emit to the end of their delivery, with
// one subscriber that does nothing.
func BenchmarkDeliver(b *testing.B) {
	benchEach(b, func(b *testing.B, d *db.DB) {
		for name, transactional := range map[string]bool{"plain": false, "transactional": true} {
			b.Run(name, func(b *testing.B) {
				done := make(chan int, 1<<16)
				bus := event.New(d, event.Options{Poll: time.Hour, Log: slog.New(slog.DiscardHandler), Observe: func(_, what string, n int) {
					if what == "done" {
						done <- n
					}
				}})
				begin(b, bus, []event.Subscription{{Name: "s " + name, Patterns: []string{"content.*"}, Handle: nothing, Transactional: transactional}})
				for len(done) > 0 {
					<-done // the sweep
				}
				ev := happened()
				b.SetParallelism(8)
				b.ReportAllocs()
				b.ResetTimer()
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						if err := d.InTx(context.Background(), func(ctx context.Context) error { return bus.Emit(ctx, ev) }); err != nil {
							b.Error(err)
							return
						}
					}
				})
				for left := b.N; left > 0; {
					left -= <-done
				}
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
			})
		}
	})
}

// BenchmarkLatency measures from the begin of a transaction that emits to the
// begin of the handler, with nothing else going on and polling out of the way.
func BenchmarkLatency(b *testing.B) {
	benchEach(b, func(b *testing.B, d *db.DB) {
		arrived := make(chan struct{})
		bus := event.New(d, event.Options{Poll: time.Hour, Log: slog.New(slog.DiscardHandler)})
		begin(b, bus, []event.Subscription{{Name: "s", Patterns: []string{"*"}, Handle: func(context.Context, []event.Event) error {
			arrived <- struct{}{}
			return nil
		}}})
		ev := happened()
		for b.Loop() {
			must(b, d.InTx(b.Context(), func(ctx context.Context) error { return bus.Emit(ctx, ev) }))
			<-arrived
		}
	})
}
