package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/rawjson"
	"github.com/quoin-cms/quoin/core/work"
)

// channel is where processes on one PostgreSQL tell each other what concerns
// sessions. What is told is a hint, but for what stands in mcp_message.
const channel = "quoin_mcp"

// What processes tell each other: a word and what it is about.
const (
	tellClosed     = "closed"     // a session was ended
	tellSubscribed = "subscribed" // the subscriptions of a session changed
	tellMessage    = "message"    // something is there for a process
	tellCancel     = "cancel"     // session and the raw id of a call
	tellChanged    = "changed"    // topics of resources, one per line
	tellTools      = "tools"      // the lists of tools and resources
)

// tell tells the other processes. It does not wait.
func (s *Service) tell(what, about string) {
	if s.store.db.Dialect() != db.Postgres {
		return
	}
	s.running.Go(func() {
		ctx, cancel := context.WithTimeout(s.life, 5*time.Second)
		defer cancel()
		if err := s.store.db.Notify(ctx, channel, s.process+" "+what+" "+about); err != nil && s.life.Err() == nil {
			s.log.Warn("other processes could not be told", "of", what, "error", err)
		}
	})
}

// hear follows what the other processes tell, until ctx ends.
func (s *Service) hear(ctx context.Context) {
	s.store.db.Follow(ctx, channel, s.heard, func(err error) {
		s.log.Warn("nothing is heard of the sessions of other processes", "error", err)
	})
}

// heard takes in what another process told. The empty payload means that
// something may have been missed.
func (s *Service) heard(payload string) {
	if payload == "" {
		s.fetch()
		return
	}
	from, rest, _ := strings.Cut(payload, " ")
	what, about, _ := strings.Cut(rest, " ")
	if from == s.process {
		return
	}
	switch what {
	case tellClosed:
		if x := s.sessions.get(about); x != nil {
			s.close(x)
		}
	case tellSubscribed:
		if x := s.sessions.get(about); x != nil {
			s.refollow(x)
		}
	case tellMessage:
		if about == s.process {
			s.fetch()
		}
	case tellCancel:
		id, call, _ := strings.Cut(about, " ")
		if x := s.sessions.get(id); x != nil && x.runs(call) {
			s.feed(x, []byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+call+`}}`))
		}
	case tellChanged:
		s.changes.told(false, strings.Split(about, "\n")...)
	case tellTools:
		s.changes.told(true)
	}
}

// poll looks for messages while calls run here that may wait for one: what
// processes tell each other may be lost.
func (s *Service) poll(ctx context.Context) {
	for s.store.db.Dialect() == db.Postgres && ctx.Err() == nil {
		work.Pause(ctx, time.Second)
		if slices.ContainsFunc(s.sessions.list(), (*session).busy) {
			s.fetch()
		}
	}
}

// busy reports whether a call runs.
func (x *session) busy() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.calls) > 0
}

// fetch hands the messages that are there for this process to their sessions.
func (s *Service) fetch() {
	s.fetching.Lock()
	defer s.fetching.Unlock()
	ctx, cancel := context.WithTimeout(s.life, 10*time.Second)
	defer cancel()
	messages, err := s.store.take(ctx, s.process)
	if err != nil && s.life.Err() == nil {
		s.log.Warn("messages of other processes could not be read", "error", err)
	}
	for _, m := range messages {
		if x := s.sessions.get(m.session); x != nil {
			s.feed(x, m.body)
		}
	}
}

// sort sends what a request has for other processes there: answers to what they
// asked the client, and the end of calls that they run. It gives what is left
// for this process, nil for nothing, and whether that differs from the body.
func (s *Service) sort(q *request, x *session) (local []byte, changed bool) {
	var mine [][]byte
	for i := range q.messages {
		m := &q.messages[i]
		body := m.raw
		if m.response {
			process, plain := unmark(m)
			switch {
			case process == s.process:
				body, changed = plain, true
			case process != "":
				s.forward(q, process, x.id, plain)
				changed = true
				continue
			}
		} else if m.method == "notifications/cancelled" {
			s.cancelElsewhere(x, m)
		}
		mine = append(mine, body)
	}
	switch {
	case len(mine) == 0:
		return nil, true
	case !changed:
		return q.body, false
	case !q.batch:
		return mine[0], true
	}
	return append(append([]byte{'['}, bytes.Join(mine, []byte{','})...), ']'), true
}

func (s *Service) forward(q *request, process, session string, body []byte) {
	if err := s.store.post(q.r.Context(), process, session, body, s.now()); err != nil {
		s.log.WarnContext(q.r.Context(), "an answer for another process was lost", "error", err)
		return
	}
	s.tell(tellMessage, process)
}

// cancelElsewhere tells the others of a call that does not run here.
func (s *Service) cancelElsewhere(x *session, m *peeked) {
	params, _ := rawjson.Get(m.raw, "params")
	if rawjson.KindOf(params) != rawjson.Map {
		return
	}
	id, ok := rawjson.Get(params, "requestId")
	const longest = 200
	if kind := rawjson.KindOf(id); !ok || kind != rawjson.Number && kind != rawjson.Text || len(id) > longest || x.runs(string(id)) {
		return
	}
	s.tell(tellCancel, x.id+" "+string(id))
}

// runs reports whether a call runs in this process; id is raw JSON.
func (x *session) runs(id string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.calls[id]
}

// feed gives a session a message as if the client had sent it here.
func (s *Service) feed(x *session, body []byte) {
	r, err := http.NewRequestWithContext(s.life, http.MethodPost, "/api/mcp", nil)
	if err != nil { // the parts are right
		return
	}
	r.Header.Set("Content-Type", "application/json")
	q := &request{r: r, body: body, id: s.itself}
	h := s.hand(s.versioned(s.life, x.revision()), q, func(c *caller) { c.resumed = true })
	h.serve(x.transport, nowhere{})
}

// follow makes the SDK's subscriptions of a session those of its record.
func (s *Service) follow(x *session, uris []string) {
	x.mu.Lock()
	before := x.subscribed
	x.subscribed = slices.Clone(uris)
	x.mu.Unlock()
	for _, uri := range uris {
		if !slices.Contains(before, uri) {
			s.feed(x, subscription("resources/subscribe", uri))
		}
	}
	for _, uri := range before {
		if !slices.Contains(uris, uri) {
			s.feed(x, subscription("resources/unsubscribe", uri))
		}
	}
}

func subscription(method, uri string) []byte {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": "quoin-" + method + "-" + uri, "method": method, "params": map[string]string{"uri": uri}})
	if err != nil { // strings always marshal
		return nil
	}
	return body
}

// refollow is follow after another process changed the subscriptions.
func (s *Service) refollow(x *session) {
	ctx, cancel := context.WithTimeout(s.life, 10*time.Second)
	defer cancel()
	if r, err := s.store.find(ctx, x.id); err == nil && r != nil {
		s.follow(x, r.Subscribed)
	}
}
