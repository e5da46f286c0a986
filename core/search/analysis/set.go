package analysis

import (
	"encoding/json"
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

// configured makes an analyzer of the settings: a custom one, or a built-in
// one with options.
func (s *Set) configured(name string, raw json.RawMessage) (*Analyzer, error) {
	o, err := readOptions(fmt.Sprintf("analyzer %q", name), raw)
	if err != nil {
		return nil, err
	}
	kind := o.text("type", "custom")
	if kind != "custom" {
		a := s.builtIn(kind)
		if a == nil {
			return nil, fmt.Errorf("analyzer %q: the type %q is not supported", name, kind)
		}
		if _, given := o.m["stopwords"]; given {
			a.filters = append([]bleve.TokenFilter{s.stop(o)}, a.filters...)
		}
		return a, o.done()
	}
	a := &Analyzer{}
	if a.token, err = s.tokenizerNamed(o.text("tokenizer", "standard")); err != nil {
		return nil, err
	}
	for _, f := range o.list("char_filter") {
		cf, err := s.charFilterNamed(f)
		if err != nil {
			return nil, err
		}
		a.chars = append(a.chars, cf)
	}
	for _, f := range o.list("filter") {
		if err := s.addFilter(a, f); err != nil {
			return nil, err
		}
	}
	o.get("position_increment_gap") // gaps between values are always 100
	return a, o.done()
}

// addFilter appends a filter to the chain of an analyzer.
func (s *Set) addFilter(a *Analyzer, name string) error {
	kind, raw := name, json.RawMessage("{}")
	if given, ok := s.settings.Filters[name]; ok {
		raw, kind = given, ""
	}
	o, err := readOptions(fmt.Sprintf("filter %q", name), raw)
	if err != nil {
		return err
	}
	if kind == "" {
		kind = o.text("type", "")
	}
	if kind == "lowercase" && len(a.filters) == 0 {
		a.lower = true // the tokenizer does it on its way
		return nil
	}
	if kind == "synonym" || kind == "synonym_graph" {
		return s.addSynonyms(a, o)
	}
	f, known := s.tokenFilter(kind, o)
	if !known {
		return fmt.Errorf("filter %q: the type %q is not supported", name, kind)
	}
	if f != nil {
		a.filters = append(a.filters, f)
	}
	return o.done()
}

func (s *Set) addSynonyms(a *Analyzer, o *options) error {
	lines := o.list("synonyms")
	expand := o.flag("expand", true)
	o.flag("lenient", false) // a rule of which nothing is left is always skipped
	o.flag("updateable", false)
	if format := o.text("format", "solr"); format != "solr" {
		o.fail("the format %q is not supported", format)
	}
	before := &Analyzer{chars: a.chars, token: a.token, lower: a.lower, filters: a.filters}
	syn, err := newSynonyms(lines, expand, func(phrase string) [][]byte {
		terms, _ := before.Terms(phrase)
		out := make([][]byte, len(terms))
		for i, t := range terms {
			out[i] = []byte(t)
		}
		return out
	})
	if err != nil {
		o.fail("%s", err)
	}
	a.filters = append(a.filters[:len(a.filters):len(a.filters)], syn)
	return o.done()
}

func (s *Set) tokenizerNamed(name string) (tokenizer, error) {
	kind, raw := name, json.RawMessage("{}")
	if given, ok := s.settings.Tokenizers[name]; ok {
		raw, kind = given, ""
	}
	o, err := readOptions(fmt.Sprintf("tokenizer %q", name), raw)
	if err != nil {
		return nil, err
	}
	if kind == "" {
		kind = o.text("type", "")
	}
	t := makeTokenizer(kind, o)
	if t == nil {
		o.fail("the type %q is not supported", kind)
	}
	return t, o.done()
}

func makeTokenizer(kind string, o *options) tokenizer {
	switch kind {
	case "standard", "classic":
		o.number("max_token_length", maxTokenLength, maxTokenLength, maxTokenLength)
		return standard
	case "keyword":
		o.get("buffer_size")
		return whole
	case "whitespace":
		return runs(notSpace)
	case "letter":
		return runs(unicode.IsLetter)
	case "lowercase":
		letters := runs(unicode.IsLetter)
		return func(b *Buffer, text []byte, _ bool) { letters(b, text, true) }
	case "pattern":
		return split(o.expression("pattern", `\W+`))
	case "path_hierarchy":
		d := o.text("delimiter", "/")
		if len(d) != 1 {
			o.fail("delimiter must be one character")
			return whole
		}
		return hierarchy(d[0])
	case "ngram", "nGram", "edge_ngram", "edgeNGram":
		in, ok := charClass(o.list("token_chars"))
		if !ok {
			o.fail("token_chars are not known")
		}
		least, most := gramSizes(o, kind[0] == 'e')
		return grams(in, least, most, kind[0] == 'e')
	}
	return nil
}

func (s *Set) charFilterNamed(name string) (charFilter, error) {
	kind, raw := name, json.RawMessage("{}")
	if given, ok := s.settings.CharFilters[name]; ok {
		raw, kind = given, ""
	}
	o, err := readOptions(fmt.Sprintf("char_filter %q", name), raw)
	if err != nil {
		return nil, err
	}
	if kind == "" {
		kind = o.text("type", "")
	}
	var f charFilter
	switch kind {
	case "html_strip":
		if len(o.list("escaped_tags")) > 0 {
			o.fail("escaped_tags is not supported")
		}
		f = htmlStrip
	case "mapping":
		f = mapping(pairs(o))
	case "pattern_replace":
		f = patternReplace(o.expression("pattern", ""), o.text("replacement", ""))
	default:
		o.fail("the type %q is not supported", kind)
	}
	return f, o.done()
}

// pairs reads mappings such as "ph => f".
func pairs(o *options) map[string]string {
	table := map[string]string{}
	for _, line := range o.list("mappings") {
		from, to, ok := strings.Cut(line, "=>")
		if from = strings.TrimSpace(from); !ok || from == "" {
			o.fail("%q is no mapping", line)
		}
		table[from] = strings.TrimSpace(to)
	}
	return table
}
