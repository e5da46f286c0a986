package embedded

import "github.com/quoin-cms/quoin/core/search/words"

// Matcher gives a function that matches whole strings by an expression.
func Matcher(pattern string) (func(string) bool, error) {
	a, err := newAutomaton(pattern)
	if err != nil {
		return nil, err
	}
	return a.matches, nil
}

// Edits gives a function that measures terms against a word, as one walk over
// a dictionary does.
func Edits(word string, most int, swap bool) func(term string) (int, bool) {
	d := distance{to: []rune(word), most: most, swap: swap}
	return d.next
}

// Wildcard gives a function that matches whole strings by a pattern with * and ?.
func Wildcard(text string) func(string) bool {
	p := words.ParsePattern(text)
	return p.Matches
}

// Smallest is smallest.
func Smallest(list []int, k int, compare func(a, b int) int) []int { return smallest(list, k, compare) }

// Offer gives what a heap keeps.
func Offer(list []int, k int, compare func(a, b int) int) []int {
	h := heap[int]{max: k, compare: compare}
	for _, v := range list {
		if h.full() && k > 0 && compare(v, *h.top()) > 0 {
			continue
		}
		h.offer(v)
	}
	return h.sorted()
}

// Page gives the first value and the page of a list.
func Page(list []int, from, size int, compare func(a, b int) int) (int, []int) {
	h := heap[int]{max: from + size, compare: compare}
	for _, v := range list {
		h.offer(v)
	}
	return h.page(from)
}
