package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/quoin-cms/quoin/core/testkit"
)

// BenchmarkPublish measures what a subscription costs the one who publishes:
// the whole server in a process of its own, clients that publish documents and
// take them out again, and a receiver that hears of each of it.
func BenchmarkPublish(b *testing.B) {
	b.Run("sqlite", func(b *testing.B) { publishes(b, "QUOIN_DATA="+b.TempDir()) })
	b.Run("postgres", func(b *testing.B) {
		publishes(b, "QUOIN_DATABASE_URL="+testkit.Postgres(b), "QUOIN_DATA="+b.TempDir())
	})
}

func publishes(b *testing.B, vars ...string) {
	s := start(b, append(vars, "QUOIN_WEBHOOK__ALLOW_NETWORKS=127.0.0.0/8", "QUOIN_WEBHOOK__VALIDATION_DELAY=1000h")...)
	s.login()
	s.must(http.MethodPost, "/api/admin/content-type/note", crashType)
	for i := range 8 {
		s.must(http.MethodPost, fmt.Sprintf("/api/data/note/index/n%d", i), `{"n":1}`)
	}
	var heard atomic.Int64
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		heard.Add(1)
	}))
	b.Cleanup(receiver.Close)
	for _, clients := range []int{1, 8} {
		b.Run(fmt.Sprintf("clients=%d/subscribed=false", clients), func(b *testing.B) { s.publish(b, clients) })
		b.Run(fmt.Sprintf("clients=%d/subscribed=true", clients), func(b *testing.B) {
			_, answer := s.must(http.MethodPost, "/api/webhook-subscriptions",
				fmt.Sprintf(`{"endpointUrl":%q,"events":["content.published.live","content.unpublish"]}`, receiver.URL))
			var subscription struct{ ID string }
			if err := json.Unmarshal(answer, &subscription); err != nil {
				b.Fatal(err)
			}
			heard.Store(0)
			b.ResetTimer()
			n := s.publish(b, clients)
			b.StopTimer()
			testkit.Eventually(b, func() bool { return heard.Load() >= n })
			s.must(http.MethodDelete, "/api/webhook-subscriptions/"+subscription.ID, "")
		})
	}
}

// publish has each client publish a document of its own and take it out, in
// turns, b.N requests together or one more of each client. It gives how many.
func (s *server) publish(b *testing.B, clients int) int64 {
	var done atomic.Int64
	var all sync.WaitGroup
	for c := range clients {
		all.Go(func() {
			for done.Load() < int64(b.N) {
				for _, verb := range []string{"publish", "unpublish"} {
					if status, answer, err := s.call(http.MethodPost, fmt.Sprintf("/api/data/note/%s/n%d/live", verb, c), "[]"); err != nil || status != http.StatusOK {
						b.Errorf("%s: %d %v %s", verb, status, err, answer)
						return
					}
					done.Add(1)
				}
			}
		})
	}
	all.Wait()
	return done.Load()
}
