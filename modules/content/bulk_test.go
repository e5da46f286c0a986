package content_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/rawjson"
	"github.com/quoin-cms/quoin/modules/content"
)

// bulk sends lines and gives the result lines.
func (s *server) bulk(as string, lines ...string) []*answer {
	s.Helper()
	a := s.call(as, http.MethodPost, "/api/data/page/_bulk", strings.Join(lines, "\n")).is(200)
	if got := a.header.Get("Content-Type"); got != "application/x-ndjson" {
		s.Errorf("Content-Type %s", got)
	}
	var results []*answer
	for i, line := range strings.Split(strings.TrimSuffix(string(a.body), "\n"), "\n") {
		results = append(results, &answer{s.TB, fmt.Sprintf("result %d", i+1), 200, nil, []byte(line)})
	}
	return results
}

func TestBulk(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		r := s.bulk("publisher",
			`{"op":"index","ouuid":"a","data":{"title":"A"}}`,
			``,
			`{"data":{"title":"new"}}`,
			`{"op":"update","ouuid":"a","data":{"count":1}}`,
			`{"op":"publish","ouuid":"a","environment":"live"}`,
			`{"op":"create","ouuid":"c","data":{"title":"C"}}`,
			`{"op":"index","ouuid":"bad","data":{"count":"x"}}`,
			`{"op":"update","ouuid":"a","data":{"count":2},"if_match":"1"}`,
			`{"op":"delete","ouuid":"a"}`,
		)
		if len(r) != 8 {
			t.Fatalf("%d results", len(r))
		}
		r[0].keys("line", "success", "status", "ouuid", "revision_id").has("line", "1", "success", "true", "status", "200", "ouuid", `"a"`)
		r[1].has("line", "3", "success", "true")
		r[2].has("line", "4", "success", "true", "ouuid", `"a"`)
		r[3].has("line", "5", "success", "true", "ouuid", `"a"`)
		r[4].has("line", "6", "success", "true", "ouuid", `"c"`)
		r[5].has("line", "7", "success", "false", "status", "200").keys("line", "success", "status", "ouuid", "revision_id", "error")
		r[6].has("line", "8", "success", "false", "status", "412").keys("line", "success", "status", "ouuid", "error")
		r[7].has("line", "9", "success", "true", "ouuid", `"a"`)
		s.get("/api/data/page/a").is(404)
		s.get("/api/data/page/c").is(200).has("revision", `{"title":"C"}`)
		s.get("/api/data/page/" + r[1].text("ouuid")).is(200)
		counts := map[string]int{}
		for _, e := range s.events() {
			counts[e.Type]++
		}
		want := map[string]int{"content.finalize": 3, "content.published.live": 1, "content.delete": 1}
		if fmt.Sprint(counts) != fmt.Sprint(want) {
			t.Errorf("events %v, want %v", counts, want)
		}
	})
}

// TestBulkRefusals: a line that is wrong leaves the others alone.
func TestBulkRefusals(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		s.post("/api/data/page/index/a", `{"title":"A"}`).is(200)
		s.events()
		tests := []struct{ line, status, message string }{
			{`{"op":"index"`, "400", "invalid JSON"},
			{`{"op":"index","ouuid":"a"}`, "400", "data"},
			{`[]`, "400", "op"}, // an empty object: op index with no data
			{`"index"`, "400", "must be a JSON object"},
			{`{"op":"upsert","ouuid":"x","data":{"title":"A"}}`, "400", "upsert"},
			{`{"op":7}`, "400", "line"},
			{`{"data":{"title":"A"},"extra":1}`, "400", "line"},
			{`{"data":{"title":"A"},"data":{"title":"B"}}`, "400", "twice"},
			{`{"data":{"title":NaN}}`, "400", "invalid JSON"},
			{`{"data":{"title":"\ud800"}}`, "400", "surrogate"},
			{`{"data":{"title":"\u0000"}}`, "400", "U+0000"},
			{`{"data":{"x":` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `}}`, "413", "deeper"},
			{`{"data":"text"}`, "400", "object"},
			{`{"data":[1]}`, "400", "object"},
			{`{"data":null}`, "400", "object"},
			{`{"ouuid":"a/b","data":{"title":"A"}}`, "400", "ouuid"},
			{`{"op":"update","data":{"title":"A"}}`, "400", "ouuid"},
			{`{"op":"update","ouuid":"none","data":{"title":"A"}}`, "404", "page:none"},
			{`{"op":"delete"}`, "400", "ouuid"},
			{`{"op":"delete","ouuid":"none"}`, "404", "page:none"},
			{`{"op":"publish","ouuid":"a"}`, "404", "environment"},
			{`{"op":"publish","ouuid":"a","environment":"nowhere"}`, "404", "nowhere"},
			{`{"op":"unpublish","ouuid":"a","environment":"preview"}`, "409", "default"},
			{`{"op":"create","ouuid":"a","data":{"title":"A"}}`, "409", "already"},
			{`{"op":"create","ouuid":"new","data":{}}`, "400", "empty"},
			{`{"op":"create","ouuid":"new","data":{"title":1}}`, "422", "title"},
			{`{"op":"index","ouuid":"a","data":{"title":"A"},"if_match":"999"}`, "412", "999"},
		}
		rows := s.rows()
		var lines []string
		for _, test := range tests {
			lines = append(lines, test.line)
		}
		results := s.bulk("publisher", append(lines, `{"op":"publish","ouuid":"a","environment":"preview"}`)...)
		if len(results) != len(tests)+1 {
			t.Fatalf("%d results of %d lines", len(results), len(tests)+1)
		}
		for i, test := range tests {
			results[i].has("line", fmt.Sprint(i+1), "success", "false", "status", test.status)
			if !strings.Contains(results[i].raw("error"), test.message) {
				t.Errorf("%s: %s does not speak of %q", test.line, results[i].body, test.message)
			}
			clean(t, results[i])
		}
		results[len(tests)].has("success", "true")
		if after := s.rows(); after != rows {
			t.Errorf("rows %s, before %s", after, rows)
		}
		s.told()
	})
}

func TestBulkRights(t *testing.T) {
	s := serve(t, nil)
	lines := []string{`{"op":"index","ouuid":"a","data":{"title":"A"}}`, `{"op":"publish","ouuid":"a","environment":"live"}`, `{"op":"delete","ouuid":"a"}`}
	for i, r := range s.bulk("author", lines...) {
		if i == 0 {
			r.has("success", "true")
			continue
		}
		r.has("success", "false", "status", "403")
	}
	for _, r := range s.bulk("user", lines...) {
		r.has("success", "false", "status", "403")
	}
	s.call("noapi", http.MethodPost, "/api/data/page/_bulk", lines[0]).is(403)
	s.call("", http.MethodPost, "/api/data/page/_bulk", lines[0]).is(401)
	s.post("/api/data/none/_bulk", lines[0]).is(404)
}

// TestBulkOrder: lines about the same document take effect in their order, and
// the results come in the order of the lines.
func TestBulkOrder(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		var lines []string
		for i := range 300 {
			lines = append(lines, fmt.Sprintf(`{"op":"index","ouuid":"d%d","data":{"title":"A","count":%d}}`, i%7, i))
		}
		for i, r := range s.bulk("author", lines...) {
			r.has("line", fmt.Sprint(i+1), "success", "true", "ouuid", fmt.Sprintf(`"d%d"`, i%7))
		}
		for i := range 7 {
			last := 299 - (299-i)%7
			s.get(fmt.Sprintf("/api/data/page/d%d", i)).has("revision.count", fmt.Sprint(last))
		}
		s.events()
	})
}

// TestBulkStreams: answers come while the request is still being written.
func TestBulkStreams(t *testing.T) {
	s := serve(t, nil)
	body, lines := io.Pipe()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/api/data/page/_bulk", body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Auth-Token", "author")
	started := make(chan error, 1)
	go func() {
		_, err := io.WriteString(lines, `{"ouuid":"s0","data":{"title":"A"}}`+"\n")
		started <- err
	}()
	res, err := s.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := res.Body.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	answers := bufio.NewScanner(res.Body)
	for i := 1; i <= 5; i++ {
		if !answers.Scan() {
			t.Fatal(answers.Err())
		}
		if v, _ := rawjson.Get(answers.Bytes(), "line"); string(v) != fmt.Sprint(i) {
			t.Fatalf("answer %s, want line %d", answers.Bytes(), i)
		}
		if i < 5 {
			if _, err := fmt.Fprintf(lines, `{"ouuid":"s%d","data":{"title":"A"}}`+"\n", i); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := lines.Close(); err != nil {
		t.Fatal(err)
	}
	if answers.Scan() {
		t.Errorf("an answer too many: %s", answers.Bytes())
	}
}

// TestBulkFailures: what goes wrong in the server at one line is in the log, as
// its answer says, and takes no other line along, nor the server.
func TestBulkFailures(t *testing.T) {
	s := serve(t, nil)
	s.between(func() { panic("out of order") })
	r := s.bulk("author", `{"ouuid":"a","data":{"title":"A"}}`)
	r[0].has("success", "false", "status", "500", "ouuid", `"a"`)
	clean(t, r[0])
	if log := s.log.String(); !strings.Contains(log, "out of order") || !strings.Contains(log, "line=1") {
		t.Errorf("logged: %s", log)
	}
	s.bulk("author", `{"ouuid":"a","data":{"title":"A"}}`)[0].has("success", "true")

	if err := s.db.InTx(t.Context(), func(ctx context.Context) error {
		return s.db.Queue(ctx, db.SQL("ALTER TABLE content_revision RENAME TO elsewhere"))
	}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.Repeat(`{"data":{"title":"A"}}`+"|", 50), "|")
	for _, a := range s.bulk("author", lines[:50]...) {
		a.has("success", "false", "status", "500")
	}
	if n := strings.Count(s.log.String(), "no such table"); n != 20 {
		t.Errorf("the failures are in the log %d times, want the first 20", n)
	}
}

// TestBulkRoom: lines that are not answered yet take no more memory than a few
// large documents, however many lines there are.
func TestBulkRoom(t *testing.T) {
	const largest, lines = 64 << 10, 200
	s := serve(t, func(c *content.Config) { c.MaxDocument = largest })
	line := `{"ouuid":"d","data":{"title":"` + strings.Repeat("x", largest-100) + `"}}` + "\n"
	text := strings.NewReader(strings.Repeat(line, lines))
	var answered atomic.Int64
	most := int64(0)
	in := reader(func(p []byte) (int, error) {
		n, err := text.Read(p)
		read := text.Size() - int64(text.Len())
		most = max(most, read-answered.Load()*int64(len(line)))
		return n, err
	})
	out := writer(func(p []byte) (int, error) {
		if !strings.Contains(string(p), `"success":true`) {
			t.Errorf("%s", p)
		}
		answered.Add(1)
		return len(p), nil
	})
	s.Bulk(auth.With(t.Context(), testUsers()["author"]), "page", in, out)
	if n := answered.Load(); n != lines {
		t.Errorf("%d answers", n)
	}
	if most > 6*largest { // four, the line that waits, and what is read ahead
		t.Errorf("%d bytes without an answer", most)
	}
}

// reader is a function that gives what is to be read.
type reader func(p []byte) (int, error)

func (r reader) Read(p []byte) (int, error) { return r(p) }

func TestBulkLongLine(t *testing.T) {
	s := serve(t, func(c *content.Config) { c.MaxDocument = 2048 })
	long := `{"data":{"title":"` + strings.Repeat("x", 70000) + `"}}`
	r := s.bulk("author", `{"ouuid":"a","data":{"title":"A"}}`, long, `{"ouuid":"b","data":{"title":"B"}}`)
	if len(r) != 3 {
		t.Fatalf("%d results", len(r))
	}
	r[0].has("success", "true")
	r[1].has("success", "false", "status", "413", "line", "2")
	r[2].has("success", "true", "line", "3")
	r = s.bulk("author", `{"ouuid":"a","data":{"title":"A"}}`, long)
	r[1].has("success", "false", "status", "413", "line", "2")
	r = s.bulk("author", `{"data":{"title":"`+strings.Repeat("x", 3000)+`"}}`)
	r[0].has("success", "false", "status", "413", "line", "1")
}

func TestBulkRefresh(t *testing.T) {
	s := serve(t, nil)
	s.call("author", http.MethodPost, "/api/data/page/_bulk?refresh=true", `{"ouuid":"a","data":{"title":"A"}}`+"\n"+`{"ouuid":"b","data":{"title":"B"}}`).is(200)
	s.refreshed.mu.Lock()
	defer s.refreshed.mu.Unlock()
	if len(s.refreshed.keys) != 2 {
		t.Errorf("refreshed %v", s.refreshed.keys)
	}
}

// TestBulkOfWhoIsLockedOut: a request that began before writes nothing after.
func TestBulkOfWhoIsLockedOut(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		body, lines := io.Pipe()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/api/data/page/_bulk", body)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Auth-Token", "author")
		go func() { _, _ = io.WriteString(lines, `{"ouuid":"a","data":{"title":"A"}}`+"\n") }()
		res, err := s.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		answers := bufio.NewScanner(res.Body)
		next := func() *answer {
			if !answers.Scan() {
				t.Fatal("no answer: ", answers.Err())
			}
			return &answer{t, "line", 200, nil, answers.Bytes()}
		}
		next().has("success", "true")
		s.users.out.Store("author", true)
		if _, err := io.WriteString(lines, `{"ouuid":"b","data":{"title":"B"}}`+"\n"); err != nil {
			t.Fatal(err)
		}
		next().has("line", "2", "success", "false", "status", "401")
		_ = lines.Close()
		s.call("admin", http.MethodGet, "/api/data/page/a", nil).is(200)
		s.call("admin", http.MethodGet, "/api/data/page/b", nil).is(404)
	})
}
