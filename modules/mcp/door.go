package mcp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	sdkauth "github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/problem"
)

const (
	headerSession = "Mcp-Session-Id"
	headerVersion = "Mcp-Protocol-Version"
	bothKinds     = "application/json, text/event-stream"
)

// request is an HTTP request on its way to the SDK.
type request struct {
	w        http.ResponseWriter
	r        *http.Request
	id       *auth.Identity
	body     []byte
	messages []peeked
	batch    bool
}

// first is the id of the first message, for refusals.
func (q *request) first() []byte {
	if len(q.messages) == 0 {
		return nil
	}
	return q.messages[0].id
}

// stream reports whether the client asked for a stream of events.
func (q *request) stream() bool {
	for _, v := range q.r.Header.Values("Accept") {
		for part := range strings.SplitSeq(v, ",") {
			kind, _, _ := strings.Cut(part, ";")
			if kind = strings.ToLower(strings.TrimSpace(kind)); kind == "text/event-stream" || kind == "text/*" {
				return true
			}
		}
	}
	return false
}

// refusedOrigin reports whether a website that is not allowed to sent the
// request. Programs send no origin. One on this machine may speak to a server on
// this machine, but only under its own name: a website whose name was made to
// lead here keeps its name in both headers.
func (s *Service) refusedOrigin(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return false
	}
	if slices.Contains(s.cfg.AllowedOrigins, origin) || s.cfg.PublicURL != "" && sameOrigin(s.cfg.PublicURL, origin) {
		return false
	}
	u, err := url.Parse(origin)
	return err != nil || !loopback(u.Hostname()) || !loopback(hostOf(r.Host))
}

func sameOrigin(address, origin string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Scheme+"://"+u.Host == origin
}

func hostOf(hostport string) string {
	u := url.URL{Host: hostport}
	return u.Hostname()
}

func loopback(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// post serves POST.
func (s *Service) post(w http.ResponseWriter, r *http.Request) error {
	q, ok := s.read(w, r)
	if !ok {
		return nil
	}
	version := r.Header.Get(headerVersion)
	later := version >= stateless
	for _, m := range q.messages {
		later = later || m.version != ""
	}
	switch {
	case later && q.batch:
		fail(w, http.StatusBadRequest, nil, codeInvalidRequest, "this revision of the protocol has no batches: send one message in a request")
	case later:
		s.serveStateless(q)
	case version != "" && !slices.Contains(s.versions, version):
		fail(w, http.StatusBadRequest, q.first(), codeInvalidRequest, "unsupported protocol version; supported in Mcp-Protocol-Version are "+strings.Join(s.versions, ", ")+" with a session and "+stateless+" without")
	default:
		s.serveSession(q)
	}
	return nil
}

// read takes in a request: whom it is from and what it says. It has answered
// when ok is false.
func (s *Service) read(w http.ResponseWriter, r *http.Request) (q *request, ok bool) {
	if s.refusedOrigin(r) {
		fail(w, http.StatusForbidden, nil, codeInvalidRequest, "this origin may not use the endpoint (mcp.allowed_origins)")
		return nil, false
	}
	s.allow(w, r)
	q = &request{w: w, r: r, id: auth.From(r.Context())}
	if r.Method != http.MethodPost {
		return q, true
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		fail(w, http.StatusUnsupportedMediaType, nil, codeInvalidRequest, "Content-Type must be application/json: send one message of JSON-RPC as the body")
		return nil, false
	}
	var err error
	q.body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, int64(s.cfg.MaxBody)))
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		fail(w, http.StatusRequestEntityTooLarge, nil, codeInvalidRequest, "the message is larger than "+s.cfg.MaxBody.String()+
			" (mcp.max_body): send files over HTTP, the tool get_upload_instructions tells how; large fields in several calls of update_draft")
		return nil, false
	}
	if err != nil {
		fail(w, http.StatusBadRequest, nil, codeParse, "the body broke off")
		return nil, false
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // the answer may take long; not every test server can
	if q.messages, q.batch, err = peek(q.body); err != nil {
		fail(w, http.StatusBadRequest, nil, codeParse, "malformed JSON: "+problem.From(err).Detail)
		return nil, false
	}
	if bytes.Contains(q.body, []byte("[]")) && len(q.messages) > 0 {
		q.body = withObjects(q.body)
		q.messages, q.batch, _ = peek(q.body) // it was JSON before
	}
	if len(q.messages) == 0 {
		fail(w, http.StatusBadRequest, nil, codeInvalidRequest, "the batch is empty: send one message in a request")
		return nil, false
	}
	for _, m := range q.messages {
		if m.wrong != "" {
			fail(w, http.StatusBadRequest, q.first(), codeInvalidRequest, "this is no message of JSON-RPC 2.0: "+m.wrong)
			return nil, false
		}
	}
	return q, true
}

// allow lets scripts of an allowed website read the answer.
func (s *Service) allow(w http.ResponseWriter, r *http.Request) {
	if origin := r.Header.Get("Origin"); origin != "" {
		w.Header().Set("Access-Control-Allow-Origin", origin)
		w.Header().Set("Access-Control-Expose-Headers", headerSession+", "+headerVersion+", WWW-Authenticate")
		w.Header().Add("Vary", "Origin")
	}
}

// preflight serves OPTIONS, which browsers send without a token.
func (s *Service) preflight(w http.ResponseWriter, r *http.Request) error {
	if s.refusedOrigin(r) {
		fail(w, http.StatusForbidden, nil, codeInvalidRequest, "this origin may not use the endpoint (mcp.allowed_origins)")
		return nil
	}
	s.allow(w, r)
	h := w.Header()
	h.Set("Allow", "GET, POST, DELETE, OPTIONS")
	h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Accept, Last-Event-ID, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, X-Auth-Token")
	h.Set("Access-Control-Max-Age", "86400")
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// serveStateless serves the era without sessions.
func (s *Service) serveStateless(q *request) {
	ctx, end := s.watched(q.r.Context(), q.r, nil)
	defer end()
	handler := s.stateless[0]
	if q.stream() {
		handler = s.stateless[1]
	}
	a := &answer{ResponseWriter: q.w, id: q.first()}
	s.hand(ctx, q, nil).serve(handler, a)
	a.finish()
}

// handed is a request in the form that the SDK wants.
type handed struct{ r *http.Request }

func (h handed) serve(to http.Handler, w http.ResponseWriter) { to.ServeHTTP(w, h.r) }

// hand makes the request for the SDK: without the token, with who it is from.
func (s *Service) hand(ctx context.Context, q *request, amend func(*caller)) handed {
	r := q.r.Clone(ctx)
	r.Body = io.NopCloser(bytes.NewReader(q.body))
	r.ContentLength = int64(len(q.body))
	r.Header.Del("X-Auth-Token")
	r.Header.Set("Authorization", "Bearer -")
	r.Header.Set("Accept", bothKinds)
	c := &caller{identity: q.id, token: tokenOf(q.r), ctx: q.r.Context(), stream: q.stream(), query: q.r.URL.Query().Get("catalog"), address: s.address(q.r)}
	if amend != nil {
		amend(c)
	}
	info := &sdkauth.TokenInfo{UserID: q.id.Username, Expiration: time.Now().Add(time.Hour), Extra: map[string]any{keyCaller: c}}
	var out handed
	identify(info)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { out.r = r })).ServeHTTP(nil, r)
	return out
}

// identify puts what is known of the caller where the SDK finds it.
func identify(info *sdkauth.TokenInfo) func(http.Handler) http.Handler {
	return sdkauth.RequireBearerToken(func(context.Context, string, *http.Request) (*sdkauth.TokenInfo, error) { return info, nil }, nil)
}

// keyCaller is where TokenInfo.Extra holds the *caller.
const keyCaller = "quoin"

// caller is who sent a request, as tools find it.
type caller struct {
	identity *auth.Identity
	token    string
	ctx      context.Context // of the HTTP request: for its values, it ends too early
	stream   bool            // can get requests while a call runs
	query    string          // the catalogue that the address asks for
	address  string          // under which the client reaches the server
	resumed  bool            // the server repeats a request of the client
}

// callerOf gives the caller of a request; nil for what the server does itself.
func callerOf(req sdk.Request) *caller {
	extra := req.GetExtra()
	if extra == nil || extra.TokenInfo == nil {
		return nil
	}
	c, _ := extra.TokenInfo.Extra[keyCaller].(*caller)
	return c
}
