package search

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/problem"
)

const (
	watchEvery = 50 * time.Millisecond
	// hopeless is how long a build may fail before those who wait for it are
	// told; it is tried again all the same.
	hopeless = 20 * time.Second
)

// Built is what became of an environment.
type Built struct {
	Environment string `json:"environment"`
	Index       string `json:"index"`
	Documents   int64  `json:"documents"`
}

// Rebuild makes a new index for an environment and puts it into the place of
// the old one when it holds every document. Searches and writes go on; that an
// index is wanted survives a restart. progress gets how many documents are read
// and about how many there are; it may be nil. It returns when the new index
// is in force. NotFound for an environment that does not exist.
//
// The process must hold the index; others use Ask.
func (s *Service) Rebuild(ctx context.Context, environment string, progress func(done, total int64)) (*Built, error) {
	index, err := s.index.names.Renew(ctx, environment)
	if err != nil {
		return nil, err
	}
	return s.await(ctx, environment, progress, func(e port.Environment) bool { return e.Next != index })
}

// Reindex indexes every document of an environment again, in the index that it
// has. It is as Rebuild in everything else.
func (s *Service) Reindex(ctx context.Context, environment string, progress func(done, total int64)) (*Built, error) {
	if err := s.index.names.Reindex(ctx, environment); err != nil {
		return nil, err
	}
	return s.await(ctx, environment, progress, func(e port.Environment) bool { return !e.Reindex })
}

// await returns when an environment is as it should be.
func (s *Service) await(ctx context.Context, environment string, progress func(done, total int64), done func(port.Environment) bool) (*Built, error) {
	ix := s.index
	tell(ix.now)
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for failing := (time.Time{}); ; {
		all, err := s.types.Environments(ctx)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(all, func(e port.Environment) bool { return e.Name == environment })
		if i < 0 {
			return nil, problem.New(problem.NotFound, "the environment %q was removed", environment)
		}
		if progress != nil {
			progress(ix.stats.done.Load(), max(ix.stats.total.Load(), ix.stats.done.Load()))
		}
		if done(all[i]) {
			return &Built{environment, all[i].Index, ix.stats.done.Load()}, nil
		}
		switch err := ix.stats.failure(); {
		case err == nil:
			failing = time.Time{}
		case failing.IsZero():
			failing = time.Now()
		case time.Since(failing) > hopeless:
			return nil, problem.Wrap(err, problem.Unavailable, "the index cannot be built at the moment, it is tried again until it can: %s", cmp.Or(problem.From(err).Detail, err.Error()))
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Orphans removes the indexes that no environment refers to and gives their
// names: those that a rebuild has replaced, and what processes that died have
// left behind in a search server.
func (s *Service) Orphans(ctx context.Context) ([]string, error) {
	ix := s.index
	if err := ix.searchable(); err != nil {
		return nil, err
	}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	have, err := ix.engine.Indices(ctx)
	if err != nil {
		return nil, err
	}
	removed := []string{}
	for _, index := range have {
		if strings.HasPrefix(index, s.instance) && !ix.refersTo(index) {
			removed = append(removed, index)
		}
	}
	for _, p := range ix.places {
		p.old = nil
	}
	ix.publish(ctx)
	for _, index := range removed {
		ix.drop(ctx, index)
	}
	ix.sweepFiles(ctx)
	return removed, nil
}

// refersTo tells whether an environment needs an index. The caller holds mu.
func (ix *Indexer) refersTo(index string) bool {
	for _, p := range ix.places {
		if index == p.index || index == p.next {
			return true
		}
	}
	return false
}

// Finding is something that is not as the configuration says.
type Finding struct {
	Subject  string `json:"subject"` // an environment or alias
	Problem  string `json:"problem"`
	Repaired bool   `json:"repaired"`
}

// CheckAliases compares the indexes and aliases of the engine with the
// configuration. With repair it makes indexes that are missing and sets aliases
// right.
func (s *Service) CheckAliases(ctx context.Context, repair bool) ([]Finding, error) {
	ix := s.index
	if err := ix.sync(ctx); err != nil {
		return nil, err
	}
	environments, err := s.types.Environments(ctx)
	if err != nil {
		return nil, err
	}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	indices, err := ix.engine.Indices(ctx)
	if err != nil {
		return nil, err
	}
	found := []Finding{}
	for _, env := range environments {
		p := ix.places[env.Name]
		switch {
		case p == nil:
			found = append(found, Finding{env.Name, "its index " + env.Index + " has the name of another one", false})
		case !slices.Contains(indices, p.index):
			f := Finding{env.Name, "its index " + p.index + " is missing", false}
			if repair {
				if err := ix.engine.Create(ctx, p.index, ix.settings); err != nil {
					return found, err
				}
				p.filled, p.pending, f.Repaired = false, true, true
				tell(ix.now)
			}
			found = append(found, f)
		}
	}
	wrong, err := ix.wrongAliases(ctx)
	if err != nil || len(wrong) == 0 || !repair {
		return append(found, wrong...), err
	}
	ix.publish(ctx)
	left, err := ix.wrongAliases(ctx)
	for _, f := range wrong {
		f.Repaired = err == nil && !slices.ContainsFunc(left, func(l Finding) bool { return l.Subject == f.Subject })
		found = append(found, f)
	}
	return found, err
}

// wrongAliases compares the aliases of the engine with those that there should
// be. The caller holds mu.
func (ix *Indexer) wrongAliases(ctx context.Context) (found []Finding, err error) {
	have, err := ix.engine.Aliases(ctx)
	if err != nil {
		return nil, err
	}
	wanted := ix.layout.Load().aliases
	for alias, indices := range wanted {
		if !slices.Equal(have[alias], indices) {
			found = append(found, Finding{alias, fmt.Sprintf("it points at [%s] and should point at [%s]", strings.Join(have[alias], " "), strings.Join(indices, " ")), false})
		}
	}
	for alias := range have {
		if _, ok := wanted[alias]; !ok {
			found = append(found, Finding{alias, "nothing in the configuration has this name", false})
		}
	}
	slices.SortFunc(found, func(a, b Finding) int { return cmp.Compare(a.Subject, b.Subject) })
	return found, nil
}

// Ask runs one of the functions of this file, or another one that needs the
// index, in the process that holds it: this one, or the running server. It
// leaves the answer in answer.
func (s *Service) Ask(ctx context.Context, what string, argument, answer any, progress func(string)) error {
	raw, err := json.Marshal(argument)
	if err != nil {
		return err
	}
	if progress == nil {
		progress = func(string) {}
	}
	if !s.index.started.Load() {
		raw, err = s.index.away.ask(ctx, what, json.RawMessage(raw), progress)
	} else if out, failed := s.perform(ctx, what, raw, progress); failed == nil {
		raw, err = json.Marshal(out)
	} else {
		err = failed
	}
	if err != nil || answer == nil {
		return err
	}
	return json.Unmarshal(raw, answer)
}

// The things that can be asked for.
const (
	askRebuild = "rebuild"
	askReindex = "reindex"
	askOrphans = "orphans"
	askCheck   = "check"
	askChanged = "changed"
)

// question is the argument of what can be asked for.
type question struct {
	Environment string          `json:"environment,omitempty"`
	Repair      bool            `json:"repair,omitempty"`
	Keys        []port.Key      `json:"keys,omitempty"`
	Query       json.RawMessage `json:"query,omitempty"`
	Search      string          `json:"search,omitempty"`
}

// perform implements performer.
func (s *Service) perform(ctx context.Context, what string, argument json.RawMessage, progress func(string)) (any, error) {
	var q question
	if err := json.Unmarshal(argument, &q); err != nil {
		return nil, problem.Wrap(err, problem.Invalid, "the request cannot be read")
	}
	counted := func(done, total int64) {
		progress(fmt.Sprintf("%s: %d of about %d documents", q.Environment, done, total))
	}
	switch what {
	case askRebuild:
		return s.Rebuild(ctx, q.Environment, counted)
	case askReindex:
		return s.Reindex(ctx, q.Environment, counted)
	case askOrphans:
		return s.Orphans(ctx)
	case askCheck:
		return s.CheckAliases(ctx, q.Repair)
	case askDrift:
		return s.Drift(ctx)
	case askFind:
		return s.keys(ctx, q.Environment, q.Query)
	case askExplain:
		return s.Explain(ctx, []byte(q.Search))
	case askChanged:
		s.index.queue.mark(q.Keys...)
		return nil, s.index.Refresh(ctx, q.Keys)
	}
	return nil, problem.New(problem.Invalid, "the server does not know the request %q: is it of another version?", what)
}
