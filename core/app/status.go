package app

import (
	"net/http"
	"strings"

	"github.com/quoin-cms/quoin/core/telemetry"
)

// status answers /status.json, which clients of elasticms read: green, yellow
// when work is stuck, red with 503 when the server cannot be used.
func (g *gate) status(w http.ResponseWriter, r *http.Request) {
	var failing []string
	for _, res := range g.checks.Ready(r.Context()) {
		if res.Err != nil {
			failing = append(failing, res.Name)
		}
	}
	state := g.checks.State()
	switch {
	case state != telemetry.Ready:
		answerHealth(w, http.StatusServiceUnavailable, map[string]any{"status": "red", "body": state.String()})
	case failing != nil:
		answerHealth(w, http.StatusServiceUnavailable, map[string]any{"status": "red", "body": "failing: " + strings.Join(failing, ", ")})
	case g.stuck(r):
		answerHealth(w, http.StatusOK, map[string]any{"status": "yellow", "body": "work is late or was given up: see quoin doctor"})
	default:
		answerHealth(w, http.StatusOK, map[string]any{"status": "green", "body": "ready"})
	}
}

// stuck reports whether some work is late or was given up.
func (g *gate) stuck(r *http.Request) bool {
	all, err := g.queues.get(r.Context())
	for _, t := range all {
		for _, q := range t.Queues {
			if q.Buried > 0 || q.Lag > late {
				return true
			}
		}
	}
	return err != nil
}
