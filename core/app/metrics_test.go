package app_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/app"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/module"
	"github.com/quoin-cms/quoin/core/telemetry"
	"github.com/quoin-cms/quoin/core/testkit"
	"github.com/quoin-cms/quoin/modules"
)

// read gives what a path of another listener answers.
func read(t *testing.T, address, path string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

func TestMetrics(t *testing.T) {
	r := start(t, load(t, modules.All(), folder(t), append(cheap(), "telemetry.listen=127.0.0.1:0")...))
	found := regexp.MustCompile(`"msg":"metrics","listen":"([^"]+)"`).FindStringSubmatch(r.log.String())
	if found == nil {
		t.Fatalf("%s", r.log)
	}
	token := r.login()
	r.send("GET", "/api/test", token, "")
	r.send("GET", "/api/test", "wrong", "")
	r.send("GET", "/nowhere", token, "")
	status, text := read(t, found[1], "/metrics")
	for _, want := range []string{
		`quoin_http_request_duration_seconds_count{code="2xx",operation="test"} 1`,
		`quoin_http_request_duration_seconds_count{code="4xx",operation="test"} 1`,
		`quoin_http_request_duration_seconds_count{code="4xx",operation="none"} 1`,
		`quoin_build_info{version="test"} 1`,
		`quoin_check_up{check="database"} 1`,
		`quoin_queue_rows{queue="event.sweep",state="buried",table="work_schedule"} 0`,
		`quoin_queue_lag_seconds{`,
		`quoin_database_connections{state="max"}`,
		`quoin_ready 1`,
		`go_goroutines`,
	} {
		if status != 200 || !strings.Contains(text, want) {
			t.Errorf("%d: %s is not in\n%s", status, want, text)
		}
	}
	if status, _ := r.send("GET", "/metrics", token, ""); status != 404 {
		t.Errorf("the address of clients answers /metrics: %d", status)
	}
	if status, body := read(t, found[1], "/readyz"); status != 200 {
		t.Errorf("%d %s", status, body)
	}
	if status, _ := read(t, found[1], "/api/test"); status != 404 {
		t.Errorf("the address of metrics answers clients: %d", status)
	}
	if err := r.end(); err != nil {
		t.Error(err)
	}
}

var bury = db.SQL(`UPDATE work_schedule SET buried_at = 1`)

func TestStatusOfOldClients(t *testing.T) {
	r := start(t, load(t, nil, folder(t)))
	ask := func() (status int, color string) {
		status, body := r.send("GET", "/status.json", "", "")
		var s struct{ Status, Body string }
		if err := json.Unmarshal([]byte(body), &s); err != nil || s.Body == "" {
			t.Errorf("%v in %s", err, body)
		}
		return status, s.Status
	}
	if _, err := r.app.DB.Exec(t.Context(), bury); err != nil {
		t.Fatal(err)
	}
	if status, color := ask(); status != 200 || color != "yellow" {
		t.Errorf("with work that was given up: %d %s", status, color)
	}
	if err := r.app.DB.Close(); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, func() bool { status, color := ask(); return status == 503 && color == "red" })
}

var neglect = db.SQL(`UPDATE work_schedule SET due_at = 1, owner = NULL WHERE queue LIKE ?`)

// TestTheTasksOfAModuleThatIsOffAreNotLate switches modules off that have had
// periodic tasks.
func TestTheTasksOfAModuleThatIsOffAreNotLate(t *testing.T) {
	data := folder(t)
	r := start(t, load(t, modules.All(), data, cheap()...))
	if err := r.end(); err != nil {
		t.Fatal(err)
	}
	off := append(cheap(), "modules.form.enabled=false", "modules.job.enabled=false")
	r = start(t, load(t, modules.All(), data, off...))
	for _, task := range []string{"form.%", "job.%"} {
		if n, err := r.app.DB.Exec(t.Context(), neglect, task); err != nil || n == 0 {
			t.Fatalf("%s: %d tasks, %v", task, n, err)
		}
	}
	if status, body := r.send("GET", "/status.json", "", ""); status != 200 || !strings.Contains(body, `"green"`) {
		t.Errorf("%d %s", status, body)
	}
	if err := r.end(); err != nil {
		t.Fatal(err)
	}
	for what, set := range map[string][]string{"off": off, "on": cheap()} {
		warned := ""
		for _, f := range app.Doctor(t.Context(), load(t, modules.All(), data, set...), app.Options{Log: telemetry.Discard(), Version: "test"}) {
			if f.Check == "work" && f.Level != module.Fine {
				warned += f.Says
			}
		}
		if strings.Contains(warned, "form.expire") != (what == "on") {
			t.Errorf("%s: the doctor says %q", what, warned)
		}
	}
}

// TestAlertsAndDashboardsAskForMetricsThatThereAre reads the metrics of the
// chart's alerts and of the dashboard, and looks for them at a server.
func TestAlertsAndDashboardsAskForMetricsThatThereAre(t *testing.T) {
	r := start(t, load(t, modules.All(), folder(t), append(cheap(), "telemetry.listen=127.0.0.1:0")...))
	found := regexp.MustCompile(`"msg":"metrics","listen":"([^"]+)"`).FindStringSubmatch(r.log.String())
	if found == nil {
		t.Fatalf("%s", r.log)
	}
	r.send("POST", "/api/data/page/create", r.login(), "{}")
	_, text := read(t, found[1], "/metrics")
	asked := 0
	for _, file := range []string{"helm/quoin/templates/monitoring.yaml", "grafana/quoin.json"} {
		content, err := os.ReadFile("../../deployments/" + file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range regexp.MustCompile(`\bquoin_[a-z_]+[a-z]`).FindAllString(string(content), -1) {
			asked++
			if !strings.Contains(text, "\n"+name+"{") && !strings.Contains(text, "\n"+name+" ") {
				// What counts deliveries is there when there was one.
				family := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "_count"), "_sum"), "_bucket")
				if !strings.Contains(text, "# TYPE "+family+" ") {
					t.Errorf("%s asks for %s, which the server does not have", file, name)
				}
			}
		}
	}
	if asked < 8 {
		t.Errorf("only %d metrics are asked for", asked)
	}
}
