package dsl

import (
	"github.com/quoin-cms/quoin/core/search"
)

// maxSuggesters is how many suggestions a request may ask for, and maxSuggest
// how long a text may be, in bytes.
const (
	maxSuggesters = 32
	maxSuggest    = 2048
)

// suggest reads {"text":…, name: {"text":…, "term":{…}}}.
func (p *parser) suggest(n *node) error {
	o, err := open(n)
	if err != nil {
		return err
	}
	shared, err := o.text("text", "")
	if err != nil {
		return err
	}
	for i, name := range o.keys {
		if name == "text" {
			continue
		}
		if len(p.r.Suggest) >= maxSuggesters {
			return n.bad("more than %d suggestions", maxSuggesters)
		}
		one, err := open(o.kids[i])
		if err != nil {
			return err
		}
		s, err := suggester(one, shared)
		if err != nil {
			return err
		}
		s.Name = name
		p.r.Suggest = append(p.r.Suggest, *s)
	}
	return nil
}

func suggester(o *object, shared string) (*search.Suggester, error) {
	for _, kind := range []string{"phrase", "completion"} {
		if n := o.get(kind); n != nil {
			return nil, n.bad("the suggester %q is not supported; use term", kind)
		}
	}
	n := o.get("term")
	if n == nil {
		return nil, o.bad("a suggestion needs the suggester %q", "term")
	}
	s := &search.Suggester{Path: n.path()}
	var err error
	if s.Text, err = o.text("text", shared); err != nil {
		return nil, err
	}
	in, err := open(n)
	if err != nil {
		return nil, err
	}
	if s.Text, err = in.text("text", s.Text); err != nil {
		return nil, err
	}
	if s.Text == "" || len(s.Text) > maxSuggest {
		return nil, o.bad("a suggestion needs the parameter %q with up to %d bytes", "text", maxSuggest)
	}
	if err := termSuggester(in, s); err != nil {
		return nil, err
	}
	if err := in.done("term suggester"); err != nil {
		return nil, err
	}
	return s, o.done("suggest")
}

func termSuggester(o *object, s *search.Suggester) (err error) {
	if s.Field, err = o.must("field", "the term suggester"); err != nil {
		return err
	}
	if len(s.Field) > maxName {
		return o.bad("a field name is longer than %d bytes", maxName)
	}
	if s.Analyzer, err = o.text("analyzer", ""); err != nil {
		return err
	}
	sort, err := suggestWord(o, "sort", "score", "frequency")
	if err != nil {
		return err
	}
	s.ByFreq = sort == "frequency"
	mode, err := suggestWord(o, "suggest_mode", "missing", "popular", "always")
	if err != nil {
		return err
	}
	s.Mode = search.SuggestMode(mode)
	if _, err := suggestWord(o, "string_distance", "internal", "damerau_levenshtein"); err != nil {
		return err
	}
	for _, in := range []struct {
		to              *int
		names           []string
		normal, low, up int
	}{{&s.Size, []string{"size"}, 5, 1, 1000}, {&s.MaxEdits, []string{"max_edits"}, 2, 1, 2},
		{&s.PrefixLength, []string{"prefix_length", "prefix_len"}, 1, 0, maxName}, {&s.MinWord, []string{"min_word_length", "min_word_len"}, 4, 1, maxName}} {
		*in.to = in.normal
		for _, name := range in.names {
			if *in.to, err = o.whole(name, *in.to, in.low, in.up); err != nil {
				return err
			}
		}
	}
	for name, in := range map[string]struct {
		to       *float64
		fallback float64
	}{"min_doc_freq": {&s.MinFreq, 0}, "max_term_freq": {&s.MaxFreq, 0.01}, "accuracy": {&s.Accuracy, 0.5}} {
		if *in.to, err = o.float(name, in.fallback); err == nil && *in.to < 0 {
			err = o.get(name).bad("a number not below 0 is expected")
		}
		if err != nil {
			return err
		}
	}
	o.get("shard_size", "max_inspections") // how to compute, not what
	return nil
}

// suggestWord reads a parameter that is one of the words, the first unless
// given.
func suggestWord(o *object, name string, words ...string) (string, error) {
	text, err := o.text(name, words[0])
	for _, w := range words {
		if w == text {
			return text, err
		}
	}
	if err == nil {
		err = o.get(name).bad("%s must be one of %q", name, words)
	}
	return "", err
}
