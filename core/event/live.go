package event

import (
	"errors"
	"fmt"
	"slices"

	"github.com/quoin-cms/quoin/core/work"
)

// Live is a subscriber that lives and dies with this process. Nothing is kept
// for it.
type Live struct {
	// Name is for messages.
	Name     string
	Patterns []string
	// Deliver is called after each commit with the events of the transaction
	// that fit, never twice at the same time, and in the order of commits on
	// SQLite. Commits wait for it: it must only take the events in and leave.
	// It must not change the events, nor use the database.
	Deliver func([]Event)
}

func (l Live) check() error {
	if l.Name == "" || l.Deliver == nil {
		return fmt.Errorf("event: the live subscriber %q needs a name and a function", l.Name)
	}
	return checkPatterns(l.Name, l.Patterns)
}

func checkPatterns(name string, patterns []string) error {
	if len(patterns) == 0 {
		return fmt.Errorf("event: the subscriber %q has no patterns", name)
	}
	var errs []error
	for _, p := range patterns {
		if err := checkPattern(p); err != nil {
			errs = append(errs, fmt.Errorf("event: the subscriber %q: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

// deliverLive tells a live subscriber. A panic there must not end the writer.
func (b *Bus) deliverLive(l Live, events []Event) {
	foreign := func(ev Event) bool { return !matchAny(l.Patterns, ev.Type) }
	if slices.ContainsFunc(events, foreign) {
		events = slices.DeleteFunc(slices.Clone(events), foreign)
	}
	if len(events) == 0 {
		return
	}
	b.liveMu.Lock()
	defer b.liveMu.Unlock()
	if err := work.Protect(func() error { l.Deliver(events); return nil }); err != nil {
		b.o.Log.Error("a live subscriber failed", "subscriber", l.Name, "error", err)
	}
}
