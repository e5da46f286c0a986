package search

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/port"
)

// patterns are the events that change an index.
func patterns() []string {
	return []string{"content.*", "environment.new_index.*", "config.*", "manage_alias.update.*"}
}

// subscription is how the index follows this process: it lives here and is made
// from the store at start, so an event that was not heard is no loss.
func subscription(ix *Indexer) []event.Live {
	if ix.server != nil {
		return []event.Live{{Name: "search", Patterns: patterns(), Deliver: ix.deliverConfig}}
	}
	return []event.Live{{Name: "search", Patterns: patterns(), Deliver: ix.deliver}}
}

// indexed tells whether an index depends on a kind of configuration: it stands
// before the colon in the subject of an event.
func indexed(kind string) bool {
	switch kind {
	case "content-type", "environment", "managed-alias", "analyzer", "filter", "form":
		return true
	}
	return false
}

// isContent tells whether events of a type are about documents.
func isContent(name string) bool { return strings.HasPrefix(name, "content.") }

// deliver notes what events are about. It runs on the goroutine that writes to
// the database, so it loads nothing.
func (ix *Indexer) deliver(events []event.Event) {
	changed := false
	for i := range events {
		kind, name, ok := strings.Cut(events[i].Subject, ":")
		switch {
		case !ok:
		case isContent(events[i].Type):
			ix.queue.mark(port.Key{Type: kind, OUUID: name})
		case indexed(kind):
			changed = true
		}
	}
	if changed {
		ix.configChanged()
	}
}

// handle is deliver for the events of other processes.
func (ix *Indexer) handle(_ context.Context, events []event.Event) error {
	ix.deliver(events)
	return nil
}

// watchConfig is how often the configuration is compared with what is known.
const watchConfig = time.Second

// watch looks for changes of environments and aliases that this process did
// not hear of: on SQLite the command line changes them without a word.
func (ix *Indexer) watch(ctx context.Context) {
	var environments []port.Environment
	var aliases map[string][]string
	tick := time.NewTicker(watchConfig)
	defer tick.Stop()
	for first := true; ; first = false {
		e, err := ix.types.Environments(ctx)
		a, failed := ix.types.Aliases(ctx)
		if err == nil && failed == nil {
			if !first && !(slices.Equal(e, environments) && maps.EqualFunc(a, aliases, slices.Equal)) {
				ix.configChanged()
			}
			environments, aliases = e, a
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
