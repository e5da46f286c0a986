// Package search is the module of search: it keeps the indexes in line with the
// content store and answers the Search API (spec.md 4.8, contract-notes 1.8).
//
// Each managed environment has one index, known by its name, by the alias of
// the environment and by managed aliases. With the embedded engine the indexes
// belong to one process, which keeps them in files and compares these with the
// store at start.
package search

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/dsl"
)

// languageVersion is what clients compare to know the query language: the
// version of Elasticsearch whose search objects are understood and whose
// answers are given. It is not the version of this program or its engine.
const languageVersion = "8.19.0"

// Service answers searches. Every method shows only what the identity in its
// context may view.
type Service struct {
	engine    search.Engine
	index     *Indexer
	scrolls   *scrolls
	ids       *scrollIDs    // of scrolls that are not in scrolls
	analyzing chan struct{} // holds a value for each text that is being analyzed
	types     port.ContentTypes
	cfg       *Config
	log       *slog.Logger
	instance  string // what the names of indexes and aliases begin with
}

// withSystem adds to a source filter that lists fields those that clients cannot
// do without (contract-notes 1.8). _contenttype is added by core/search.
func withSystem(includes []string) []string {
	if len(includes) == 0 {
		return nil
	}
	return append(slices.Clone(includes), "_version_uuid", "_sha1")
}

// Search answers a search object. Its text is refused with Invalid, an index
// that does not exist with NotFound; Unavailable means that the index is not
// ready after a start.
func (s *Service) Search(ctx context.Context, text []byte) (*search.Response, error) {
	var out *search.Response
	err := s.evaluate(ctx, text, func(ctx context.Context, t search.Target, r *search.Request) (err error) {
		r.Source.Includes = withSystem(r.Source.Includes)
		out, err = s.engine.Search(ctx, t, r)
		return err
	})
	return out, err
}

// Count gives how many documents match a search object; its size, sort and
// aggregations do not matter.
func (s *Service) Count(ctx context.Context, text []byte) (n int64, err error) {
	err = s.evaluate(ctx, text, func(ctx context.Context, t search.Target, r *search.Request) (err error) {
		n, err = s.engine.Count(ctx, t, r)
		return err
	})
	return n, err
}

func (s *Service) evaluate(ctx context.Context, text []byte, run func(context.Context, search.Target, *search.Request) error) error {
	r, err := dsl.Parse(text)
	if err != nil {
		return err
	}
	for _, w := range r.Warnings {
		s.log.InfoContext(ctx, "part of a search was left out", "warning", w)
	}
	t, err := s.target(ctx, "indices", r.Indices, r.Regex)
	if err != nil {
		return err
	}
	return s.within(ctx, func(ctx context.Context) error { return run(ctx, t, r) })
}

// retryTimeout is when a client should ask again what took too long: not at once,
// for an engine that is busy gets no better by it.
const retryTimeout = 10 * time.Second

// within runs a search with the configured limit of time.
func (s *Service) within(ctx context.Context, run func(context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, s.cfg.Timeout)
	defer cancel()
	err := run(limited)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		p := problem.Wrap(err, problem.Unavailable, "the search took longer than %s", s.cfg.Timeout).WithCode("search_timeout")
		p.RetryAfter = retryTimeout
		return p
	}
	return err
}

// target resolves names of indexes, all if there are none, and restricts them
// to what the caller may view. Unavailable until the indexes are filled.
func (s *Service) target(ctx context.Context, key string, names []string, regex string) (search.Target, error) {
	if err := s.index.searchable(); err != nil {
		return search.Target{}, err
	}
	if len(names) == 0 {
		names = []string{"*"}
	}
	indices, err := s.resolve(ctx, key, names, regex)
	if err != nil {
		return search.Target{}, err
	}
	visible, err := s.visible(ctx)
	return search.Target{Indices: indices, Types: visible}, err
}

// visible gives the content types that the caller may view.
func (s *Service) visible(ctx context.Context) ([]string, error) {
	visible, err := s.types.Visible(ctx)
	if visible == nil {
		visible = []string{} // nil would mean all
	}
	return visible, err
}

// resolve gives the indexes behind names. A name that is unknown may be so new
// that nobody has looked at the configuration since.
func (s *Service) resolve(ctx context.Context, key string, names []string, regex string) ([]string, error) {
	l, err := s.layout()
	if err != nil {
		return nil, err
	}
	indices, err := search.Resolve(l.indices, l.aliases, names, regex)
	if problem.Is(err, problem.NotFound) && s.index.unsettled.Load() {
		if err := s.index.sync(ctx); err != nil {
			return nil, err
		}
		l = s.index.layout.Load()
		indices, err = search.Resolve(l.indices, l.aliases, names, regex)
	}
	var p *problem.Problem
	if errors.As(err, &p) && p.Kind == problem.NotFound && key != "indices" && len(p.Fields) == 1 {
		return nil, problem.Field(problem.NotFound, key, "%s", p.Fields[0].Message)
	}
	return indices, err
}

// layout gives what is there to search; Unavailable right after a start.
func (s *Service) layout() (*layout, error) {
	if l := s.index.layout.Load(); l != nil {
		return l, nil
	}
	return nil, s.index.notReady()
}

// Lookup is a request for one document.
type Lookup struct {
	Index  string // index, alias or pattern
	Type   string // empty: any
	OUUID  string
	Source search.SourceFilter
}

// Document gives one document as it is published: NotFound when there is none
// that the caller may view.
func (s *Service) Document(ctx context.Context, l Lookup) (search.Hit, error) {
	t, err := s.target(ctx, "index", []string{l.Index}, "")
	if err != nil {
		return search.Hit{}, err
	}
	if l.Type != "" {
		t.Types = slices.DeleteFunc(slices.Clone(t.Types), func(name string) bool { return name != l.Type })
	}
	var hit search.Hit
	err = s.within(ctx, func(ctx context.Context) (err error) {
		hit, err = s.engine.Get(ctx, t, l.OUUID)
		return err
	})
	if err != nil {
		return hit, err
	}
	l.Source.Includes = withSystem(l.Source.Includes)
	if hit.Source, err = l.Source.Apply(hit.Source, hit.Key.Type); err != nil {
		return hit, problem.Wrap(err, problem.Internal, "the document cannot be read")
	}
	return hit, nil
}

// Refresh returns when everything that was written before can be searched. The
// name, which may be empty, must exist.
func (s *Service) Refresh(ctx context.Context, index string) error {
	if index != "" {
		if _, err := s.resolve(ctx, "index", []string{index}, ""); err != nil {
			return err
		}
	}
	limited, cancel := context.WithTimeout(ctx, s.cfg.RefreshTimeout)
	defer cancel()
	err := s.index.RefreshAll(limited)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return s.index.notReady()
	}
	return err
}

// Health is green when all is searchable, yellow when some of it is not, and
// red while the indexes are filled after a start.
func (s *Service) Health(ctx context.Context) string {
	if s.index.searchable() != nil {
		return "red"
	}
	if s.index.health(ctx) != nil {
		return "yellow"
	}
	return s.engine.Health(ctx)
}

// Indices gives the indexes behind names, sorted.
func (s *Service) Indices(ctx context.Context, key string, names []string) ([]string, error) {
	indices, err := s.resolve(ctx, key, names, "")
	if indices == nil {
		indices = []string{}
	}
	return indices, err
}

// Exists tells whether there is an index or alias of the name.
func (s *Service) Exists(ctx context.Context, name string) (bool, error) {
	indices, err := s.resolve(ctx, "index", []string{name}, "")
	if problem.Is(err, problem.NotFound) {
		return false, nil
	}
	return len(indices) > 0, err
}

// AliasesOf gives the aliases of an index, sorted.
func (s *Service) AliasesOf(ctx context.Context, index string) ([]string, error) {
	indices, err := s.resolve(ctx, "index", []string{index}, "")
	if err != nil {
		return nil, err
	}
	aliases := []string{}
	for alias, members := range s.index.layout.Load().aliases {
		if slices.ContainsFunc(members, func(m string) bool { return slices.Contains(indices, m) }) {
			aliases = append(aliases, alias)
		}
	}
	slices.Sort(aliases)
	return aliases, nil
}

// IndicesByType gives, for each content type with documents behind the names,
// the indexes that hold them.
func (s *Service) IndicesByType(ctx context.Context, names []string) (map[string][]string, error) {
	t, err := s.target(ctx, "aliases", names, "")
	if err != nil {
		return nil, err
	}
	byType := map[string][]string{}
	for _, index := range t.Indices {
		for _, name := range t.Types {
			n, err := s.engine.Count(ctx, search.Target{Indices: []string{index}, Types: []string{name}}, &search.Request{})
			if err != nil {
				return nil, err
			}
			if n > 0 {
				byType[name] = append(byType[name], index)
			}
		}
	}
	return byType, nil
}
