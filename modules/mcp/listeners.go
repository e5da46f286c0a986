package mcp

import (
	"context"
	"slices"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/problem"
)

// listener is who hears of changes: the stream of a session, or a request that
// listens in the era without sessions.
type listener struct {
	identity *auth.Identity
	token    string // may be used again to learn what the identity has become
}

// listeners are the requests that listen in the era without sessions.
type listeners struct {
	mu  sync.Mutex
	all map[*sdk.ServerSession]*listening
}

type listening struct {
	listener

	uris []string
}

// add notes a request that listens, until the function is called.
func (l *listeners) add(ss *sdk.ServerSession, who *listening) (remove func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil {
		l.all = map[*sdk.ServerSession]*listening{}
	}
	l.all[ss] = who
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.all, ss)
	}
}

// listen serves subscriptions/listen, which lasts as long as the client likes.
func (s *Service) listen(ctx context.Context, req *sdk.SubscriptionsListenRequest, next sdk.MethodHandler) (sdk.Result, error) {
	who := &listening{}
	if c := callerOf(req); c != nil {
		who.listener = listener{c.identity, c.token}
	}
	if req.Params != nil && req.Params.Notifications != nil {
		who.uris = req.Params.Notifications.ResourceSubscriptions
	}
	if len(who.uris) > maxSubscriptions {
		return nil, problem.New(problem.TooManyRequests, "one request listens to %d resources at most", maxSubscriptions)
	}
	defer s.listeners.add(req.Session, who)()
	return next(ctx, "subscriptions/listen", req)
}

// followed are the addresses that agents of this process follow.
func (s *Service) followed() []string {
	var list []string
	for _, x := range s.sessions.list() {
		x.mu.Lock()
		list = append(list, x.subscribed...)
		x.mu.Unlock()
	}
	s.listeners.mu.Lock()
	for _, who := range s.listeners.all {
		list = append(list, who.uris...)
	}
	s.listeners.mu.Unlock()
	slices.Sort(list)
	return slices.Compact(list)
}

// listenerOf gives who hears what is sent to a session of the SDK.
func (s *Service) listenerOf(ss *sdk.ServerSession) listener {
	if x := s.sessions.get(ss.ID()); x != nil && ss.ID() != "" {
		x.mu.Lock()
		defer x.mu.Unlock()
		return x.hears
	}
	s.listeners.mu.Lock()
	defer s.listeners.mu.Unlock()
	if who := s.listeners.all[ss]; who != nil {
		return who.listener
	}
	return listener{}
}

// send is on the way of everything that the server says by itself: news of a
// resource go to those who may read it at this moment.
func (s *Service) send(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		p, news := req.GetParams().(*sdk.ResourceUpdatedNotificationParams)
		ss, ours := req.GetSession().(*sdk.ServerSession)
		if news && ours && !s.isFixture(p.URI) && !s.mayHear(ctx, s.listenerOf(ss), p.URI) {
			return nil, nil
		}
		return next(ctx, method, req)
	}
}

// mayHear reports whether somebody may hear that a resource has changed: who
// may read it, or could do so before it was gone.
func (s *Service) mayHear(ctx context.Context, who listener, uri string) bool {
	const longest = 5 * time.Second // others wait
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	id, err := s.identify(ctx, who)
	if err != nil || id == nil {
		return false
	}
	ctx = auth.With(ctx, id)
	_, err = s.contents(ctx, uri)
	switch {
	case err == nil || problem.Is(err, problem.TooLarge):
		return true
	case !problem.Is(err, problem.NotFound):
		if problem.From(err).Kind == problem.Internal {
			s.log.WarnContext(ctx, "an agent is not told of a change", "uri", uri, "error", err)
		}
		return false
	}
	a, ours := parseAddress(uri)
	if !ours || a.kind != aDocument && a.kind != aPublished {
		return false
	}
	m, err := s.menu(ctx)
	return err == nil && m.find(a.contentType) != nil
}

// identify tells who somebody is by now.
func (s *Service) identify(ctx context.Context, who listener) (*auth.Identity, error) {
	if s.authenticator == nil || who.token == "" {
		return who.identity, nil
	}
	id, err := s.authenticator.Authenticate(ctx, who.token)
	if err == nil && !id.Has(auth.RoleAPI) {
		err = problem.New(problem.Forbidden, "the role %s is needed", auth.RoleAPI)
	}
	return id, err
}
