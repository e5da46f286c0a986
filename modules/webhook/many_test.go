package webhook_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/testkit"
	"github.com/quoin-cms/quoin/modules/webhook"
)

// As many subscriptions as there may be each get each event once, and the next
// one is refused.
func TestAThousandSubscriptions(t *testing.T) {
	engines(t, func(t *testing.T, d *db.DB) {
		s := serve(t, d, func(c *webhook.Config) { c.ValidationDelay = 1000 * time.Hour })
		r := receive(t, nil)
		n := webhook.Defaults().MaxSubscriptions
		for i := range n {
			s.register(fmt.Sprintf("%s/%d", r.URL, i), "", "content.finalize")
		}
		s.want(409, "POST", base, "ann", fmt.Sprintf(`{"endpointUrl":"%s/one-more","events":["content.finalize"]}`, r.URL), nil)
		s.emit("page:1 content.finalize", "page:2 content.finalize", "page:3 content.delete")
		heard := map[string]int{}
		for _, g := range r.wait(t, 2*n) {
			heard[g.header.Get("X-Webhook-Subscription-Id")+" "+g.header.Get("webhook-id")]++
		}
		if len(heard) != 2*n {
			t.Errorf("%d calls, of which %d differ", 2*n, len(heard))
		}
		var list []listed
		if s.want(200, "GET", base, "root", "", &list); len(list) != n {
			t.Errorf("%d are listed", len(list))
		}
	})
}

// What an endpoint answers after the time that it has does not count.
func TestALateSuccessIsAFailure(t *testing.T) {
	engines(t, func(t *testing.T, d *db.DB) {
		s := serve(t, d, func(c *webhook.Config) {
			c.ValidationDelay, c.Timeout, c.BreakAfter = 1000*time.Hour, 2*time.Second, 1000
		})
		r := receive(t, func(n int, w http.ResponseWriter, r *http.Request) {
			if n == 0 {
				<-r.Context().Done() // the caller has hung up
				w.WriteHeader(http.StatusOK)
			}
		})
		sub := s.register(r.URL, "", "content.finalize")
		s.emit("page:1 content.finalize")
		testkit.Eventually(t, func() bool { return s.status(sub.ID).Failures == 1 })
		testkit.Eventually(t, func() bool { // on a busy machine a call may not arrive, and a good answer come too late as well
			s.clock.Advance(time.Minute)
			return len(s.deliveries(sub.ID, "delivered")) == 1
		})
		calls := r.all()
		if len(calls) < 2 || calls[0].header.Get("webhook-id") != calls[1].header.Get("webhook-id") {
			t.Errorf("%v", calls)
		}
	})
}
