package mcp_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/testkit"
	"github.com/quoin-cms/quoin/modules/mcp"
)

// TestASessionExpires leaves a session alone for longer than it lasts, on a
// clock of the test's own. Every use makes it last longer, at any process.
func TestASessionExpires(t *testing.T) {
	engines(t, func(t *testing.T, d *db.DB) {
		clock := testkit.NewClock(time.Date(2026, 7, 28, 12, 0, 0, 0, time.UTC))
		hour := func(c *mcp.Config) { c.SessionIdle = time.Hour }
		who := &people{gone: map[string]bool{}}
		a, b := replicaAt(t, d, who, hour, clock.Now), replicaAt(t, d, who, hour, clock.Now)
		session := begin(t, a, "ann", initialize)
		left := begin(t, a, "ann", initialize)
		try := func(r *replica, session string, want int) {
			t.Helper()
			if status, _, body := post(t, r, "ann", ping, "Mcp-Session-Id", session); status != want {
				t.Errorf("%d %s", status, body)
			}
		}
		for _, r := range []*replica{a, b, a} { // 150 minutes
			clock.Advance(50 * time.Minute)
			try(r, session, http.StatusOK)
		}
		for _, r := range []*replica{a, b} {
			try(r, left, http.StatusNotFound)
		}
		for _, r := range []*replica{a, b} {
			if err := r.Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
			try(r, session, http.StatusOK)
		}
		clock.Advance(61 * time.Minute)
		for _, r := range []*replica{a, b} {
			try(r, session, http.StatusNotFound)
			if n := r.InMemory(); n != 0 {
				t.Errorf("%d sessions in memory", n)
			}
		}
		if status, _, _ := send(t, http.MethodGet, b.url, "ann", "", "Mcp-Session-Id", session, "Accept", "text/event-stream"); status != http.StatusNotFound {
			t.Errorf("GET: %d", status)
		}
	})
}
