package chart_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
	"sigs.k8s.io/yaml"
)

// alertRules are the rules of the chart, read as Prometheus reads them.
func alertRules(t *testing.T) map[string]rulefmt.Rule {
	t.Helper()
	_, others, err := render(t, cluster+"metrics: {prometheusRule: {enabled: true}}")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]rulefmt.Rule{}
	for _, o := range others {
		if o["kind"] != "PrometheusRule" {
			continue
		}
		text, err := yaml.Marshal(o["spec"])
		if err != nil {
			t.Fatal(err)
		}
		parsed, errs := rulefmt.Parse(text, false, model.UTF8Validation, parser.NewParser(parser.Options{}), slog.New(slog.DiscardHandler))
		if errs != nil {
			t.Fatalf("%v\n%s", errs, text)
		}
		for _, g := range parsed.Groups {
			for _, r := range g.Rules {
				all[r.Alert] = r
			}
		}
	}
	return all
}

// TestAlertsFire lets every alert meet series under which it must fire, after
// its time and not before, and series under which it must not.
func TestAlertsFire(t *testing.T) {
	const requests = `quoin_http_request_duration_seconds_count{namespace="site",operation="data-get",code="%s"} 0+%dx60` + "\n"
	cases := map[string]struct{ fires, quiet, says string }{
		"QuoinQueueLate": {
			`quoin_queue_lag_seconds{namespace="site",table="event_delivery",queue="search"} 400+30x60`,
			`quoin_queue_lag_seconds{namespace="site",table="event_delivery",queue="search"} 299x60` + "\n" +
				`quoin_queue_lag_seconds{namespace="other",table="event_delivery",queue="search"} 900x60`,
			"event_delivery search is late",
		},
		"QuoinWorkGivenUp": {
			`quoin_queue_rows{namespace="site",table="job",queue="run",state="buried"} 1x60`,
			`quoin_queue_rows{namespace="site",table="job",queue="run",state="buried"} 0x60` + "\n" +
				`quoin_queue_rows{namespace="site",table="job",queue="run",state="waiting"} 9x60`,
			"job run has work that was given up",
		},
		"QuoinErrors": {
			fmt.Sprintf(requests+requests, "2xx", 90, "5xx", 10),
			fmt.Sprintf(requests+requests+requests, "2xx", 990, "5xx", 10, "4xx", 500),
			"many requests fail",
		},
		"QuoinCheckFails": {
			`quoin_check_up{namespace="site",check="database",pod="a"} 1x60` + "\n" + `quoin_check_up{namespace="site",check="database",pod="b"} 0x60`,
			`quoin_check_up{namespace="site",check="database",pod="a"} 1x60`,
			"the check database fails",
		},
		"QuoinDown": {
			`quoin_ready{namespace="site",container="server",pod="a"} 0x60` + "\n" + `quoin_ready{namespace="site",container="worker",pod="b"} 1x60` + "\n" +
				`quoin_ready{namespace="other",container="server",pod="c"} 1x60`,
			`quoin_ready{namespace="site",container="server",pod="a"} 0x60` + "\n" + `quoin_ready{namespace="site",container="server",pod="b"} 1x60`,
			"no server takes requests",
		},
	}
	all := alertRules(t)
	for name, r := range all {
		c, known := cases[name]
		if !known {
			t.Errorf("nothing tests the alert %s", name)
			continue
		}
		t.Run(name, func(t *testing.T) {
			early, _ := states(t, r, c.fires, time.Duration(r.For)/2)
			late, summary := states(t, r, c.fires, time.Duration(r.For)+10*time.Minute)
			if early != rules.StatePending || late != rules.StateFiring || !strings.Contains(summary, c.says) {
				t.Errorf("%s at first, then %s: %q", early, late, summary)
			}
			if quiet, _ := states(t, r, c.quiet, 25*time.Minute); quiet != rules.StateInactive {
				t.Errorf("it is %s without a reason", quiet)
			}
		})
	}
	if len(all) != len(cases) {
		t.Errorf("%d alerts, %d tests", len(all), len(cases))
	}
	t.Run("when nothing answers", func(t *testing.T) {
		if state, _ := states(t, all["QuoinDown"], `up{namespace="site"} 0x60`, 15*time.Minute); state != rules.StateFiring {
			t.Errorf("it is %s", state)
		}
	})
}

// states evaluates a rule every 30 seconds from the fifth minute on, for as
// long as told, and gives its state and the summary of its alerts.
func states(t *testing.T, r rulefmt.Rule, series string, during time.Duration) (rules.AlertState, string) {
	t.Helper()
	store := promqltest.LoadedStorage(t, "load 30s\n  "+strings.ReplaceAll(series, "\n", "\n  "))
	defer func() { _ = store.Close() }()
	engine := promqltest.NewTestEngine(t, false, 0, promqltest.DefaultMaxSamplesPerQuery)
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(r.Expr)
	if err != nil {
		t.Fatal(err)
	}
	rule := rules.NewAlertingRule(r.Alert, expr, time.Duration(r.For), 0, labels.FromMap(r.Labels), labels.FromMap(r.Annotations), labels.EmptyLabels(), "", true, slog.New(slog.DiscardHandler))
	query := rules.EngineQueryFunc(engine, store)
	begin := time.Unix(0, 0).Add(5 * time.Minute)
	for at := begin; !at.After(begin.Add(during)); at = at.Add(30 * time.Second) {
		if _, err := rule.Eval(context.Background(), 0, at, query, nil, 0); err != nil {
			t.Fatal(err)
		}
	}
	state, summary := rules.StateInactive, ""
	for _, a := range rule.ActiveAlerts() {
		state = max(state, a.State)
		summary += a.Annotations.Get("summary")
	}
	return state, summary
}
