package double

import (
	"cmp"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"
)

// query is the text of q: words, phrases in quotes, words after a minus.
type query struct {
	everything bool
	words      []string
	phrases    [][]string
	without    []string
}

func (q query) all() bool { return q.everything }

// parseQuery splits q; `*` and an empty text stand for all documents.
func parseQuery(q string) query {
	q = strings.TrimSpace(q)
	if q == "*" || q == "" {
		return query{everything: true}
	}
	var out query
	for i, part := range strings.Split(q, `"`) {
		if i%2 == 1 {
			if toks := tokens(part); len(toks) > 0 {
				out.phrases = append(out.phrases, toks)
			}
			continue
		}
		for word := range strings.FieldsSeq(part) {
			if rest, minus := strings.CutPrefix(word, "-"); minus {
				out.without = append(out.without, tokens(rest)...)
				continue
			}
			out.words = append(out.words, tokens(word)...)
		}
	}
	return out
}

// leeway says how far from a word its candidates may be.
type leeway struct {
	typos, min1, min2 int
	most              int // candidates of a word
	dropBelow         int // drop words while fewer documents are found
	typoBelow         int // allow typos while fewer documents are found
	exhaustive        bool
	prefix            bool // the last word is a prefix
}

func (x *search) leeway() (leeway, *failure) {
	l := leeway{typos: 2, min1: 4, min2: 7, most: 4, dropBelow: 1, typoBelow: 1}
	l.exhaustive = x.p.flag("exhaustive_search", false)
	l.prefix = !strings.HasPrefix(x.p.text("prefix", "true"), "false")
	if l.exhaustive {
		l.most = 10000
	}
	if v := x.p.words("num_typos"); len(v) > 1 {
		return l, x.s.unsupported("num_typos for each field")
	}
	err := x.p.numbers(map[string]*int{
		"num_typos": &l.typos, "min_len_1typo": &l.min1, "min_len_2typo": &l.min2, "max_candidates": &l.most,
		"drop_tokens_threshold": &l.dropBelow, "typo_tokens_threshold": &l.typoBelow,
	})
	l.typos = min(l.typos, 2) // more are not to be had
	return l, err
}

// match narrows the documents found to those that q selects and scores them.
func (x *search) match(fields []*field) *failure {
	l, err := x.leeway()
	if err != nil {
		return err
	}
	for _, phrase := range x.query.phrases {
		x.found.And(withPhrase(fields, phrase))
	}
	for _, word := range x.query.without {
		for _, f := range fields {
			if b := f.postings[word]; b != nil {
				x.found.AndNot(b)
			}
		}
	}
	x.scores = map[uint32]matched{}
	if len(x.query.words) == 0 {
		for it := x.found.Iterator(); it.HasNext(); {
			x.scores[it.Next()] = matched{score: phraseScore}
		}
		return nil
	}
	weights, err := x.weights(len(fields))
	if err != nil {
		return err
	}
	for _, words := range x.query.attempts() {
		if len(words) < len(x.query.words) && len(x.scores) >= l.dropBelow {
			break
		}
		x.attempt(fields, weights, words, l)
	}
	x.found = roaring.New()
	for doc := range x.scores {
		x.found.Add(doc)
	}
	return nil
}

// attempts are the words to look for, in the order the server drops them:
// from the right until one is left, then from the left.
func (q query) attempts() [][]string {
	out := [][]string{q.words}
	for n := len(q.words) - 1; n > 0; n-- {
		out = append(out, q.words[:n])
	}
	for n := 1; n < len(q.words); n++ {
		out = append(out, q.words[n:])
	}
	return out
}

// attempt adds the documents that have all of the words. Typos are allowed
// step by step, until enough is found.
func (x *search) attempt(fields []*field, weights []int, words []string, l leeway) {
	for typos := 0; typos <= l.typos; typos++ {
		near := make([]map[string]int, len(words)) // word → token → typos
		docs := x.found.Clone()
		for i, w := range words {
			near[i] = l.near(fields, w, typos, l.prefix && i == len(words)-1)
			var any gather
			for token := range near[i] {
				for _, f := range fields {
					any.union(f.postings[token])
				}
			}
			docs.And(any.set())
		}
		for it := docs.Iterator(); it.HasNext(); {
			doc := it.Next()
			if _, ok := x.scores[doc]; !ok {
				x.scores[doc] = scoreOf(fields, weights, near, doc)
			}
		}
		if !l.exhaustive && len(x.scores) >= l.typoBelow {
			return
		}
	}
}

// near gives the tokens that a word stands for with up to a number of typos,
// the closest and most frequent ones.
func (l leeway) near(fields []*field, word string, typos int, prefix bool) map[string]int {
	switch n := len([]rune(word)); {
	case n < l.min1:
		typos = 0
	case n < l.min2:
		typos = min(typos, 1)
	}
	found := map[string]int{}
	count := map[string]uint64{}
	see := func(f *field, token string, cost int) {
		if old, ok := found[token]; !ok || cost < old {
			found[token] = cost
		}
		count[token] += f.postings[token].GetCardinality()
	}
	for _, f := range fields {
		if f.postings[word] != nil {
			see(f, word, 0)
		}
		if prefix {
			for _, token := range f.withPrefix(word) {
				see(f, token, 0)
			}
		}
		if typos == 0 {
			continue
		}
		for _, token := range f.vocabulary() {
			if d := distance(word, token, typos); d <= typos {
				see(f, token, d)
			}
		}
	}
	if len(found) <= l.most {
		return found
	}
	all := make([]string, 0, len(found))
	for token := range found {
		all = append(all, token)
	}
	slices.SortFunc(all, func(a, b string) int {
		return cmp.Or(cmp.Compare(found[a], found[b]), cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
	})
	for _, token := range all[l.most:] {
		delete(found, token)
	}
	return found
}

// distance counts insertions, deletions, replacements and swaps of neighbours,
// in bytes; more than most comes back as most+1.
func distance(a, b string, most int) int {
	if len(a)-len(b) > most || len(b)-len(a) > most {
		return most + 1
	}
	before, prev, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		least := i
		for j := 1; j <= len(b); j++ {
			same := 1
			if a[i-1] == b[j-1] {
				same = 0
			}
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+same)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			least = min(least, row[j])
		}
		if least > most {
			return most + 1
		}
		before, prev, row = prev, row, before
	}
	return min(prev[len(b)], most+1)
}

// withPhrase gives the documents that hold the words next to one another, in
// one element of one field.
func withPhrase(fields []*field, phrase []string) *roaring.Bitmap {
	out := roaring.New()
	for _, f := range fields {
		for it := f.contains(phrase).Iterator(); it.HasNext(); {
			doc := it.Next()
			if slices.ContainsFunc(f.values[doc].texts, func(t text) bool { return holds(t.tokens, phrase) }) {
				out.Add(doc)
			}
		}
	}
	return out
}

func holds(toks, phrase []string) bool {
	for i := 0; i+len(phrase) <= len(toks); i++ {
		if slices.Equal(toks[i:i+len(phrase)], phrase) {
			return true
		}
	}
	return false
}
