package mcp

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"sync"
	"time"
)

// replay keeps the messages of streams that a client may ask for again
// (Last-Event-ID). It implements the SDK's EventStore. While the client listens
// they are only in memory; once it is gone they are stored, so that it may ask
// any process. The stream that belongs to no call is not kept.
type replay struct {
	store *store
	log   *slog.Logger
	now   func() time.Time

	mu  sync.Mutex
	all map[streamKey]*kept
}

type streamKey struct{ session, stream string }

type kept struct {
	bodies [][]byte
	stored bool // the client is gone: every message goes into the database
	since  time.Time
}

// posted takes the name of the stream that the SDK opens for a POST.
type posted struct{ id string }

type postedKey struct{}

// maxKept bounds the messages of one stream.
const maxKept = 1000

var errForgotten = errors.New("the messages are not kept any more")

// Open implements mcp.EventStore.
func (p *replay) Open(ctx context.Context, session, stream string) error {
	if stream == "" {
		return nil
	}
	if to, ok := ctx.Value(postedKey{}).(*posted); ok {
		to.id = stream
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all[streamKey{session, stream}] = &kept{}
	return nil
}

// Append implements mcp.EventStore.
func (p *replay) Append(ctx context.Context, session, stream string, data []byte) error {
	p.mu.Lock()
	k := p.all[streamKey{session, stream}]
	if k == nil || len(k.bodies) == maxKept {
		p.mu.Unlock()
		return nil
	}
	k.bodies = append(k.bodies, data)
	at, stored := len(k.bodies)-1, k.stored
	p.mu.Unlock()
	if stored {
		return p.store.keepEvent(context.WithoutCancel(ctx), session, stream, at, data, p.now())
	}
	return nil
}

// After implements mcp.EventStore.
func (p *replay) After(ctx context.Context, session, stream string, index int) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		if stream == "" {
			return
		}
		bodies, err := p.after(ctx, session, stream, index)
		for _, b := range bodies {
			if !yield(b, nil) {
				return
			}
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

func (p *replay) after(ctx context.Context, session, stream string, index int) ([][]byte, error) {
	p.mu.Lock()
	k := p.all[streamKey{session, stream}]
	if k != nil {
		defer p.mu.Unlock()
		if index+1 > len(k.bodies) {
			return nil, errForgotten
		}
		return k.bodies[index+1:], nil
	}
	p.mu.Unlock()
	_, bodies, err := p.store.events(ctx, session, stream, -1)
	if err != nil {
		return nil, err
	}
	if len(bodies) == 0 || index+1 > len(bodies) {
		return nil, errForgotten
	}
	return bodies[index+1:], nil
}

// SessionClosed implements mcp.EventStore. A session may be closed here and go
// on, also here: its streams are forgotten when their requests end.
func (p *replay) SessionClosed(context.Context, string) error { return nil }

// forget drops what was stored before a time from memory.
func (p *replay) forget(before time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, k := range p.all {
		if k.stored && k.since.Before(before) {
			delete(p.all, key)
		}
	}
}

// ended is told when the HTTP request of a stream ends: with everything said
// and received the messages are forgotten, otherwise they are stored.
func (p *replay) ended(session, stream string, complete bool) {
	key := streamKey{session, stream}
	p.mu.Lock()
	k := p.all[key]
	if k == nil || complete || k.stored {
		delete(p.all, key)
		p.mu.Unlock()
		return
	}
	k.stored, k.since = true, p.now()
	bodies := k.bodies
	p.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second) //nolint:forbidigo // the request is over, what it left must be kept
	defer cancel()
	for i, b := range bodies {
		if err := p.store.keepEvent(ctx, session, stream, i, b, p.now()); err != nil {
			p.log.Warn("a message that its client may ask for again was lost", "error", err)
			return
		}
	}
}
