package double

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Options say how a double behaves.
type Options struct {
	// Key is the API key that requests must carry; empty takes any.
	Key string
	// Violation hears of every request that no adapter may send; t.Errorf
	// fits. It may be called from several goroutines.
	Violation func(format string, args ...any)
}

// Server is a running double on a loopback port. It is safe for use by
// several goroutines.
type Server struct {
	opts     Options
	http     *http.Server
	listener net.Listener

	mu          sync.RWMutex // collections, aliases and all in them
	collections map[string]*collection
	names       []string // of collections, in order of creation
	aliases     map[string]string

	log        sync.Mutex // what follows
	violations []string
	requests   []Request
	faults     []*Fault
}

// Request is one request that the server was sent.
type Request struct {
	Method string
	Path   string // decoded
	Query  url.Values
	Body   []byte
}

// New starts a double. It panics when no loopback port can be had.
func New(opts Options) *Server {
	s := &Server{opts: opts, collections: map[string]*collection{}, aliases: map[string]string{}}
	var err error
	if s.listener, err = net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}); err != nil {
		panic(fmt.Sprintf("typesense double: %v", err))
	}
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.http.Serve(s.listener) }()
	return s
}

// URL is the address of the server, without a slash at its end.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() }

// Close ends the server and all connections.
func (s *Server) Close() { _ = s.http.Close() }

// Shutdown ends the server after the requests that are under way.
func (s *Server) Shutdown(ctx context.Context) error { return s.http.Shutdown(ctx) }

// Requests gives the requests so far, in the order of their arrival.
func (s *Server) Requests() []Request {
	s.log.Lock()
	defer s.log.Unlock()
	return append([]Request(nil), s.requests...)
}

// Count tells how many requests had the method ("" for any) and a path that
// contains part.
func (s *Server) Count(method, part string) int {
	n := 0
	for _, r := range s.Requests() {
		if (method == "" || r.Method == method) && strings.Contains(r.Path, part) {
			n++
		}
	}
	return n
}

// Collections gives the names of the collections, oldest first.
func (s *Server) Collections() []string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return append([]string(nil), s.names...)
}

// Forget empties the lists of requests and violations.
func (s *Server) Forget() {
	s.log.Lock()
	defer s.log.Unlock()
	s.requests, s.violations = nil, nil
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	s.log.Lock()
	s.requests = append(s.requests, Request{r.Method, r.URL.Path, r.URL.Query(), body})
	s.log.Unlock()
	fault := s.fault(r)
	if !fault.before(w, r) {
		return
	}
	if r.URL.Path == "/health" && r.Method == http.MethodGet {
		fault.write(w, 200, "application/json", encode(map[string]any{"ok": true}))
		return
	}
	if s.opts.Key != "" && r.Header.Get("X-TYPESENSE-API-KEY") != s.opts.Key && r.URL.Query().Get("x-typesense-api-key") != s.opts.Key {
		fault.write(w, 401, "application/json", message("Forbidden - a valid `x-typesense-api-key` header must be sent."))
		return
	}
	code, contentType, answer := s.answer(&call{r: r, query: ofQuery(r.URL.Query()), body: body, fault: fault})
	fault.write(w, code, contentType, answer)
}

// call is one request on its way.
type call struct {
	r     *http.Request
	query params
	body  []byte
	fault *Fault
	parts []string // decoded parts of the path
}

// answer routes a request; a failure becomes the body that the server sends.
func (s *Server) answer(c *call) (code int, contentType string, body []byte) {
	for part := range strings.SplitSeq(strings.Trim(c.r.URL.EscapedPath(), "/"), "/") {
		decoded, err := url.PathUnescape(part)
		if err != nil {
			return 404, "application/json", message("Not Found")
		}
		c.parts = append(c.parts, decoded)
	}
	if len(c.r.URL.RawQuery) > maxQuery {
		return 400, "application/json", message("Query string exceeds max allowed length of 4000. Use the /multi_search end-point for larger payloads.")
	}
	code, out, err := s.route(c)
	if err != nil {
		if err.code == dropped {
			panic(http.ErrAbortHandler)
		}
		return err.code, "application/json", message(err.message)
	}
	if lines, ok := out.(jsonl); ok {
		return code, "text/plain; charset=utf-8", lines
	}
	return code, "application/json", encode(out)
}

// jsonl is an answer of JSON lines.
type jsonl []byte

func message(text string) []byte { return encode(map[string]any{"message": text}) }

// encode writes JSON without escaping HTML, as the server does.
func encode(v any) []byte {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("typesense double: %v", err))
	}
	return []byte(strings.TrimSuffix(b.String(), "\n"))
}
