package embedded

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/analysis"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// suggestions answers the suggesters of a request from the terms of documents
// that the caller may see.
func (r *run) suggestions() ([]search.Suggestion, error) {
	var out []search.Suggestion
	for i := range r.req.Suggest {
		s := &r.req.Suggest[i]
		if err := r.ctx.Err(); err != nil {
			return nil, err
		}
		entries, err := r.suggest(s)
		if err != nil {
			return nil, err
		}
		out = append(out, search.Suggestion{Name: s.Name, Entries: entries})
	}
	return out, nil
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
	documents := int64(0)
	for _, v := range r.views {
		documents += int64(v.visible.GetCardinality())
	}
	out := []search.SuggestEntry{}
	for i, t := range tokens {
		start, end := int(t.Start), min(int(t.End), len(s.Text))
		e := search.SuggestEntry{Text: terms[i], Offset: units(s.Text[:start]), Length: units(s.Text[start:end])}
		if e.Options, err = r.options(s, terms[i], documents); err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}

func units(s string) int { return len(utf16.Encode([]rune(s))) }

// suggestAnalyzer gives what makes words of the text; nil if the field has
// whole values only.
func (r *run) suggestAnalyzer(s *search.Suggester) (*analysis.Analyzer, error) {
	if len(r.views) == 0 {
		return nil, nil
	}
	if s.Analyzer != "" {
		a, err := r.views[0].x.set.Load().Get(s.Analyzer)
		if err != nil {
			return nil, problem.Field(problem.Invalid, s.Path, "%s", problem.From(err).Detail)
		}
		return a, nil
	}
	for f := range r.named(s.Field) {
		if f.field.Family == mapping.Text {
			return f.field.Search, nil
		}
	}
	for range r.named(s.Field) {
		return nil, nil
	}
	return r.views[0].x.set.Load().Get("")
}

// options gives the best terms near a word.
func (r *run) options(s *search.Suggester, word string, documents int64) ([]search.SuggestOption, error) {
	length := utf8.RuneCountInString(word)
	if length < s.MinWord || length > maxSuggestWord {
		return nil, nil
	}
	own := r.frequency(s.Field, word)
	if own > 0 && (s.Mode == search.SuggestMissing || float64(own) > search.Share(s.MaxFreq, documents)) {
		return nil, nil
	}
	prefix := word
	if s.PrefixLength < length {
		prefix = string([]rune(word)[:s.PrefixLength])
	}
	least := search.Share(s.MinFreq, documents)
	if s.Mode == search.SuggestPopular {
		least = max(least, float64(own+1))
	}
	d := distance{to: []rune(word), most: s.MaxEdits, swap: true}
	found := map[string]int{}
	for f := range r.named(s.Field) {
		if f.field.Family.Numeric() {
			continue
		}
		for i, ord := range f.dict.prefixed(prefix) {
			if i&4095 == 4095 && r.ctx.Err() != nil {
				return nil, r.ctx.Err()
			}
			t := f.dict.term(ord)
			if n, ok := d.from(t); ok && t != word {
				found[t] = n
			}
		}
	}
	var out []search.SuggestOption
	for t, n := range found {
		score := 1 - float64(n)/float64(max(min(length, utf8.RuneCountInString(t)), 1))
		if score < s.Accuracy {
			continue
		}
		if freq := r.frequency(s.Field, t); freq > 0 && float64(freq) >= least {
			out = append(out, search.SuggestOption{Text: strings.Clone(t), Score: float64(float32(score)), Freq: freq})
		}
	}
	slices.SortFunc(out, func(a, b search.SuggestOption) int {
		near, often := cmp.Compare(b.Score, a.Score), cmp.Compare(b.Freq, a.Freq)
		if s.ByFreq {
			near, often = often, near
		}
		return cmp.Or(near, often, strings.Compare(a.Text, b.Text))
	})
	return out[:min(s.Size, len(out))], nil
}

// maxSuggestWord is the longest word, in characters, for which there are
// suggestions.
const maxSuggestWord = 64

// frequency counts the documents that the caller may see with a term in a
// field.
func (r *run) frequency(field, text string) (n int64) {
	for _, v := range r.views {
		for _, sp := range v.seg.spaces {
			if sp == nil {
				continue
			}
			for _, f := range v.families(sp, field) {
				p := f.posting(text)
				if p == nil || f.field.Family.Numeric() {
					continue
				}
				root := v.seg.root()
				if sp == root {
					n += int64(p.bitmap().AndCardinality(v.visible))
					continue
				}
				for _, doc := range sp.lift(root, p.bitmap().ToArray()) {
					if v.visible.Contains(doc) {
						n++
					}
				}
			}
		}
	}
	return n
}
