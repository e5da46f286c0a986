package mcp

import (
	"context"
	"net/http"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/work"
)

// lookEvery is how often it is looked whether the caller of a long request may
// still be served.
const lookEvery = 3 * time.Second

// watched gives the context of a request: it ends with the request, with the
// server, and when the token, its user or the session is ended meanwhile.
func (s *Service) watched(ctx context.Context, r *http.Request, x *session) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.life, cancel)
	who := listener{token: tokenOf(r)}
	var look *time.Timer
	look = time.AfterFunc(time.Hour, func() {
		if ctx.Err() != nil {
			return
		}
		if !s.stillWelcome(ctx, who, x) {
			cancel()
			return
		}
		look.Reset(lookEvery)
	})
	look.Reset(lookEvery) // look is set by now
	return ctx, func() { look.Stop(); stop(); cancel() }
}

func (s *Service) stillWelcome(ctx context.Context, who listener, x *session) bool {
	if _, err := s.identify(ctx, who); problem.Is(err, problem.Unauthenticated) || problem.Is(err, problem.Forbidden) {
		return false
	}
	if x == nil {
		return true
	}
	if x.revision() == "" {
		return true
	}
	there, err := s.open(ctx, x.id)
	if there != nil {
		s.touch(ctx, there)
	}
	return err != nil || there == x
}

// tokenOf reads the token as core/web does.
func tokenOf(r *http.Request) string {
	if t := r.Header.Get("X-Auth-Token"); t != "" {
		return t
	}
	scheme, t, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if strings.EqualFold(scheme, "Bearer") {
		return strings.TrimSpace(t)
	}
	return ""
}

// versioned adds the value under which the SDK's handler hands the protocol
// version of the header to the transport. The key is the SDK's own, so the value
// comes from contexts that its handler made.
func (s *Service) versioned(ctx context.Context, version string) context.Context {
	if donor := s.donors[version]; donor != nil {
		return borrowed{ctx, donor}
	}
	return ctx
}

type borrowed struct {
	context.Context
	donor context.Context
}

// Value implements context.Context.
func (b borrowed) Value(key any) any {
	if v := b.Context.Value(key); v != nil {
		return v
	}
	return b.donor.Value(key)
}

// donorsOf makes a context for each version.
func donorsOf(ctx context.Context, server *sdk.Server, versions []string) map[string]context.Context {
	all := map[string]context.Context{}
	for _, v := range versions {
		var last context.Context
		h := sdk.NewStreamableHTTPHandler(func(r *http.Request) *sdk.Server {
			if last != nil { // the second time the version is in the context
				last = r.Context()
				return nil
			}
			last = r.Context()
			return server
		}, nil)
		r, _ := http.NewRequestWithContext(ctx, http.MethodPost, "/", strings.NewReader("{}")) // the parts are right
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", bothKinds)
		r.Header.Set(headerVersion, v)
		h.ServeHTTP(nowhere{}, r)
		all[v] = last
	}
	return all
}

// forget closes sessions in memory that nobody has used for a while, every
// minute until ctx ends. They go on when they are used again.
func (s *Service) forget(ctx context.Context) {
	for {
		work.Pause(ctx, time.Minute)
		if ctx.Err() != nil {
			return
		}
		now := s.now()
		s.replay.forget(now.Add(-keptFor))
		for _, x := range s.sessions.list() {
			x.mu.Lock()
			idle := x.running == 0 && now.Sub(x.used) >= forgetAfter
			x.mu.Unlock()
			if idle {
				s.close(x)
			}
		}
	}
}

// keptFor is how long answers are kept for a client that lost its stream.
const keptFor = 10 * time.Minute

// sweepEvery is how often that is done.
const sweepEvery = 10 * time.Minute

// sweep deletes what nobody will ask for any more.
func (s *Service) sweep(ctx context.Context) error {
	now := s.now()
	return s.store.sweep(ctx, now.Add(-s.cfg.SessionIdle), now.Add(-keptFor))
}

// nowhere takes answers that nobody reads.
type nowhere struct{}

// Header implements http.ResponseWriter.
func (nowhere) Header() http.Header { return http.Header{} }

// Write implements http.ResponseWriter.
func (nowhere) Write(b []byte) (int, error) { return len(b), nil }

// WriteHeader implements http.ResponseWriter.
func (nowhere) WriteHeader(int) {}
