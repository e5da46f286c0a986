package embedded

import (
	"context"
	"maps"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
)

// staged is what an index that is being built for a name is known by.
func staged(name string) string { return name + "~" }

// Stage makes an empty index that is to take the place of the one with the
// name, and gives the name by which it is known until Swap. In what it answers
// it has the name it is made for. One that was staged before and not swapped is
// dropped.
func (e *Engine) Stage(_ context.Context, name string, s search.Settings) (string, error) {
	e.change.Lock()
	defer e.change.Unlock()
	old := e.catalog.Load()
	if _, err := old.index(name); err != nil {
		return "", err
	}
	x, err := newIndex(name, s, e.policy)
	if err != nil {
		return "", err
	}
	fresh := &catalog{indices: maps.Clone(old.indices), aliases: old.aliases}
	if before := old.indices[staged(name)]; before != nil {
		before.close()
	}
	fresh.indices[staged(name)] = x
	e.catalog.Store(fresh)
	return staged(name), nil
}

// Swap puts the index staged for the name in the place of the one that has it,
// which is gone then. Searches see one or the other; those that run finish.
func (e *Engine) Swap(_ context.Context, name string) error {
	e.change.Lock()
	defer e.change.Unlock()
	old := e.catalog.Load()
	x := old.indices[staged(name)]
	if x == nil || old.indices[name] == nil {
		return problem.New(problem.NotFound, "no index is staged for %q", name)
	}
	fresh := &catalog{indices: maps.Clone(old.indices), aliases: old.aliases}
	fresh.indices[name] = x
	delete(fresh.indices, staged(name))
	e.catalog.Store(fresh)
	old.indices[name].close()
	x.keepAs(e.policy.fileOf(name)) // it replaces the file of the old one
	return nil
}
