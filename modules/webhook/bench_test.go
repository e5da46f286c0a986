package webhook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/testkit"
	"github.com/quoin-cms/quoin/modules/webhook"
)

// bed is the module with durable commits and the clock of the machine.
type bed struct {
	testing.TB
	db      *db.DB
	bus     *event.Bus
	service *webhook.Service
}

func benchEach(b *testing.B, fn func(b *testing.B, s *bed)) {
	b.Run("sqlite", func(b *testing.B) { fn(b, makeBed(b, db.Config{Path: filepath.Join(b.TempDir(), "quoin.db")})) })
	b.Run("postgres", func(b *testing.B) { fn(b, makeBed(b, db.Config{URL: testkit.Postgres(b)})) })
}

func makeBed(b *testing.B, c db.Config) *bed {
	d := open(b, c)
	cfg := webhook.Defaults()
	cfg.AllowNetworks, cfg.ValidationDelay = loopback(), 1000*time.Hour
	s, bus, stop, err := start(context.Background(), d, cfg)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(stop)
	return &bed{b, d, bus, s}
}

func (s *bed) subscribe(url string, concurrency int) {
	wish := webhook.Wish{URL: url, Events: []string{"content.finalize"}, Concurrency: concurrency}
	if _, err := s.service.Subscribe(auth.With(context.Background(), users()["ann"]), wish); err != nil {
		s.Fatal(err)
	}
}

// happen emits an event of about 1 KB, in a transaction of its own.
func (s *bed) happen(n int) {
	data := fmt.Sprintf(`{"environment":"preview","alias":"quoin_preview","content_type":"page","ouuid":"%d","raw_data":{"n":%d,"text":"%01000d"}}`, n, n, n)
	err := s.db.InTx(context.Background(), func(ctx context.Context) error {
		return s.bus.Emit(ctx, event.Event{Type: "content.finalize", Subject: "page:" + strconv.Itoa(n), Data: json.RawMessage(data)})
	})
	if err != nil {
		s.Error(err)
	}
}

// BenchmarkDeliver measures events from their commits to a local receiver's
// answer, 16 goroutines emitting.
func BenchmarkDeliver(b *testing.B) {
	benchEach(b, func(b *testing.B, s *bed) {
		var n atomic.Int64
		all := make(chan struct{})
		r := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			if n.Add(1) == int64(b.N) {
				close(all)
			}
		}))
		b.Cleanup(r.Close)
		s.subscribe(r.URL, 32)
		b.ResetTimer()
		var next atomic.Int64
		var emitters sync.WaitGroup
		for range 16 {
			emitters.Go(func() {
				for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
					s.happen(int(i))
				}
			})
		}
		emitters.Wait()
		<-all
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "deliveries/s")
	})
}

// BenchmarkFirstAttempt measures from the begin of the emitting transaction to
// the call, at 100 events per second.
func BenchmarkFirstAttempt(b *testing.B) {
	benchEach(b, func(b *testing.B, s *bed) {
		arrived := make(chan int, 1024)
		r := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			var call struct {
				Data struct {
					RawData struct{ N int } `json:"raw_data"`
				}
			}
			_ = json.NewDecoder(r.Body).Decode(&call)
			arrived <- call.Data.RawData.N
		}))
		b.Cleanup(r.Close)
		s.subscribe(r.URL, 8)
		begun := make([]time.Time, b.N)
		took := make([]time.Duration, 0, b.N)
		b.ResetTimer()
		go func() {
			tick := time.NewTicker(10 * time.Millisecond)
			defer tick.Stop()
			for i := range b.N {
				<-tick.C
				begun[i] = time.Now()
				go s.happen(i)
			}
		}()
		for range b.N {
			n := <-arrived
			took = append(took, time.Since(begun[n]))
		}
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
		b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
	})
}

// BenchmarkEmit measures what a subscription costs the one who writes: events
// with none and with one that wants them, whose endpoint is not there.
func BenchmarkEmit(b *testing.B) {
	benchEach(b, func(b *testing.B, s *bed) {
		for _, subscribed := range []bool{false, true} {
			b.Run(fmt.Sprintf("subscribed=%v", subscribed), func(b *testing.B) {
				if subscribed {
					r := httptest.NewServer(http.NotFoundHandler())
					r.Close()
					s.subscribe(r.URL, 8)
				}
				b.ResetTimer()
				var n atomic.Int64
				b.SetParallelism(8)
				b.RunParallel(func(p *testing.PB) {
					for p.Next() {
						s.happen(int(n.Add(1)))
					}
				})
			})
		}
	})
}
