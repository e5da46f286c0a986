package analysis

import (
	"bytes"
	"strings"

	bleve "github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/analysis/char/asciifolding"
	"github.com/blevesearch/bleve/v2/analysis/token/apostrophe"
	"github.com/blevesearch/bleve/v2/analysis/token/edgengram"
	"github.com/blevesearch/bleve/v2/analysis/token/elision"
	"github.com/blevesearch/bleve/v2/analysis/token/keyword"
	"github.com/blevesearch/bleve/v2/analysis/token/length"
	"github.com/blevesearch/bleve/v2/analysis/token/lowercase"
	"github.com/blevesearch/bleve/v2/analysis/token/ngram"
	"github.com/blevesearch/bleve/v2/analysis/token/porter"
	"github.com/blevesearch/bleve/v2/analysis/token/reverse"
	"github.com/blevesearch/bleve/v2/analysis/token/shingle"
	"github.com/blevesearch/bleve/v2/analysis/token/stop"
	"github.com/blevesearch/bleve/v2/analysis/token/truncate"
)

// filterFunc is a token filter that looks at one term at a time.
type filterFunc func(term []byte) []byte

// Filter implements Bleve's interface of a token filter.
func (f filterFunc) Filter(in bleve.TokenStream) bleve.TokenStream {
	for _, t := range in {
		t.Term = f(t.Term)
	}
	return in
}

// unique drops tokens that were there at the same position, or anywhere
// before.
type unique struct{ samePosition bool }

// Filter implements Bleve's interface of a token filter.
func (u unique) Filter(in bleve.TokenStream) bleve.TokenStream {
	type key struct {
		term string
		pos  int
	}
	seen := make(map[key]bool, len(in))
	out := in[:0]
	for _, t := range in {
		k := key{term: string(t.Term)}
		if u.samePosition {
			k.pos = t.Position
		}
		if !seen[k] {
			seen[k] = true
			out = append(out, t)
		}
	}
	return out
}

// foldCase makes a filter that ignores case when it looks up words.
type foldCase struct{ words bleve.TokenMap }

// Filter implements Bleve's interface of a token filter.
func (f foldCase) Filter(in bleve.TokenStream) bleve.TokenStream {
	out := in[:0]
	for _, t := range in {
		if !f.words[strings.ToLower(string(t.Term))] {
			out = append(out, t)
		}
	}
	return out
}

func words(list []string) bleve.TokenMap {
	m := bleve.NewTokenMap()
	for _, w := range list {
		m.AddToken(w)
	}
	return m
}

// tokenFilter makes the filter of a type with its options. A nil filter does
// nothing. known is false for types that do not exist here.
func (s *Set) tokenFilter(kind string, o *options) (f bleve.TokenFilter, known bool) {
	switch kind {
	case "standard", "flatten_graph", "classic":
		return nil, true
	case "lowercase":
		return lowercase.NewLowerCaseFilter(), true
	case "uppercase":
		return filterFunc(bytes.ToUpper), true
	case "trim":
		return filterFunc(bytes.TrimSpace), true
	case "asciifolding":
		if o.flag("preserve_original", false) {
			o.fail("preserve_original is not supported")
		}
		return filterFunc(asciifolding.New().Filter), true
	case "stop":
		return s.stop(o), true
	case "stemmer":
		return s.stemmer(o, o.text("name", o.text("language", "english"))), true
	case "snowball":
		return s.snowball(o, o.text("language", "English")), true
	case "porter_stem", "porterStem":
		return porter.NewPorterStemmer(), true
	case "elision":
		return s.elision(o), true
	case "apostrophe":
		return apostrophe.NewApostropheFilter(), true
	case "length":
		return length.NewLengthFilter(o.number("min", 0, 0, 1<<20), o.number("max", 1<<20, 0, 1<<20)), true
	case "truncate":
		return truncate.NewTruncateTokenFilter(o.number("length", 10, 1, 1<<20)), true
	case "unique":
		return unique{o.flag("only_on_same_position", false)}, true
	case "remove_duplicates":
		return unique{true}, true
	case "reverse":
		return reverse.NewReverseFilter(), true
	case "keyword_marker":
		return keyword.NewKeyWordMarkerFilter(words(o.list("keywords"))), true
	case "shingle":
		return shingles(o), true
	case "edge_ngram", "edgeNGram":
		least, most := gramSizes(o, true)
		return edgengram.NewEdgeNgramFilter(edgengram.FRONT, least, most), true
	case "ngram", "nGram":
		return ngram.NewNgramFilter(gramSizes(o, false)), true
	case "german_normalization":
		return s.bleveFilter("normalize_de"), true
	case "arabic_normalization":
		return s.bleveFilter("normalize_ar"), true
	case "persian_normalization":
		return s.bleveFilter("normalize_fa"), true
	case "hindi_normalization":
		return s.bleveFilter("normalize_hi"), true
	case "cjk_width", "cjk_bigram":
		return s.bleveFilter(kind), true
	}
	return nil, false
}

// gramSizes reads min_gram and max_gram. Pieces from everywhere in a word must
// not have too many different sizes, as there are so many of them.
func gramSizes(o *options, edge bool) (least, most int) {
	least, most = o.number("min_gram", 1, 1, 255), o.number("max_gram", 2, 1, 255)
	if most < least || !edge && most-least > 4 {
		o.fail("max_gram must not be below min_gram, and for ngram not more than 4 above it")
	}
	return least, most
}

func shingles(o *options) bleve.TokenFilter {
	least, most := o.number("min_shingle_size", 2, 2, 10), o.number("max_shingle_size", 2, 2, 10)
	if most < least {
		o.fail("max_shingle_size is below min_shingle_size")
	}
	return shingle.NewShingleFilter(least, most, o.flag("output_unigrams", true),
		o.text("token_separator", " "), o.text("filler_token", "_"))
}

func (s *Set) stop(o *options) bleve.TokenFilter {
	list := o.list("stopwords")
	fold := o.flag("ignore_case", false)
	o.flag("remove_trailing", true) // matters to suggesters only
	if list == nil {
		list = []string{"_english_"}
	}
	m := bleve.NewTokenMap()
	for _, w := range list {
		if len(w) < 3 || w[0] != '_' || w[len(w)-1] != '_' {
			if fold {
				w = strings.ToLower(w)
			}
			m.AddToken(w)
			continue
		}
		named, ok := s.stopWords(w[1 : len(w)-1])
		if !ok {
			o.fail("the stop words %s are not known", w)
		}
		for word := range named {
			m.AddToken(word)
		}
	}
	if fold {
		return foldCase{m}
	}
	return stop.NewStopTokensFilter(m)
}

func (s *Set) elision(o *options) bleve.TokenFilter {
	list := o.list("articles")
	if list == nil {
		list = strings.Fields("l m t qu n s j d c jusqu quoiqu lorsqu puisqu")
	}
	if o.flag("articles_case", false) {
		lower := make([]string, 0, 2*len(list))
		for _, a := range list {
			lower = append(lower, strings.ToLower(a), strings.ToUpper(a))
		}
		list = lower
	}
	return elision.NewElisionFilter(words(list))
}
