package analysis

import (
	"strings"

	"github.com/blevesearch/bleve/v2/analysis/char/asciifolding"
)

// Normalize does to a part of a word what the analyzer does to the case and
// the accents of letters, and nothing else: a part cannot be stemmed. What the
// analyzer does is seen from what becomes of single letters.
func (a *Analyzer) Normalize(part string) string {
	if a.makes("Q", "q") {
		part = strings.ToLower(part)
	}
	if a.makes("\u00e9", "e") {
		part = string(asciifolding.New().Filter([]byte(part)))
	}
	return part
}

// makes tells whether the analyzer makes just the term of the text.
func (a *Analyzer) makes(text, term string) bool {
	terms, _ := a.Terms(text)
	return len(terms) == 1 && terms[0] == term
}
