package mcp

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/quoin-cms/quoin/core/db"
)

const (
	// recheck is how long a session that was found in the database is believed.
	recheck = time.Second
	// touchEvery is how often the last use of a session is noted.
	touchEvery = time.Minute
	// forgetAfter is how long a session stays in memory without a request.
	forgetAfter = 5 * time.Minute
)

// session is a session in the memory of this process. Its truth is in the
// database: any process makes one of the record when it needs it.
type session struct {
	id        string
	userID    int64
	tokenID   int64
	transport *sdk.StreamableServerTransport
	server    *sdk.ServerSession

	mu         sync.Mutex
	version    string
	checked    time.Time
	touched    time.Time
	used       time.Time
	running    int             // requests
	calls      map[string]bool // raw ids of calls that run here
	subscribed []string
	hears      listener // whose stream was opened last
}

// revision is the revision of the protocol that was agreed on; "" while the
// session begins.
func (x *session) revision() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.version
}

// sessions are those in the memory of this process.
type sessions struct {
	mu  sync.Mutex
	all map[string]*session
}

func (l *sessions) get(id string) *session {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all[id]
}

// put adds a session, or gives the one that is there already.
func (l *sessions) put(x *session) (*session, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if there := l.all[x.id]; there != nil {
		return there, false
	}
	l.all[x.id] = x
	return x, true
}

func (l *sessions) drop(id string) *session {
	l.mu.Lock()
	defer l.mu.Unlock()
	x := l.all[id]
	delete(l.all, id)
	return x
}

func (l *sessions) list() []*session {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]*session, 0, len(l.all))
	for _, x := range l.all {
		out = append(out, x)
	}
	return out
}

// serveSession serves POST in the era of sessions.
func (s *Service) serveSession(q *request) {
	id := q.r.Header.Get(headerSession)
	initialize := slices.ContainsFunc(q.messages, func(m peeked) bool { return m.method == "initialize" })
	switch {
	case initialize && (q.batch || id != ""):
		fail(q.w, http.StatusBadRequest, q.first(), codeInvalidRequest, "initialize stands alone and without Mcp-Session-Id: send it first, then use the session of its answer")
		return
	case initialize:
		s.begin(q)
		return
	case id == "":
		fail(q.w, http.StatusBadRequest, q.first(), codeInvalidRequest, "Mcp-Session-Id is missing: call initialize first")
		return
	}
	x, ok := s.resume(q)
	if !ok {
		return
	}
	if revision := x.revision(); q.batch && revision >= withoutBatches {
		fail(q.w, http.StatusBadRequest, nil, codeInvalidRequest, "revision "+revision+" of the protocol has no batches: send one message in a request")
		return
	}
	s.run(q, x)
}

// begin serves initialize. The session is stored while the answer is made, see
// initialized.
func (s *Service) begin(q *request) {
	x, err := s.connect(rand.Text(), nil)
	if err != nil {
		failWith(q.w, err, q.first())
		return
	}
	x.userID, x.tokenID = q.id.UserID, q.id.TokenID
	s.sessions.put(x)
	s.run(q, x)
	if x.revision() == "" && q.r.Context().Err() == nil { // of a client that left it may begin still, and the answer can be fetched
		s.close(x)
	}
}

// connect makes a session of the SDK, new or from a record.
func (s *Service) connect(id string, r *record) (*session, error) {
	x := &session{id: id, calls: map[string]bool{}, checked: s.now(), used: s.now(), touched: s.now()}
	x.transport = &sdk.StreamableServerTransport{SessionID: id, EventStore: s.replay}
	state := &sdk.ServerSessionState{}
	if r != nil {
		x.userID, x.tokenID, x.version, x.touched = r.UserID, r.TokenID, r.Version, db.Time(r.UsedAt)
		state.InitializeParams = &sdk.InitializeParams{}
		if err := json.Unmarshal(r.Params, state.InitializeParams); err != nil {
			return nil, err
		}
		state.InitializedParams = &sdk.InitializedParams{}
		state.NegotiatedProtocolVersion, state.LogLevel = r.Version, sdk.LoggingLevel(r.LogLevel)
	}
	var err error
	x.server, err = s.sdk.Connect(s.life, x.transport, &sdk.ServerSessionOptions{State: state})
	return x, err
}

// resume finds the session of a request: in memory, or in the database. It has
// answered when ok is false. Whose session it is not, does not learn that there
// is one.
func (s *Service) resume(q *request) (*session, bool) {
	x, err := s.open(q.r.Context(), q.r.Header.Get(headerSession))
	if err != nil {
		failWith(q.w, err, q.first())
		return nil, false
	}
	if x == nil || x.userID != q.id.UserID || x.tokenID != q.id.TokenID {
		fail(q.w, http.StatusNotFound, q.first(), codeInvalidRequest, "session not found: call initialize again")
		return nil, false
	}
	s.touch(q.r.Context(), x)
	return x, true
}

// sessionID is the form of ids, which connect makes.
var sessionID = regexp.MustCompile(`^[A-Z2-7]{26}$`)

// open gives the session with an id, nil when there is none (any more).
func (s *Service) open(ctx context.Context, id string) (*session, error) {
	if !sessionID.MatchString(id) {
		return nil, nil
	}
	x := s.sessions.get(id)
	if x != nil && x.believed(s.now()) {
		return x, nil
	}
	r, err := s.store.find(ctx, id)
	if err != nil {
		return nil, err
	}
	if r == nil || db.Time(r.UsedAt).Before(s.now().Add(-s.cfg.SessionIdle)) {
		if x != nil && x.revision() != "" { // not one that is being made
			s.close(x)
		}
		return nil, nil
	}
	if x == nil {
		fresh, err := s.connect(id, r)
		if err != nil {
			return nil, err
		}
		var mine bool
		if x, mine = s.sessions.put(fresh); !mine {
			_ = fresh.server.Close()
		}
	}
	x.mu.Lock()
	x.checked = s.now()
	x.mu.Unlock()
	s.follow(x, r.Subscribed)
	return x, nil
}

func (x *session) believed(now time.Time) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return now.Sub(x.checked) < recheck
}

// touch notes that a session is in use.
func (s *Service) touch(ctx context.Context, x *session) {
	now := s.now()
	x.mu.Lock()
	x.used = now
	due := now.Sub(x.touched) >= touchEvery
	if due {
		x.touched = now
	}
	x.mu.Unlock()
	if due {
		if err := s.store.exec(ctx, touchSession, db.Micros(now), x.id, db.Micros(now)); err != nil {
			s.log.WarnContext(ctx, "the use of a session could not be noted", "error", err)
		}
	}
}

// run hands a request to the session.
func (s *Service) run(q *request, x *session) {
	local, away := s.sort(q, x)
	if local == nil {
		q.w.WriteHeader(http.StatusAccepted)
		return
	}
	if away {
		q.body = local
	}
	var stream posted
	ctx, end := s.watched(q.r.Context(), q.r, x)
	defer end()
	ctx = context.WithValue(s.versioned(ctx, q.r.Header.Get(headerVersion)), postedKey{}, &stream)
	x.enter(q.messages)
	defer x.leave(q.messages, s.now)
	a := &answer{ResponseWriter: q.w, plain: !q.stream(), batch: q.batch, id: q.first(), process: s.process}
	s.hand(ctx, q, nil).serve(x.transport, a)
	complete := len(a.responses) >= calls(q.messages)
	a.finish()
	s.replay.ended(x.id, stream.id, complete && q.r.Context().Err() == nil)
}

func calls(messages []peeked) (n int) {
	for i := range messages {
		if messages[i].isCall() {
			n++
		}
	}
	return n
}

func (x *session) enter(messages []peeked) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.running++
	for i := range messages {
		if messages[i].isCall() {
			x.calls[string(messages[i].id)] = true
		}
	}
}

func (x *session) leave(messages []peeked, now func() time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.running--
	x.used = now()
	for i := range messages {
		delete(x.calls, string(messages[i].id))
	}
}

// get serves GET: the stream of what the server tells by itself.
func (s *Service) get(w http.ResponseWriter, r *http.Request) error {
	q, ok := s.read(w, r)
	if !ok {
		return nil
	}
	switch {
	case r.Header.Get(headerVersion) >= stateless:
		w.Header().Set("Allow", "POST")
		fail(w, http.StatusMethodNotAllowed, nil, codeInvalidRequest, "this revision of the protocol knows POST only")
		return nil
	case r.Method == http.MethodHead || !q.stream():
		fail(w, http.StatusNotAcceptable, nil, codeInvalidRequest, "GET gives text/event-stream: ask for it in Accept")
		return nil
	case r.Header.Get(headerSession) == "":
		fail(w, http.StatusBadRequest, nil, codeInvalidRequest, "Mcp-Session-Id is missing: call initialize first")
		return nil
	}
	x, ok := s.resume(q)
	if !ok {
		return nil
	}
	ctx, end := s.watched(r.Context(), r, x)
	defer end()
	x.enter(nil)
	defer x.leave(nil, s.now)
	x.mu.Lock()
	x.hears = listener{q.id, tokenOf(r)}
	x.mu.Unlock()
	a := &answer{ResponseWriter: w, process: s.process}
	s.hand(s.versioned(ctx, r.Header.Get(headerVersion)), q, nil).serve(x.transport, a)
	a.finish()
	return nil
}

// delete serves DELETE: the client ends its session.
func (s *Service) delete(w http.ResponseWriter, r *http.Request) error {
	q, ok := s.read(w, r)
	if !ok {
		return nil
	}
	switch {
	case r.Header.Get(headerVersion) >= stateless:
		w.Header().Set("Allow", "POST")
		fail(w, http.StatusMethodNotAllowed, nil, codeInvalidRequest, "this revision of the protocol has no sessions")
		return nil
	case r.Header.Get(headerSession) == "":
		fail(w, http.StatusBadRequest, nil, codeInvalidRequest, "Mcp-Session-Id is missing: name the session to end")
		return nil
	}
	x, ok := s.resume(q)
	if !ok {
		return nil
	}
	if err := s.store.exec(r.Context(), deleteSession, x.id); err != nil {
		return err
	}
	if err := s.store.exec(r.Context(), dropEvents, x.id); err != nil {
		return err
	}
	s.close(x)
	s.tell(tellClosed, x.id)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// close forgets a session in this process. Calls that run are ended.
func (s *Service) close(x *session) {
	s.sessions.drop(x.id)
	go func() { _ = x.server.Close() }() // waits for calls
}

// initialized stores the session that an initialize has made.
func (s *Service) initialized(ctx context.Context, req *sdk.ServerRequest[*sdk.InitializeParams], res *sdk.InitializeResult) error {
	x := s.sessions.get(req.Session.ID())
	if x == nil { // of the SDK's own, in the other era
		return nil
	}
	params, err := json.Marshal(req.Params)
	if err != nil {
		return err
	}
	now := db.Micros(s.now())
	err = s.store.insert(ctx, &record{
		ID: x.id, UserID: x.userID, TokenID: x.tokenID, Version: res.ProtocolVersion, Params: bytes.Clone(params), UsedAt: now,
	}, s.cfg.MaxSessions)
	if err == nil {
		x.mu.Lock()
		x.version = res.ProtocolVersion
		x.mu.Unlock()
	}
	return err
}
