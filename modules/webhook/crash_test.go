package webhook_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/telemetry"
	"github.com/quoin-cms/quoin/core/testkit"
	"github.com/quoin-cms/quoin/modules/webhook"
)

// The storm: a child process emits events and makes the calls, and is killed
// again and again. These name what the child needs to know.
const (
	childURL   = "QUOIN_TEST_STORM_DATABASE"
	childPath  = "QUOIN_TEST_STORM_FILE"
	childTotal = "QUOIN_TEST_STORM_TOTAL"
	stormSize  = "QUOIN_TEST_STORM" // how many events; 100000 is the figure of the release notes

	writers = 8  // goroutines that emit
	pages   = 25 // documents of each
)

func TestMain(m *testing.M) {
	if total, err := strconv.Atoi(os.Getenv(childTotal)); err == nil {
		stormChild(total)
		return
	}
	os.Exit(m.Run())
}

// patient is how the storm is configured: endpoints that fail are tried again
// soon and never given up.
func patient() *webhook.Config {
	c := webhook.Defaults()
	c.AllowNetworks = loopback()
	c.Schedule = nil
	for range 90 {
		c.Schedule = append(c.Schedule, 500*time.Millisecond)
	}
	c.Timeout, c.Lease, c.Poll = time.Second, 3*time.Second, 100*time.Millisecond
	c.BreakFor, c.ValidationDelay = 200*time.Millisecond, 1000*time.Hour
	return c
}

// start makes the module on a database with the clock of the machine.
func start(ctx context.Context, d *db.DB, c *webhook.Config) (*webhook.Service, *event.Bus, func(), error) {
	bus := event.New(d, event.Options{Log: telemetry.Discard(), Lease: 3 * time.Second, Poll: 200 * time.Millisecond})
	who := users()
	s := webhook.New(webhook.Options{
		DB: d, Bus: bus, Config: c, Types: types(), Identities: who, Content: content{people: who}, Log: slog.New(slog.DiscardHandler),
	})
	out := webhook.NewSender(s)
	if err := bus.Register(webhook.Subscriptions(s), nil); err != nil {
		return nil, nil, nil, err
	}
	if err := bus.Start(ctx); err != nil {
		return nil, nil, nil, err
	}
	if err := out.Start(ctx); err != nil {
		return nil, nil, nil, err
	}
	return s, bus, func() {
		over, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = bus.Stop(over)
		_ = out.Stop(over)
	}, nil
}

// stormChild emits events up to the total, each with its number in the same
// transaction, and makes calls until it is killed.
func stormChild(total int) {
	ctx := context.Background()
	d, err := db.Open(ctx, db.Config{URL: os.Getenv(childURL), Path: os.Getenv(childPath)})
	check(err)
	_, bus, _, err := start(ctx, d, patient())
	check(err)
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			var n int
			check(d.Row(ctx, db.SQL("SELECT n FROM storm WHERE writer = ?"), w).Scan(&n))
			for ; n < total/writers; n++ {
				number := n*writers + w
				check(d.InTx(ctx, func(ctx context.Context) error {
					if _, err := d.Exec(ctx, db.SQL("UPDATE storm SET n = ? WHERE writer = ?"), n+1, w); err != nil {
						return err
					}
					ouuid := fmt.Sprintf("%d-%d", w, n%pages)
					data := fmt.Sprintf(`{"environment":"live","alias":"quoin_live","content_type":"page","ouuid":%q,"raw_data":{"n":%d}}`, ouuid, number)
					return bus.Emit(ctx, event.Event{Type: "content.published.live", Subject: "page:" + ouuid, Data: json.RawMessage(data)})
				}))
			}
		})
	}
	fmt.Println("ready")
	all.Wait()
	fmt.Println("emitted")
	select {}
}

func check(err error) {
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

// counter is an endpoint of the storm.
type counter struct {
	name    string
	ordered bool
	broken  atomic.Bool
	url     string

	mu    sync.Mutex
	ids   map[int]string   // event → webhook-id
	times map[int]int      // event → calls
	order map[string][]int // document → events, each the first time
	wrong []string
}

// take notes a call that is answered well.
func (c *counter) take(r *http.Request, body []byte) {
	var call struct {
		Data struct {
			Ouuid   string
			RawData struct{ N int } `json:"raw_data"`
		}
	}
	err := json.Unmarshal(body, &call)
	c.mu.Lock()
	defer c.mu.Unlock()
	n, id := call.Data.RawData.N, r.Header.Get("webhook-id")
	if err != nil || c.ids[n] != "" && c.ids[n] != id {
		c.wrong = append(c.wrong, fmt.Sprintf("event %d: %v, ids %s and %s", n, err, c.ids[n], id))
	}
	if c.times[n]++; c.times[n] == 1 {
		c.order[call.Data.Ouuid] = append(c.order[call.Data.Ouuid], n)
	}
	c.ids[n] = id
}

func (c *counter) seen() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.times)
}

// endpoint starts an endpoint that, while it is broken, fails in its own way.
func endpoint(t *testing.T, i int, failing string) *counter {
	c := &counter{name: fmt.Sprintf("%d %s", i, failing), ordered: i%4 == 0, ids: map[int]string{}, times: map[int]int{}, order: map[string][]int{}}
	c.broken.Store(failing != "")
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil { // the sender was killed
			return
		}
		if !c.broken.Load() {
			c.take(r, body)
			return
		}
		fail(failing, w, r)
	})
	if failing == "refuses" || failing == "breaks TLS" {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		c.url = "http://" + l.Addr().String()
		go breakThenServe(l, c, failing, handler)
		t.Cleanup(func() { _ = l.Close() })
		return c
	}
	s := httptest.NewServer(handler)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	c.url = s.URL
	return c
}

// breakThenServe cuts connections, or answers with TLS where none is spoken,
// until the endpoint is mended.
func breakThenServe(l net.Listener, c *counter, how string, h http.Handler) {
	server := &http.Server{Handler: h, ReadHeaderTimeout: time.Second}
	defer func() { _ = server.Close() }()
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		if !c.broken.Load() {
			go func() { _ = server.Serve(&single{conn: conn, addr: l.Addr()}) }()
			continue
		}
		if how == "breaks TLS" {
			go func() { _ = tls.Server(conn, &tls.Config{MinVersion: tls.VersionTLS12}).Handshake(); _ = conn.Close() }()
			continue
		}
		_ = conn.Close()
	}
}

// single is a listener of one connection.
type single struct {
	conn net.Conn
	addr net.Addr
	once sync.Once
}

// Accept implements net.Listener.
func (s *single) Accept() (c net.Conn, err error) {
	s.once.Do(func() { c = s.conn })
	if c == nil {
		err = io.EOF
	}
	return c, err
}

// Close implements net.Listener.
func (*single) Close() error { return nil }

// Addr implements net.Listener.
func (s *single) Addr() net.Addr { return s.addr }

// fail answers badly.
func fail(how string, w http.ResponseWriter, r *http.Request) {
	switch how {
	case "hangs":
		<-r.Context().Done()
	case "drips":
		w.WriteHeader(http.StatusInternalServerError)
		for r.Context().Err() == nil {
			_, _ = w.Write([]byte("."))
			_ = http.NewResponseController(w).Flush()
			select {
			case <-r.Context().Done():
			case <-time.After(100 * time.Millisecond): // what the endpoint does badly is to be slow
			}
		}
	case "floods":
		w.WriteHeader(http.StatusInternalServerError)
		junk := make([]byte, 1<<20)
		for range 100 {
			if _, err := w.Write(junk); err != nil {
				return
			}
		}
	}
}

// TestStorm: events to twenty endpoints of which five fail, each in its own
// way, while the server is killed ten times. Every endpoint gets every event
// with an id that stays; where order is asked for, in order; the broken ones
// once they are mended.
func TestStorm(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: the storm of webhooks takes half a minute")
	}
	t.Run("sqlite", func(t *testing.T) { storm(t, db.Config{Path: filepath.Join(t.TempDir(), "quoin.db")}) })
	t.Run("postgres", func(t *testing.T) { storm(t, db.Config{URL: testkit.Postgres(t)}) })
}

func storm(t *testing.T, c db.Config) {
	total := 240
	if n, err := strconv.Atoi(os.Getenv(stormSize)); err == nil {
		total = n
	}
	endpoints := prepare(t, c)
	var child *exec.Cmd
	var lines *bufio.Scanner
	begin := time.Now()
	for kill := range 11 {
		child, lines = spawn(t, c, total)
		if kill == 10 {
			break
		}
		// The instant of the kill is to be any; a long storm is killed all along.
		<-time.After(time.Duration(50+rand.IntN(250)) * time.Millisecond * time.Duration(max(1, total/2400)))
		_ = child.Process.Kill()
		_ = child.Wait()
	}
	for lines.Scan() && lines.Text() != "emitted" {
	}
	for _, e := range endpoints {
		e.broken.Store(false)
	}
	deadline := time.Now().Add(3*time.Minute + time.Duration(total)*40*time.Millisecond)
	for _, e := range endpoints {
		for e.seen() < total {
			if time.Now().After(deadline) {
				t.Fatalf("%s: %d of %d events; %s", e.name, e.seen(), total, waiting(t, c))
			}
			<-time.After(20 * time.Millisecond) // another process is waited for
		}
	}
	t.Logf("%d events to %d endpoints in %s", total, len(endpoints), time.Since(begin).Round(time.Millisecond))
	for _, e := range endpoints {
		inspect(t, e, total)
	}
}

// prepare makes the tables and the subscriptions.
func prepare(t *testing.T, c db.Config) []*counter {
	d, err := db.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	if _, err := d.Migrate(t.Context(), sources()); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Exec(t.Context(), db.SQL("CREATE TABLE storm (writer bigint PRIMARY KEY, n bigint NOT NULL)")); err != nil {
		t.Fatal(err)
	}
	for w := range writers {
		if _, err := d.Exec(t.Context(), db.SQL("INSERT INTO storm (writer, n) VALUES (?, 0)"), w); err != nil {
			t.Fatal(err)
		}
	}
	s, _, stop, err := start(t.Context(), d, patient())
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	failures := []string{"hangs", "drips", "floods", "refuses", "breaks TLS"}
	var all []*counter
	for i := range 20 {
		failing := ""
		if i < len(failures) {
			failing = failures[i]
		}
		e := endpoint(t, i, failing)
		wish := webhook.Wish{URL: e.url, Events: []string{"content.published.live"}, Ordered: e.ordered}
		if _, err := s.Subscribe(auth.With(t.Context(), users()["ann"]), wish); err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

func spawn(t *testing.T, c db.Config, total int) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childURL+"="+c.URL, childPath+"="+c.Path, childTotal+"="+strconv.Itoa(total))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "ready" {
		t.Fatalf("the child says %q", lines.Text())
	}
	return cmd, lines
}

// inspect checks what an endpoint got.
func inspect(t *testing.T, e *counter, total int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.wrong) > 0 {
		t.Errorf("%s: %s", e.name, strings.Join(e.wrong[:min(5, len(e.wrong))], "; "))
	}
	twice := 0
	for n := range total {
		if e.times[n] == 0 {
			t.Errorf("%s: event %d is missing", e.name, n)
		}
		twice += max(0, e.times[n]-1)
	}
	// Each kill may repeat the calls under way and those not yet written down.
	if limit := 10 * (300 + 8); twice > limit {
		t.Errorf("%s: %d calls were repeated", e.name, twice)
	}
	for document, list := range e.order {
		for i := 1; e.ordered && i < len(list); i++ {
			if list[i] < list[i-1] {
				t.Errorf("%s: %s got event %d before %d", e.name, document, list[i-1], list[i])
				break
			}
		}
	}
}

// waiting tells what is still to be done, for whoever reads of a failure.
func waiting(t *testing.T, c db.Config) string {
	d, err := db.Open(t.Context(), c)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = d.Close() }()
	rows, err := d.Query(t.Context(), db.SQL(`SELECT s.url, s.enabled, s.failures, s.open_until, s.message, d.due_at, d.attempt, coalesce(d.owner, ''), coalesce(d.last_error, ''), d.subject, d.id, count(*)
		FROM webhook_delivery d JOIN webhook_subscription s ON s.id = d.queue
		WHERE d.due_at < 9223372036854775807 AND d.message_id IS NOT NULL GROUP BY d.queue, d.due_at < 9223372036854775806, d.subject ORDER BY s.url LIMIT 60`))
	if err != nil {
		return err.Error()
	}
	defer rows.Close()
	var b strings.Builder
	for rows.Next() {
		var url, message, owner, last, subject string
		var enabled bool
		var failures, attempt int
		var open, due, id, n int64
		if err := rows.Scan(&url, &enabled, &failures, &open, &message, &due, &attempt, &owner, &last, &subject, &id, &n); err != nil {
			return err.Error()
		}
		fmt.Fprintf(&b, "\n%s enabled=%v failures=%d open=%d %s due=%d attempt=%d owner=%s %s subject=%s id=%d n=%d", url, enabled, failures, open-time.Now().UnixMicro(), message, due-time.Now().UnixMicro(), attempt, owner, last, subject, id, n)
	}
	return b.String()
}
