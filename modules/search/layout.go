package search

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
)

// place is the index of one environment. It is guarded by Indexer.mu.
type place struct {
	env    port.Environment
	index  string // the one that answers searches
	filled bool   // it holds every document
	// restored tells that it holds what it held when its file was written, and
	// was not compared with the store yet.
	restored bool
	// unread tells that it was found on the server, and was not compared with
	// the store yet.
	unread bool
	// pending asks for the index to be filled, or built anew.
	pending bool
	// next is the index that is being built to replace index; empty otherwise.
	next   string
	moving bool // next has another name, which the environment has got
	// asked is env as it was when the build began: what the build fulfils.
	asked port.Environment
	// made are the settings when the build began.
	made search.Settings
	// old are indexes that were replaced. They answer under their own names for
	// a while, and get the changes of documents.
	old []string
}

// wanted is the index that the environment is to have.
func (p *place) wanted() string { return cmp.Or(p.env.Next, p.env.Index) }

// layout is what searches may name. It never changes.
type layout struct {
	indices      []string            // sorted
	aliases      map[string][]string // of environments and managed ones → indices, sorted
	environments map[string]string   // index → environment, also of those that were
}

// sync brings the indexes in line with the configuration in force: it creates
// and removes indexes, sets their mapping for the documents to come and marks
// those that must be built anew.
func (ix *Indexer) sync(ctx context.Context) error {
	ix.syncing.Lock()
	defer ix.syncing.Unlock()
	config, err := readConfiguration(ctx, ix.types)
	if err != nil {
		return fmt.Errorf("read the configuration: %w", err)
	}
	environments, err := ix.types.Environments(ctx)
	if err != nil {
		return fmt.Errorf("read the environments: %w", err)
	}
	aliases, err := ix.types.Aliases(ctx)
	if err != nil {
		return fmt.Errorf("read the aliases: %w", err)
	}
	settings, same := ix.settings, ix.config != nil && ix.config.equal(config)
	if !same {
		var findings []string
		settings, findings = settingsOf(config)
		for _, f := range findings {
			if !slices.Contains(ix.findings, f) {
				ix.log.WarnContext(ctx, "search settings", "finding", f)
			}
		}
		ix.findings = findings
	}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if !same {
		if err := ix.configure(ctx, settings); err != nil {
			return err
		}
		ix.config = &config
	}
	if ix.server != nil && !ix.leading.Load() {
		err = ix.observe(ctx, environments)
	} else if err = ix.arrange(ctx, environments); err == nil {
		ix.openFilled(len(environments))
	}
	if err != nil {
		return err
	}
	ix.managed = aliases
	ix.publish(ctx)
	return nil
}

// configure gives every index the new settings and marks those whose documents
// are indexed in another way now.
func (ix *Indexer) configure(ctx context.Context, s search.Settings) error {
	types, all := changedTypes(ix.settings, s)
	if ix.server != nil && !ix.leading.Load() { // the process that makes the indexes does it
		ix.settings = s
		return nil
	}
	for _, p := range ix.places {
		for _, index := range p.names() {
			if err := ix.engine.Configure(ctx, index, s); err != nil {
				return fmt.Errorf("configure index %s: %w", index, err)
			}
		}
		affected := all
		if !all && len(types) > 0 {
			n, err := ix.engine.Count(ctx, search.Target{Indices: []string{p.index}, Types: types}, &search.Request{})
			if err != nil {
				return fmt.Errorf("count in index %s: %w", p.index, err)
			}
			affected = n > 0 || p.next != ""
		}
		p.pending = p.pending || affected
		if p.filled && !p.pending {
			ix.whole(ctx, p.index, s)
		}
	}
	ix.settings = s
	return nil
}

// arrange makes the indexes of new environments and removes those of old ones.
func (ix *Indexer) arrange(ctx context.Context, environments []port.Environment) error {
	wanted := map[string]bool{}
	for _, env := range environments {
		wanted[env.Name] = true
		p := ix.places[env.Name]
		switch {
		case p == nil:
			restored, err := ix.create(ctx, env.Index)
			if err != nil {
				if problem.Is(err, problem.Conflict) { // it will not get better, and must not hold up the others
					ix.log.ErrorContext(ctx, "an environment cannot be searched: its index has the name of another one", "environment", env.Name, "index", env.Index)
					continue
				}
				return fmt.Errorf("create index %s: %w", env.Index, err)
			}
			p = &place{env: env, index: env.Index, restored: restored}
			p.pending = !restored || env.Reindex || p.wanted() != p.index
			if err := ix.settle(ctx, p); err != nil {
				return err
			}
			ix.places[env.Name] = p
		case p.env != env:
			p.pending = p.pending || env.Reindex && !p.env.Reindex
			p.env = env
			p.pending = p.pending || p.wanted() != p.index
		}
	}
	for name, p := range ix.places {
		if wanted[name] {
			continue
		}
		for _, index := range p.names() {
			ix.drop(ctx, index)
		}
		delete(ix.places, name)
	}
	return nil
}

// names are the indexes that get the changes of documents.
func (p *place) names() []string {
	names := append(make([]string, 0, 4), p.index)
	if p.next != "" {
		names = append(names, p.next)
	}
	return append(names, p.old...)
}

// drop removes an index. One that cannot be removed only wastes memory.
func (ix *Indexer) drop(ctx context.Context, index string) {
	if err := ix.engine.Drop(ctx, index); err != nil && !problem.Is(err, problem.NotFound) {
		ix.log.WarnContext(ctx, "an old index stays", "index", index, "error", err)
	}
}

// publish lets searches see the places and aliases as they are now.
func (ix *Indexer) publish(ctx context.Context) {
	l := &layout{aliases: map[string][]string{}, environments: map[string]string{}}
	if old := ix.layout.Load(); old != nil { // a search may still run on an index that was
		maps.Copy(l.environments, old.environments)
	}
	for name, p := range ix.places {
		l.indices = append(append(l.indices, p.index), p.old...)
		for _, index := range p.names() {
			l.environments[index] = name
		}
		l.addAlias(p.env.Alias, p)
	}
	for alias, members := range ix.managed {
		l.aliases[alias] = append([]string{}, l.aliases[alias]...) // one without members exists, too
		for _, name := range members {
			l.addAlias(alias, ix.places[name])
		}
	}
	slices.Sort(l.indices)
	for alias, indices := range l.aliases {
		slices.Sort(indices)
		l.aliases[alias] = slices.Compact(indices)
	}
	ix.layout.Store(l)
	if ix.server != nil && !ix.leading.Load() {
		return
	}
	if err := ix.setAliases(ctx, l.aliases); err != nil {
		ix.log.WarnContext(ctx, "the engine did not take the aliases", "error", err)
	}
}

// addAlias adds the index of a place to an alias, unless that is its own name.
func (l *layout) addAlias(alias string, p *place) {
	if p != nil && alias != p.index {
		l.aliases[alias] = append(l.aliases[alias], p.index)
	}
}

// setAliases tells the engine, for clauses about _index that name an alias.
func (ix *Indexer) setAliases(ctx context.Context, wanted map[string][]string) error {
	have, err := ix.engine.Aliases(ctx)
	if err != nil {
		return err
	}
	var actions []search.AliasAction
	for alias, indices := range have {
		for _, index := range indices {
			if !slices.Contains(wanted[alias], index) {
				actions = append(actions, search.AliasAction{Alias: alias, Index: index, Remove: true})
			}
		}
	}
	for alias, indices := range wanted {
		for _, index := range indices {
			if !slices.Contains(have[alias], index) {
				actions = append(actions, search.AliasAction{Alias: alias, Index: index})
			}
		}
	}
	if len(actions) == 0 {
		return nil
	}
	return ix.engine.SetAliases(ctx, actions)
}
