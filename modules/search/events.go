package search

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/port"
)

// patterns are the events that change an index.
var patterns = []string{"content.*", "environment.new_index.*", "config.*", "manage_alias.update.*"}

// subscription is how the index follows this process: it lives here and is made
// from the store at start, so an event that was not heard is no loss.
func subscription(ix *Indexer) []event.Live {
	return []event.Live{{Name: "search", Patterns: patterns, Deliver: ix.deliver}}
}

// indexedKinds are the kinds of configuration that an index depends on; they
// stand before the colon in the subject of an event.
var indexedKinds = []string{"content-type", "environment", "managed-alias", "analyzer", "filter", "form"}

// deliver notes what events are about. It runs on the goroutine that writes to
// the database, so it loads nothing.
func (ix *Indexer) deliver(events []event.Event) {
	ix.own.add(events)
	ix.note(events)
}

// handle is deliver for events of any process, told by a durable subscription.
// Those of this process are known already.
func (ix *Indexer) handle(_ context.Context, events []event.Event) error {
	ix.note(ix.own.without(events))
	return nil
}

func (ix *Indexer) note(events []event.Event) {
	changed := false
	for i := range events {
		kind, name, ok := strings.Cut(events[i].Subject, ":")
		switch {
		case !ok:
		case strings.HasPrefix(events[i].Type, "content."):
			ix.queue.mark(port.Key{Type: kind, OUUID: name})
		case slices.Contains(indexedKinds, kind):
			changed = true
		}
	}
	if changed {
		ix.configChanged()
	}
}

// maxOwn bounds how many events of this process are remembered until their
// durable delivery comes. One that was forgotten is applied twice, no more.
const maxOwn = 100_000

// seen remembers the ids of events. It is switched off while limit is 0.
type seen struct {
	mu    sync.Mutex
	limit int
	ids   map[int64]struct{}
}

func (s *seen) add(events []event.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.limit == 0 {
		return
	}
	if s.ids == nil || len(s.ids) > s.limit {
		s.ids = map[int64]struct{}{}
	}
	for i := range events {
		s.ids[events[i].ID] = struct{}{}
	}
}

// without gives the events that were not added, and forgets the others.
func (s *seen) without(events []event.Event) (strange []event.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range events {
		if _, ok := s.ids[events[i].ID]; ok {
			delete(s.ids, events[i].ID)
		} else {
			strange = append(strange, events[i])
		}
	}
	return strange
}
