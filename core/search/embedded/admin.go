package embedded

import (
	"context"
	"maps"
	"slices"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
)

// Create implements search.Engine.
func (e *Engine) Create(_ context.Context, name string, s search.Settings) error {
	return e.create(name, s, false)
}

func (e *Engine) create(name string, s search.Settings, restored bool) error {
	e.change.Lock()
	defer e.change.Unlock()
	old := e.catalog.Load()
	if name == "" {
		return problem.Field(problem.Invalid, "index", "an index needs a name")
	}
	if _, taken := old.aliases[name]; taken || old.indices[name] != nil {
		return problem.New(problem.Conflict, "there is an index or alias %q already", name)
	}
	x, err := newIndex(name, s, e.policy)
	if err != nil {
		return err
	}
	x.path = e.policy.fileOf(name)
	if restored {
		if err := x.restore(); err != nil {
			return err
		}
	}
	fresh := &catalog{indices: maps.Clone(old.indices), aliases: old.aliases}
	if fresh.indices == nil {
		fresh.indices = map[string]*index{}
	}
	fresh.indices[name] = x
	e.catalog.Store(fresh)
	return nil
}

// Configure implements search.Engine.
func (e *Engine) Configure(_ context.Context, name string, s search.Settings) error {
	x, err := e.catalog.Load().index(name)
	if err != nil {
		return err
	}
	x.writer.Lock()
	defer x.writer.Unlock()
	return x.configure(s)
}

// Drop implements search.Engine.
func (e *Engine) Drop(_ context.Context, name string) error {
	e.change.Lock()
	defer e.change.Unlock()
	old := e.catalog.Load()
	x, err := old.index(name)
	if err != nil {
		return err
	}
	fresh := &catalog{indices: maps.Clone(old.indices), aliases: map[string][]string{}}
	delete(fresh.indices, name)
	for alias, members := range old.aliases {
		kept := slices.DeleteFunc(slices.Clone(members), func(m string) bool { return m == name })
		if len(kept) > 0 {
			fresh.aliases[alias] = kept
		}
	}
	e.catalog.Store(fresh)
	x.close()
	e.policy.removeFile(x.path)
	return nil
}

// SetAliases implements search.Engine.
func (e *Engine) SetAliases(_ context.Context, actions []search.AliasAction) error {
	e.change.Lock()
	defer e.change.Unlock()
	old := e.catalog.Load()
	fresh := &catalog{indices: old.indices, aliases: maps.Clone(old.aliases)}
	if fresh.aliases == nil {
		fresh.aliases = map[string][]string{}
	}
	for _, a := range actions {
		if _, err := fresh.index(a.Index); err != nil {
			return err
		}
		if a.Alias == "" || fresh.indices[a.Alias] != nil {
			return problem.New(problem.Conflict, "%q cannot be an alias", a.Alias)
		}
		members := slices.DeleteFunc(slices.Clone(fresh.aliases[a.Alias]), func(m string) bool { return m == a.Index })
		if !a.Remove {
			members = append(members, a.Index)
			slices.Sort(members)
		}
		if len(members) == 0 {
			delete(fresh.aliases, a.Alias)
		} else {
			fresh.aliases[a.Alias] = members
		}
	}
	e.catalog.Store(fresh)
	return nil
}

// Aliases implements search.Engine.
func (e *Engine) Aliases(context.Context) (map[string][]string, error) {
	out := map[string][]string{}
	for alias, members := range e.catalog.Load().aliases {
		out[alias] = slices.Clone(members)
	}
	return out, nil
}

// Indices implements search.Engine.
func (e *Engine) Indices(context.Context) ([]string, error) {
	return slices.Sorted(maps.Keys(e.catalog.Load().indices)), nil
}
