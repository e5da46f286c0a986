package search

import (
	"math"
	"strconv"

	"github.com/quoin-cms/quoin/core/search/internal/jsonx"
)

// Suggester asks for terms of a field that are near the words of a text.
type Suggester struct {
	Path     string // in the JSON of the request
	Name     string
	Text     string
	Field    string
	Analyzer string // name; empty means the search analyzer of the field
	Size     int    // of each word
	ByFreq   bool   // the most frequent first, else the nearest
	Mode     SuggestMode
	// A suggestion differs by up to MaxEdits (1 or 2) letters, but not in the
	// first PrefixLength. Words shorter than MinWord have none.
	MaxEdits, PrefixLength, MinWord int
	// MinFreq is in how many documents a suggestion must be, MaxFreq in how many
	// a word may be to have suggestions: numbers, or below 1 a part of all.
	MinFreq, MaxFreq float64
	Accuracy         float64 // the least score of a suggestion, from 0 to 1
}

// SuggestMode says which words have suggestions.
type SuggestMode string

// The modes. SuggestPopular gives terms that are more frequent than the word.
const (
	SuggestMissing SuggestMode = "missing"
	SuggestPopular SuggestMode = "popular"
	SuggestAlways  SuggestMode = "always"
)

// Suggestion answers a Suggester.
type Suggestion struct {
	Name    string
	Entries []SuggestEntry
}

// SuggestEntry is one word of the text. Offset and Length are in UTF-16 units.
type SuggestEntry struct {
	Text           string
	Offset, Length int
	Options        []SuggestOption
}

// SuggestOption is a term near a word, and in how many documents it is.
type SuggestOption struct {
	Text  string
	Score float64
	Freq  int64
}

func appendSuggestions(dst []byte, all []Suggestion) []byte {
	return list(dst, true, len(all), func(dst []byte, i int) []byte {
		dst = append(jsonx.AppendString(dst, all[i].Name), ':')
		return list(dst, false, len(all[i].Entries), func(dst []byte, k int) []byte { return all[i].Entries[k].append(dst) })
	})
}

func (e *SuggestEntry) append(dst []byte) []byte {
	dst = jsonx.AppendString(append(dst, `{"text":`...), e.Text)
	dst = strconv.AppendInt(append(dst, `,"offset":`...), int64(e.Offset), 10)
	dst = strconv.AppendInt(append(dst, `,"length":`...), int64(e.Length), 10)
	dst = list(append(dst, `,"options":`...), false, len(e.Options), func(dst []byte, i int) []byte {
		o := &e.Options[i]
		dst = jsonx.AppendString(append(dst, `{"text":`...), o.Text)
		dst = appendFloat(append(dst, `,"score":`...), o.Score)
		return append(strconv.AppendInt(append(dst, `,"freq":`...), o.Freq, 10), '}')
	})
	return append(dst, '}')
}

// Share reads a frequency of a suggester: a number of documents, or below 1 a
// part of them.
func Share(f float64, documents int64) float64 {
	if f < 1 {
		return math.Ceil(f * float64(documents))
	}
	return f
}
