package search

import (
	"slices"

	"github.com/quoin-cms/quoin/core/search/internal/jsonx"
)

// MaxInner is the largest from+size of inner hits.
const MaxInner = 100

// InnerHits asks for what stands behind a hit: the nested objects that matched,
// or the documents of its group. Sort empty means by score, best first.
type InnerHits struct {
	Path       string // in the JSON of the request
	Name       string
	From, Size int
	Sort       []SortKey
	Source     SourceFilter
	Highlight  *Highlight
}

// Collapse shows of all hits with the same value of Field only the first. Hits
// without a value are one group. Field must have one value per document.
type Collapse struct {
	Path  string // in the JSON of the request
	Field string
	Inner []InnerHits
}

// InnerResult answers one InnerHits for one hit.
type InnerResult struct {
	Of *InnerHits
	TopHits
}

// Group is the value by which a hit was collapsed.
type Group struct {
	Field string
	Value SortValue
}

func appendInner(dst []byte, results []InnerResult) []byte {
	return list(dst, true, len(results), func(dst []byte, i int) []byte {
		dst = append(jsonx.AppendString(dst, results[i].Of.Name), `:{`...)
		return append(results[i].appendBody(dst), '}')
	})
}

func appendGroup(dst []byte, g *Group) []byte {
	dst = append(jsonx.AppendString(append(dst, '{'), g.Field), `:[`...)
	return append(appendSortValue(dst, g.Value), `]}`...)
}

// Shown gives the outermost nested clauses of a query that show inner hits.
// Clauses that must not match have none.
func Shown(q Query) []*Nested {
	if q == nil {
		return nil
	}
	if n, ok := q.(*Nested); ok && n.Inner != nil {
		return []*Nested{n}
	}
	var not []Query
	if b, ok := q.(*Bool); ok {
		not = b.MustNot
	}
	var out []*Nested
	for _, c := range Inside(q) {
		if !slices.Contains(not, c) {
			out = append(out, Shown(c)...)
		}
	}
	return out
}
