package webhook

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/problem"
)

// believed is how long the rights of an owner are remembered.
const believed = time.Second

// directory knows the subscriptions that hear of events, and what their owners
// may see. It reads them again when any process has changed one.
type directory struct {
	store      *store
	identities port.Identities
	content    port.ContentTypes
	catalogue  *catalogue
	now        func() time.Time

	mu      sync.Mutex
	version int64
	active  []*Subscription
	views   map[string]view // by owner
}

// view is what an owner may see.
type view struct {
	at    time.Time
	id    *auth.Identity // nil: the account may not use the API any more
	types []string
}

func newDirectory(st *store, o *Options, c *catalogue) *directory {
	return &directory{store: st, identities: o.Identities, content: o.Content, catalogue: c, now: o.Now, views: map[string]view{}}
}

// current gives the subscriptions that are enabled.
func (d *directory) current(ctx context.Context) ([]*Subscription, error) {
	version, err := d.store.version(ctx)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if version == d.version {
		return d.active, nil
	}
	all, err := d.store.list(ctx)
	if err != nil {
		return nil, err
	}
	d.active = slices.DeleteFunc(all, func(s *Subscription) bool { return !s.Enabled })
	d.version = version
	return d.active, nil
}

// mayHear tells whether the owner of a subscription may hear of an event: of
// nothing that the API would not tell the same user. One about a document needs
// the right to view its content type, one about a subscription that to manage it.
func (d *directory) mayHear(ctx context.Context, s *Subscription, ev *event.Event) (bool, error) {
	v, err := d.view(ctx, s.Owner)
	if err != nil || v.id == nil {
		return false, err
	}
	if t := d.catalogue.of(ev.Type); event.Internal(ev.Type) && !v.id.Has(auth.RoleAdmin) || t != nil && !open(t, v.id) {
		return false, nil
	}
	if ev.Type == eventDisabled {
		id, _ := text(ev.Data, "subscription")
		about, err := d.store.one(ctx, id)
		return mine(v.id, about), err
	}
	kind, about := text(ev.Data, "content_type")
	return !about || event.Internal(ev.Type) || slices.Contains(v.types, kind), nil
}

// mayView tells whether the identity of ctx may view the document that the body
// of a call tells of, if it does.
func (d *directory) mayView(ctx context.Context, body []byte) (bool, error) {
	kind, about := text(dataOf(body), "content_type")
	if !about || d.content == nil {
		return !about, nil
	}
	types, err := d.content.Visible(ctx)
	return slices.Contains(types, kind), err
}

func (d *directory) view(ctx context.Context, owner string) (view, error) {
	now := d.now()
	d.mu.Lock()
	v, ok := d.views[owner]
	d.mu.Unlock()
	if age := now.Sub(v.at); ok && age >= 0 && age < believed {
		return v, nil
	}
	v = view{at: now}
	id, err := d.identities.Identity(ctx, owner)
	switch {
	case problem.Is(err, problem.NotFound), problem.Is(err, problem.Forbidden): // sees nothing any more
	case err != nil:
		return view{}, err
	case id.Has(auth.RoleAPI):
		v.id = id
		if d.content != nil {
			if v.types, err = d.content.Visible(auth.With(ctx, id)); err != nil {
				return view{}, err
			}
		}
	}
	d.mu.Lock()
	d.views[owner] = v
	d.mu.Unlock()
	return v, nil
}
