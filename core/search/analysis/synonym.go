package analysis

import (
	"fmt"
	"strings"

	bleve "github.com/blevesearch/bleve/v2/analysis"
)

// maxSynonyms bounds the rules of a filter.
const maxSynonyms = 50_000

// synonyms replaces or extends sequences of tokens by the rules of a filter.
// Alternatives of several words are laid over the words that follow, as
// Elasticsearch's filter "synonym" does.
type synonyms struct {
	rules map[string][]rule // by the first word, longest match first
}

type rule struct {
	match [][]byte
	with  [][][]byte // alternatives, the original included if it stays
}

// newSynonyms reads rules such as "ipod, i-pod" and "colour => color". analyze
// splits the phrases as the filters before this one do.
func newSynonyms(lines []string, expand bool, analyze func(string) [][]byte) (*synonyms, error) {
	if len(lines) > maxSynonyms {
		return nil, fmt.Errorf("more than %d synonym rules", maxSynonyms)
	}
	s := &synonyms{rules: map[string][]rule{}}
	for _, line := range lines {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		left, right, arrow := strings.Cut(line, "=>")
		from, to := phrases(left, analyze), phrases(right, analyze)
		if !arrow {
			to = from
			if !expand && len(from) > 0 {
				to = from[:1]
			}
		}
		for _, f := range from {
			s.add(f, to)
		}
	}
	return s, nil
}

func phrases(list string, analyze func(string) [][]byte) (out [][][]byte) {
	for one := range strings.SplitSeq(list, ",") {
		if words := analyze(strings.TrimSpace(one)); len(words) > 0 {
			out = append(out, words)
		}
	}
	return out
}

func (s *synonyms) add(match [][]byte, with [][][]byte) {
	first := string(match[0])
	for i, r := range s.rules[first] {
		if sameWords(r.match, match) {
			s.rules[first][i].with = append(r.with[:len(r.with):len(r.with)], with...)
			return
		}
	}
	list := append(s.rules[first], rule{match, with})
	for i := len(list) - 1; i > 0 && len(list[i].match) > len(list[i-1].match); i-- {
		list[i], list[i-1] = list[i-1], list[i]
	}
	s.rules[first] = list
}

func sameWords(a, b [][]byte) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if string(a[i]) != string(b[i]) {
			return false
		}
	}
	return true
}

// Filter implements Bleve's interface of a token filter.
func (s *synonyms) Filter(in bleve.TokenStream) bleve.TokenStream {
	out := make(bleve.TokenStream, 0, len(in))
	for i := 0; i < len(in); {
		r := s.find(in[i:])
		if r == nil {
			out = append(out, in[i])
			i++
			continue
		}
		out = r.expand(out, in[i:i+len(r.match)])
		i += len(r.match)
	}
	return out
}

func (s *synonyms) find(in bleve.TokenStream) *rule {
	list := s.rules[string(in[0].Term)]
next:
	for i := range list {
		if len(list[i].match) > len(in) {
			continue
		}
		for j, word := range list[i].match {
			if string(in[j].Term) != string(word) {
				continue next
			}
		}
		return &list[i]
	}
	return nil
}

// expand appends all alternatives, position by position and without doubles.
func (r *rule) expand(out, matched bleve.TokenStream) bleve.TokenStream {
	longest := 0
	for _, alt := range r.with {
		longest = max(longest, len(alt))
	}
	first, last := matched[0], matched[len(matched)-1]
	for k := range longest {
		from := len(out)
	next:
		for _, alt := range r.with {
			if k >= len(alt) {
				continue
			}
			for _, t := range out[from:] {
				if string(t.Term) == string(alt[k]) {
					continue next
				}
			}
			out = append(out, &bleve.Token{Term: alt[k], Start: first.Start, End: last.End, Position: first.Position + k})
		}
	}
	return out
}
