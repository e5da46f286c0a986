package analysis

import (
	"fmt"
	"strings"
	"sync"
	"unicode"

	bleve "github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/analysis/token/shingle"
	"github.com/blevesearch/bleve/v2/registry"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
)

// Set holds the analyzers of an index: those that are built in and those of
// its settings. Built-in ones are made when they are first asked for. It is
// safe for concurrent use.
type Set struct {
	settings search.Settings
	cache    *registry.Cache

	mu   sync.Mutex
	made map[string]*Analyzer
}

// NewSet makes the analyzers of the settings. What is unknown or not supported
// is problem.Invalid.
func NewSet(s search.Settings) (*Set, error) {
	set := &Set{settings: s, made: map[string]*Analyzer{}}
	if len(s.Analyzers) == 0 {
		return set, nil
	}
	for name, raw := range s.Analyzers {
		if _, err := set.Get(name); err != nil {
			return nil, problem.Field(problem.Invalid, "analyzers."+name, "%s (options %.200s)", problem.From(err).Detail, raw)
		}
	}
	return set, nil
}

// Get gives the analyzer with the name, "" meaning standard. There being none
// is problem.Invalid.
func (s *Set) Get(name string) (*Analyzer, error) {
	if name == "" {
		name = "standard"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.made[name]; a != nil {
		return a, nil
	}
	if s.cache == nil {
		s.cache = registry.NewCache()
	}
	a, err := s.make(name)
	if err != nil {
		return nil, problem.New(problem.Invalid, "%s", err)
	}
	a.name = name
	s.made[name] = a
	return a, nil
}

// Shingled gives the analyzer base followed by a filter that makes pairs (n is
// 2) or triples (3) of words, for fields of the kind search_as_you_type.
func (s *Set) Shingled(base *Analyzer, n int) *Analyzer {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := fmt.Sprintf("%s._%dgram", base.name, n)
	if a := s.made[name]; a != nil {
		return a
	}
	a := *base
	a.name = name
	a.filters = append(base.filters[:len(base.filters):len(base.filters)], shingle.NewShingleFilter(n, n, false, " ", "_"))
	s.made[name] = &a
	return &a
}

func (s *Set) make(name string) (*Analyzer, error) {
	if raw, ok := s.settings.Analyzers[name]; ok {
		return s.configured(name, raw)
	}
	if a := s.builtIn(name); a != nil {
		return a, nil
	}
	return nil, fmt.Errorf("there is no analyzer %q", name)
}

func (s *Set) builtIn(name string) *Analyzer {
	switch name {
	case "standard", "default":
		return &Analyzer{token: standard, lower: true}
	case "simple":
		return &Analyzer{token: runs(unicode.IsLetter), lower: true}
	case "whitespace":
		return &Analyzer{token: runs(notSpace)}
	case "keyword":
		return &Analyzer{token: whole}
	case "stop":
		return &Analyzer{token: runs(unicode.IsLetter), lower: true, filters: []bleve.TokenFilter{
			foldCase{words(strings.Fields(englishStops))}}}
	}
	if codes(name) != "" {
		return s.language(name)
	}
	return nil
}
