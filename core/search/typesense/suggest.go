package typesense

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/analysis"
	"github.com/quoin-cms/quoin/core/search/mapping"
	"github.com/quoin-cms/quoin/core/search/words"
)

// maxSuggestWord is the longest word, in characters, for which there are
// suggestions.
const maxSuggestWord = 64

// suggestions answers the suggesters of a request from the terms of documents
// that the caller may see.
func (r *run) suggestions() ([]search.Suggestion, error) {
	if len(r.req.Suggest) == 0 {
		return nil, nil
	}
	out := make([]search.Suggestion, len(r.req.Suggest))
	err := r.each(len(out), func(i int) (err error) {
		s := &r.req.Suggest[i]
		out[i].Name = s.Name
		out[i].Entries, err = r.suggest(s)
		return err
	})
	return out, err
}

func (r *run) suggest(s *search.Suggester) ([]search.SuggestEntry, error) {
	analyzer, err := r.suggestAnalyzer(s)
	if err != nil {
		return nil, err
	}
	terms, tokens := []string{s.Text}, []analysis.Token{{End: uint32(len(s.Text))}}
	if analyzer != nil {
		terms, tokens = analyzer.Terms(s.Text)
	}
	sets := make([]set, len(r.views))
	for i, v := range r.views {
		sets[i] = set{v, v.root(), v.visible}
	}
	documents, err := r.count(sets)
	if err != nil {
		return nil, err
	}
	out := make([]search.SuggestEntry, len(tokens))
	err = r.each(len(tokens), func(i int) (err error) {
		start, end := int(tokens[i].Start), min(int(tokens[i].End), len(s.Text))
		e := &out[i]
		*e = search.SuggestEntry{Text: terms[i], Offset: units(s.Text[:start]), Length: units(s.Text[start:end])}
		e.Options, err = r.options(s, terms[i], documents)
		return err
	})
	return out, err
}

func units(s string) int { return len(utf16.Encode([]rune(s))) }

// suggestAnalyzer gives what makes words of the text; nil if the field has
// whole values only.
func (r *run) suggestAnalyzer(s *search.Suggester) (*analysis.Analyzer, error) {
	if len(r.views) == 0 {
		return nil, nil
	}
	first := r.views[0].gen
	if s.Analyzer != "" {
		a, err := first.analyzer(s.Analyzer)
		if err != nil {
			return nil, problem.Field(problem.Invalid, s.Path, "%s", problem.From(err).Detail)
		}
		return a, nil
	}
	fields := r.named(s.Field)
	for _, f := range fields {
		if f.Family == mapping.Text {
			return f.Search, nil
		}
	}
	if len(fields) > 0 {
		return nil, nil
	}
	return first.analyzer("")
}

// options gives the best terms near a word.
func (r *run) options(s *search.Suggester, word string, documents int64) ([]search.SuggestOption, error) {
	length := utf8.RuneCountInString(word)
	if length < s.MinWord || length > maxSuggestWord {
		return nil, nil
	}
	own, err := r.seen(s.Field, word)
	if err != nil || own > 0 && (s.Mode == search.SuggestMissing || float64(own) > search.Share(s.MaxFreq, documents)) {
		return nil, err
	}
	least := search.Share(s.MinFreq, documents)
	if s.Mode == search.SuggestPopular {
		least = math.Max(least, float64(own+1))
	}
	d := words.Distance{To: []rune(word), Most: s.MaxEdits, Swap: true}
	near, err := r.near(s, word, &d)
	if err != nil {
		return nil, err
	}
	found := make([]search.SuggestOption, len(near))
	err = r.each(len(near), func(i int) (err error) {
		n, _ := d.From(near[i])
		score := 1 - float64(n)/float64(max(min(length, utf8.RuneCountInString(near[i])), 1))
		if score < s.Accuracy {
			return nil
		}
		found[i] = search.SuggestOption{Text: near[i], Score: float64(float32(score))}
		found[i].Freq, err = r.seen(s.Field, near[i])
		return err
	})
	found = slices.DeleteFunc(found, func(o search.SuggestOption) bool { return o.Freq == 0 || float64(o.Freq) < least })
	slices.SortFunc(found, func(a, b search.SuggestOption) int {
		score, freq := cmp.Compare(b.Score, a.Score), cmp.Compare(b.Freq, a.Freq)
		if s.ByFreq {
			score, freq = freq, score
		}
		return cmp.Or(score, freq, strings.Compare(a.Text, b.Text))
	})
	return found[:min(s.Size, len(found))], err
}

// near gives the terms of the field that are near a word, but not the word.
func (r *run) near(s *search.Suggester, word string, d *words.Distance) ([]string, error) {
	prefix := word
	if runes := []rune(word); s.PrefixLength < len(runes) {
		prefix = string(runes[:s.PrefixLength])
	}
	is := func(term string) bool {
		own := *d
		_, ok := own.From(term)
		return ok && term != word && strings.HasPrefix(term, prefix)
	}
	q := &search.Clause{Name: "suggest", Path: s.Path}
	found := map[string]bool{}
	for _, v := range r.views {
		for _, sp := range v.spaces {
			for _, c := range v.columns(sp, s.Field) {
				var list []string
				var err error
				switch {
				case c.Field.Family.Numeric():
				case c.Field.Family == mapping.Text && !c.Field.Listed:
					list, err = r.typos(alike{v, sp, c}, word, d.Most, is, q)
				default:
					list, err = r.terms(v, sp, c, prefix, q, is)
				}
				if err != nil {
					return nil, err
				}
				for _, t := range list {
					found[t] = true
				}
			}
		}
	}
	return sortedKeys(found), nil
}

// seen counts the documents that the caller may see with a term in a field.
func (r *run) seen(field, text string) (int64, error) {
	var sets []set
	for _, v := range r.views {
		for _, sp := range v.spaces {
			for _, c := range v.columns(sp, field) {
				if c.Field.Family.Numeric() {
					continue
				}
				has := ofTerms(c, []string{text})
				if sp.Parent != nil {
					has = &having{v.root(), sp, has}
				}
				sets = append(sets, set{v, v.root(), both(v.visible, has)})
			}
		}
	}
	return r.count(sets)
}
