package double

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"
)

func emptyValue(fd *field) *failure {
	return fail(400, "Error with filter field `"+fd.Name+"`: Filter value cannot be empty.")
}

// strings evaluates a condition on text: contains all tokens, equals the
// whole normalised value, or starts with, each of a list of values.
func (f *filtering) strings(fd *field, rest string) (*roaring.Bitmap, *failure) {
	not, equal, values, _ := operators(rest)
	out := roaring.New()
	for _, v := range values {
		prefix := strings.HasSuffix(v, "*")
		v = strings.TrimSuffix(v, "*")
		if strings.HasPrefix(v, "<") || strings.HasPrefix(v, ">") {
			f.s.violate("field %s: a string knows no ranges; %.40q is taken for a text", fd.Name, v)
		}
		if strings.Contains(v, " AND ") || strings.Contains(v, " OR ") || strings.Contains(v, " NOT ") {
			f.s.violate("field %s: the words in %.60q are no operators and are taken for a text", fd.Name, v)
		}
		toks := tokens(unquote(v))
		if len(toks) == 0 {
			f.s.violate("field %s: a value of which no token is left can not be filtered for", fd.Name)
			return nil, emptyValue(fd)
		}
		var last []string
		if prefix {
			f.checkPrefix(fd)
			last = f.expandPrefix(fd, toks[len(toks)-1])
		}
		switch {
		case equal && prefix:
			out.Or(fd.startsWith(toks, last))
		case equal:
			if b := fd.exact[normal(toks)]; b != nil {
				out.Or(b)
			}
		case prefix:
			out.Or(fd.containsPrefix(toks, last))
		default:
			out.Or(fd.contains(toks))
		}
	}
	return f.negate(out, not), nil
}

// checkPrefix reports prefixes of which only a few tokens would be found.
func (f *filtering) checkPrefix(fd *field) {
	switch {
	case f.where != "search":
		f.s.violate("field %s: a prefix in a %s looks at %d tokens only", fd.Name, f.where, candidates)
	case !f.raised:
		f.s.violate("field %s: a prefix filter without max_filter_by_candidates looks at %d tokens only", fd.Name, candidates)
	}
}

// withPrefix gives the tokens of a field that start with p, in byte order.
func (f *field) withPrefix(p string) []string {
	all := f.vocabulary()
	from := sort.SearchStrings(all, p)
	to := from
	for to < len(all) && strings.HasPrefix(all[to], p) {
		to++
	}
	return all[from:to]
}

// expandPrefix gives the tokens that a prefix stands for: those of the most
// documents, no more than the limit.
func (f *filtering) expandPrefix(fd *field, p string) []string {
	found := fd.withPrefix(p)
	if len(found) <= f.candidates {
		return found
	}
	found = slices.Clone(found)
	slices.SortStableFunc(found, func(a, b string) int {
		return cmp.Compare(fd.postings[b].GetCardinality(), fd.postings[a].GetCardinality())
	})
	return found[:f.candidates]
}

// contains gives the documents with all of the tokens, in any element.
func (f *field) contains(toks []string) *roaring.Bitmap {
	var out *roaring.Bitmap
	for _, t := range toks {
		b := f.postings[t]
		switch {
		case b == nil:
			return roaring.New()
		case out == nil:
			out = b.Clone()
		default:
			out.And(b)
		}
	}
	return out
}

func (f *field) any(toks []string) *roaring.Bitmap {
	var g gather
	for _, t := range toks {
		g.union(f.postings[t])
	}
	return g.set()
}

func (f *field) containsPrefix(toks, last []string) *roaring.Bitmap {
	out := f.any(last)
	if before := toks[:len(toks)-1]; len(before) > 0 {
		out.And(f.contains(before))
	}
	return out
}

// startsWith gives the documents of which one element begins with the tokens,
// the last of them standing for the candidates.
func (f *field) startsWith(toks, last []string) *roaring.Bitmap {
	var g gather
	ok := make(map[string]bool, len(last))
	for _, t := range last {
		ok[t] = true
	}
	n := len(toks) - 1
	for it := f.containsPrefix(toks, last).Iterator(); it.HasNext(); {
		doc := it.Next()
		for _, t := range f.values[doc].texts {
			if len(t.tokens) > n && slices.Equal(t.tokens[:n], toks[:n]) && ok[t.tokens[n]] {
				g.add(doc)
				break
			}
		}
	}
	return g.set()
}
