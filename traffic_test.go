package main

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // the names of files
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/testkit"
)

// traffic is what idempotent clients do until they are told to end: they read,
// search, write documents under ids of their own and store files, and try
// again what failed in a way that may pass. What was answered with success is
// written down.
type traffic struct {
	t      *testing.T
	base   string
	token  string
	client *http.Client
	// patience is for how long a request is tried again.
	patience time.Duration
	// most is how long one try may take.
	most time.Duration
	// round is after how many documents and files each client begins again with
	// the first one; 0 is never.
	round int64

	stop  chan struct{}
	ended sync.WaitGroup
	acks  atomic.Int64

	mu      sync.Mutex
	written map[string]int64  // what a document holds
	files   map[string][]byte // by hash
	answers map[string]int    // how many of each status, or "broken"
	refused map[string]int    // what 503 said
	slowest time.Duration
	faults  []string
}

// newTraffic makes clients of the address with the token.
func newTraffic(t *testing.T, base, token string) *traffic {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 32
	t.Cleanup(transport.CloseIdleConnections)
	return &traffic{
		t: t, base: base, token: token, patience: 2 * time.Minute, most: 30 * time.Second, client: &http.Client{Transport: transport, Timeout: time.Minute},
		stop: make(chan struct{}), written: map[string]int64{}, files: map[string][]byte{}, answers: map[string]int{}, refused: map[string]int{},
	}
}

// begin starts the clients; run names their documents.
func (l *traffic) begin(run string) {
	turn := func(n int64) int64 {
		if l.round > 0 {
			n %= l.round
		}
		return n
	}
	for w := range 4 {
		l.repeat(func(n int64) { l.write(fmt.Sprintf("%s-w%d-%d", run, w, turn(n)), turn(n)) })
	}
	l.repeat(func(n int64) {
		n = turn(n)
		l.store(fmt.Appendf(nil, "file %d of %s %s", n, run, strings.Repeat("x", int(n%70_000))))
	})
	l.repeat(func(int64) { l.read() })
	l.repeat(func(int64) {
		l.try(http.MethodPost, "/api/search/count", "application/json", []byte(`{"search":"{\"indices\":[\"quoin_preview\"],\"query\":{\"match_all\":{}}}"}`))
	})
}

// repeat calls a client again and again.
func (l *traffic) repeat(act func(n int64)) {
	l.ended.Go(func() {
		for n := int64(1); ; n++ {
			select {
			case <-l.stop:
				return
			default:
				act(n)
				l.pause() // it is faults that are looked for, not speed
			}
		}
	})
}

// end waits for the last requests and tells the test of what went wrong.
func (l *traffic) end() {
	l.t.Helper()
	close(l.stop)
	l.ended.Wait()
	for i, fault := range l.faults {
		if i == 5 {
			l.t.Errorf("and %d more", len(l.faults)-i)
			break
		}
		l.t.Error(fault)
	}
	l.t.Logf("%d documents, %d files, answers %v, the slowest in %s; refused: %v", len(l.written), len(l.files), l.answers, l.slowest.Round(time.Millisecond), l.refused)
}

func (l *traffic) write(ouuid string, n int64) {
	if _, ok := l.try(http.MethodPost, "/api/data/note/index/"+ouuid, "application/json", fmt.Appendf(nil, `{"n":%d}`, n)); ok {
		l.mu.Lock()
		l.written[ouuid] = n
		l.mu.Unlock()
		l.acks.Add(1)
	}
}

func (l *traffic) store(content []byte) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	part, err := w.CreateFormFile("upload", "a.txt")
	if err == nil {
		_, err = part.Write(content)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		panic(err) // memory does not fail
	}
	sum := sha1.Sum(content) //nolint:gosec // the name of the file
	hash := hex.EncodeToString(sum[:])
	if answer, ok := l.try(http.MethodPost, "/api/file/upload", w.FormDataContentType(), b.Bytes()); ok {
		if !bytes.Contains(answer, []byte(hash)) {
			l.fault("the file %s was stored so: %s", hash, answer)
		}
		l.mu.Lock()
		l.files[hash] = content
		l.mu.Unlock()
	}
}

// read asks for something that was written.
func (l *traffic) read() {
	ouuid, want := "", int64(0)
	l.mu.Lock()
	for id, n := range l.written { // any one
		ouuid, want = id, n
		break
	}
	l.mu.Unlock()
	if ouuid == "" {
		l.pause()
		return
	}
	if answer, ok := l.try(http.MethodGet, "/api/data/note/"+ouuid, "", nil); ok {
		l.compare(ouuid, want, answer)
	}
}

func (l *traffic) compare(ouuid string, want int64, answer []byte) {
	var got struct{ Revision struct{ N int64 } }
	if err := json.Unmarshal(answer, &got); err != nil || got.Revision.N != want {
		l.fault("%s holds %d instead of %d: %v", ouuid, got.Revision.N, want, err)
	}
}

// try sends a request until it succeeds or the patience is over.
func (l *traffic) try(method, path, typ string, body []byte) ([]byte, bool) {
	begin := time.Now()
	for {
		at := time.Now()
		status, head, answer, err := l.once(method, path, typ, body)
		l.note(method+" "+path, status, head, answer, err, time.Since(at))
		if err == nil && status == http.StatusOK {
			return answer, true
		}
		if err == nil && status != http.StatusServiceUnavailable {
			return nil, false
		}
		if time.Since(begin) > l.patience {
			l.fault("%s %s did not succeed within %s: %d %s %v", method, path, l.patience, status, answer, err)
			return nil, false
		}
		l.pause()
	}
}

func (l *traffic) pause() {
	<-time.After(time.Duration(10+rand.IntN(30)) * time.Millisecond)
}

func (l *traffic) once(method, path, typ string, body []byte) (int, http.Header, []byte, error) {
	req, err := http.NewRequestWithContext(l.t.Context(), method, l.base+path, bytes.NewReader(body))
	if err != nil {
		return 0, nil, nil, err
	}
	req.Header.Set("X-Auth-Token", l.token)
	if typ != "" {
		req.Header.Set("Content-Type", typ)
	}
	resp, err := l.client.Do(req)
	if err != nil {
		return 0, nil, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	return resp.StatusCode, resp.Header, answer, err
}

// note counts an answer and looks whether it is one that clients understand.
func (l *traffic) note(what string, status int, head http.Header, answer []byte, err error, took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.slowest = max(l.slowest, took)
	if took > l.most {
		l.faults = append(l.faults, fmt.Sprintf("%s took %s", what, took))
	}
	if err != nil {
		l.answers["broken"]++
		return
	}
	l.answers[fmt.Sprint(status)]++
	if status == http.StatusOK {
		return
	}
	var said struct {
		Success bool
		Status  int
		Error   []string
	}
	understood := json.Unmarshal(answer, &said) == nil && said.Status == status && len(said.Error) > 0 && head.Get("Retry-After") != ""
	if status != http.StatusServiceUnavailable || !understood {
		l.faults = append(l.faults, fmt.Sprintf("%s: %d %.300s", what, status, answer))
		return
	}
	l.refused[what[:min(len(what), 24)]+": "+said.Error[0]]++
}

func (l *traffic) fault(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults = append(l.faults, fmt.Sprintf(format, args...))
}

// broken is how many requests had no answer.
func (l *traffic) count(answer string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.answers[answer]
}

// check reads back all that was answered with success, and looks whether a
// search finds as much.
func (l *traffic) check(s *server) {
	l.t.Helper()
	testkit.Eventually(l.t, func() bool { // it gives up, with a 503, when there is much to be done
		status, _, err := s.call(http.MethodPost, "/api/search/refresh", `{"index":null}`)
		return err == nil && status == http.StatusOK
	})
	l.mu.Lock()
	before := len(l.faults)
	written, files := maps.Clone(l.written), maps.Clone(l.files)
	l.mu.Unlock()
	for ouuid, n := range written {
		_, answer := s.must(http.MethodGet, "/api/data/note/"+ouuid, "")
		l.compare(ouuid, n, answer)
	}
	for hash, content := range files {
		if _, answer := s.must(http.MethodGet, "/data/file/"+hash, ""); !bytes.Equal(answer, content) {
			l.t.Errorf("the file %s is not what was sent", hash)
		}
	}
	if n := s.count("quoin_preview", `{"query":{"term":{"_contenttype":"note"}}}`); n < len(written) {
		l.t.Errorf("a search finds %d of %d documents", n, len(written))
	}
	for _, fault := range l.faults[before:] {
		l.t.Error(fault)
	}
	if len(written) < 20 || len(files) < 3 {
		l.t.Errorf("only %d documents and %d files: there was no load", len(written), len(files))
	}
}

// listener is an endpoint of webhooks that writes down what it was told of.
type listener struct {
	mu   sync.Mutex
	told map[string]bool // documents
}

// listen makes an endpoint and subscribes it to documents that are written.
func listen(t *testing.T, s *server) *listener {
	t.Helper()
	l := &listener{told: map[string]bool{}}
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, word := range strings.FieldsFunc(string(body), func(r rune) bool { return strings.ContainsRune(`"\:`, r) }) {
			l.told[word] = true
		}
	}))
	t.Cleanup(receiver.Close)
	s.must(http.MethodPost, "/api/webhook-subscriptions", `{"endpointUrl":"`+receiver.URL+`","events":["content.finalize"]}`)
	return l
}

// await waits until it was told of every document, as long as there is more
// and more that it was told of.
func (l *listener) await(t *testing.T, written map[string]int64) {
	t.Helper()
	left, at := len(written)+1, time.Now()
	for left > 0 {
		if n := len(l.missing(written)); n < left {
			left, at = n, time.Now()
		}
		if time.Since(at) > 3*time.Minute {
			t.Fatalf("webhooks did not tell of %d of %d documents, such as %s", left, len(written), l.missing(written)[0])
		}
		<-time.After(20 * time.Millisecond)
	}
}

// missing gives the documents that it was not told of.
func (l *listener) missing(written map[string]int64) (names []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for ouuid := range written {
		if !l.told[ouuid] {
			names = append(names, ouuid)
		}
	}
	return names
}
