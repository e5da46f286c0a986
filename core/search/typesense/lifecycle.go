package typesense

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
)

// staged is what an index that is being built for a name is known by.
func staged(name string) string { return name + "~" }

// Create implements search.Engine.
func (e *Engine) Create(ctx context.Context, name string, s search.Settings) error {
	if name == "" {
		return problem.Field(problem.Invalid, "index", "an index needs a name")
	}
	taken := func(now *state) error {
		if _, index := now.Indices[name]; index || now.Aliases[name] != nil {
			return problem.New(problem.Conflict, "there is an index or alias %q already", name)
		}
		return nil
	}
	return e.make(ctx, name, name, s, taken)
}

// Stage makes an empty index that is to take the place of the one with the
// name, and gives the name by which it is known until Swap. In what it answers
// it has the name it is made for. One that was staged before and not swapped is
// dropped.
func (e *Engine) Stage(ctx context.Context, name string, s search.Settings) (string, error) {
	err := e.make(ctx, staged(name), name, s, func(now *state) error {
		if _, ok := now.Indices[name]; !ok {
			return noIndex(name)
		}
		return nil
	})
	return staged(name), err
}

// make creates the collections of a generation and puts it into the catalog if
// allowed lets it.
func (e *Engine) make(ctx context.Context, key, name string, s search.Settings, allowed func(*state) error) error {
	if _, err := newGeneration(name, "", "", s); err != nil {
		return err
	}
	now, err := e.catalog.load(ctx)
	if err != nil {
		return err
	}
	if err := allowed(now); err != nil {
		return err
	}
	hash, err := e.catalog.keep(ctx, s)
	if err != nil {
		return err
	}
	main, err := e.makeCollections(ctx)
	if err != nil {
		return err
	}
	err = e.catalog.change(ctx, func(now *state) error {
		if err := allowed(now); err != nil {
			return err
		}
		now.retire(key)
		now.Indices[key] = place{Index: name, Main: main, Settings: hash, Made: hash}
		return nil
	})
	if err != nil {
		e.dropGeneration(context.WithoutCancel(ctx), main)
		return err
	}
	e.Sweep(ctx)
	return nil
}

// makeCollections creates the two collections of the next generation. Names that
// are taken are what an earlier catalog has left behind.
func (e *Engine) makeCollections(ctx context.Context) (main string, err error) {
	for range 100 {
		err = e.catalog.change(ctx, func(now *state) error {
			main = fmt.Sprintf("%s_%d", e.prefix, now.Next)
			now.Next++
			return nil
		})
		if err != nil {
			return "", err
		}
		if err = e.client.createCollection(ctx, mainSchema(main)); problem.Is(err, problem.Conflict) {
			continue
		}
		if err != nil {
			return "", err
		}
		if err = e.client.createCollection(ctx, rowsSchema(main)); err != nil {
			e.dropGeneration(context.WithoutCancel(ctx), main)
			return "", err
		}
		return main, nil
	}
	return "", err
}

// dropGeneration removes the collections of a generation, that of the rows
// first: rows without their documents make joins fail.
func (e *Engine) dropGeneration(ctx context.Context, main string) bool {
	for _, name := range []string{rowsOf(main), main} {
		if err := e.client.dropCollection(ctx, name); err != nil {
			e.log.WarnContext(ctx, "an old collection stays", "collection", name, "error", err)
			return false
		}
	}
	return true
}

// Swap puts the index staged for the name in the place of the one that has it,
// which is gone then. Searches see one or the other; those that run finish.
func (e *Engine) Swap(ctx context.Context, name string) error {
	err := e.catalog.change(ctx, func(now *state) error {
		p, ok := now.Indices[staged(name)]
		if _, there := now.Indices[name]; !ok || !there {
			return problem.New(problem.NotFound, "no index is staged for %q", name)
		}
		now.retire(name)
		p.Filled = p.Made
		now.Indices[name] = p
		delete(now.Indices, staged(name))
		return nil
	})
	if err != nil {
		return err
	}
	e.Sweep(ctx)
	return nil
}

// Configure implements search.Engine.
func (e *Engine) Configure(ctx context.Context, name string, s search.Settings) error {
	now, err := e.catalog.load(ctx)
	if err != nil {
		return err
	}
	if _, ok := now.Indices[name]; !ok {
		return noIndex(name)
	}
	if _, err := newGeneration(name, "", "", s); err != nil {
		return err
	}
	hash, err := e.catalog.keep(ctx, s)
	if err != nil || now.Indices[name].Settings == hash {
		return err
	}
	return e.catalog.change(ctx, func(now *state) error {
		p, ok := now.Indices[name]
		if !ok {
			return noIndex(name)
		}
		p.Settings = hash
		now.Indices[name] = p
		return nil
	})
}

// Holdings is what is known of an index.
type Holdings struct {
	There   bool // it exists
	Whole   bool // it was filled with every document
	Current bool // it was, in the form that the settings ask for
}

// Holds tells what there is under the name. What one process has filled, all
// others need not.
func (e *Engine) Holds(ctx context.Context, name string, s search.Settings) (h Holdings, err error) {
	now, err := e.catalog.load(ctx)
	if err != nil {
		return h, err
	}
	hash, _, err := hashOf(s)
	p, there := now.Indices[name]
	return Holdings{There: there, Whole: there && p.Filled != "", Current: there && p.Filled == hash}, err
}

// Filled notes that the index holds every document in the form that the
// settings ask for.
func (e *Engine) Filled(ctx context.Context, name string, s search.Settings) error {
	now, err := e.catalog.load(ctx)
	if err != nil {
		return err
	}
	hash, _, err := hashOf(s)
	if err != nil || now.Indices[name].Filled == hash {
		return err
	}
	return e.catalog.change(ctx, func(now *state) error {
		p, ok := now.Indices[name]
		if !ok {
			return noIndex(name)
		}
		p.Filled = hash
		now.Indices[name] = p
		return nil
	})
}

// Documents gives the key and Ref of every document of an index, to compare with
// what it should have.
func (e *Engine) Documents(ctx context.Context, name string, each func(key search.Key, ref int64) error) error {
	g, err := e.open(ctx, name)
	if err != nil {
		return err
	}
	return e.client.export(ctx, g.main, "", fieldKey+","+fieldRef, func(line []byte) error {
		var row struct {
			Key string `json:"_key"`
			Ref int64  `json:"_ref"`
		}
		if err := json.Unmarshal(line, &row); err != nil {
			return fmt.Errorf("a row of %s: %w", g.main, err)
		}
		kind, ouuid, _ := strings.Cut(row.Key, ":")
		return each(search.Key{Type: kind, OUUID: ouuid}, row.Ref)
	})
}

// Staged gives the name of the index that some process is building to replace
// the one with the name; empty when there is none. Documents are to be applied
// to both.
func (e *Engine) Staged(ctx context.Context, name string) (string, error) {
	now, err := e.catalog.load(ctx)
	if err != nil {
		return "", err
	}
	if _, ok := now.Indices[staged(name)]; ok {
		return staged(name), nil
	}
	return "", nil
}

// Drop implements search.Engine.
func (e *Engine) Drop(ctx context.Context, name string) error {
	err := e.catalog.change(ctx, func(now *state) error {
		if _, ok := now.Indices[name]; !ok {
			return noIndex(name)
		}
		now.retire(name)
		delete(now.Indices, name)
		for alias, members := range now.Aliases {
			now.setAlias(alias, slices.DeleteFunc(slices.Clone(members), func(m string) bool { return m == name }))
		}
		return nil
	})
	if err != nil {
		return err
	}
	e.Sweep(ctx)
	return nil
}

// SetAliases implements search.Engine.
func (e *Engine) SetAliases(ctx context.Context, actions []search.AliasAction) error {
	return e.catalog.change(ctx, func(now *state) error {
		for _, a := range actions {
			if _, ok := now.Indices[a.Index]; !ok {
				return noIndex(a.Index)
			}
			if _, index := now.Indices[a.Alias]; index || a.Alias == "" {
				return problem.New(problem.Conflict, "%q cannot be an alias", a.Alias)
			}
			members := slices.DeleteFunc(slices.Clone(now.Aliases[a.Alias]), func(m string) bool { return m == a.Index })
			if !a.Remove {
				members = append(members, a.Index)
				slices.Sort(members)
			}
			now.setAlias(a.Alias, members)
		}
		return nil
	})
}

// Aliases implements search.Engine.
func (e *Engine) Aliases(ctx context.Context) (map[string][]string, error) {
	now, err := e.catalog.load(ctx)
	if err != nil {
		return nil, err
	}
	out := make(map[string][]string, len(now.Aliases))
	for alias, members := range now.Aliases {
		out[alias] = slices.Clone(members)
	}
	return out, nil
}

// Indices implements search.Engine.
func (e *Engine) Indices(ctx context.Context) ([]string, error) {
	now, err := e.catalog.load(ctx)
	if err != nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(now.Indices)), nil
}

func (s *state) setAlias(alias string, members []string) {
	if len(members) == 0 {
		delete(s.Aliases, alias)
		return
	}
	s.Aliases[alias] = members
}

// retire notes that the generation behind a name is to be dropped, once no
// process looks for it any more.
func (s *state) retire(name string) {
	if p, ok := s.Indices[name]; ok {
		s.Retired[p.Main] = time.Now().Unix()
	}
}
