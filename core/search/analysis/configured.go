package analysis

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	bleve "github.com/blevesearch/bleve/v2/analysis"
)

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
