package search

import (
	"strconv"

	"github.com/quoin-cms/quoin/core/search/internal/jsonx"
)

// TopHits is the result of top_hits. Total counts all documents of the bucket.
type TopHits struct {
	Total    int64
	MaxScore *float64
	Hits     []NestedHit
}

// NestedHit is a hit that may be a nested object of a document; then Path
// leads to it, outermost first, and Source is that of the object.
type NestedHit struct {
	Hit
	Path []NestedStep
}

// NestedStep is the place of a nested object in the one around it: the field
// that holds it and its number there.
type NestedStep struct {
	Field  string
	Offset int
}

// CompositeBuckets is the result of composite. After is the key to go on
// after, nil when there is no bucket.
type CompositeBuckets struct {
	Names   []string
	After   []CompositeKey
	Buckets []CompositeBucket
}

// CompositeBucket is one bucket of CompositeBuckets with a key per source.
type CompositeBucket struct {
	Keys  []CompositeKey
	Count int64
	Subs  []AggResult
}

// CompositeKey is one part of a key: a SortValue, or a boolean, whose number
// is 1 for true.
type CompositeKey struct {
	SortValue
	Bool bool
}

func (t *TopHits) appendBody(dst []byte) []byte {
	dst = append(dst, `"hits":{"total":{"value":`...)
	dst = strconv.AppendInt(dst, t.Total, 10)
	dst = append(dst, `,"relation":"eq"},"max_score":`...)
	dst = appendScore(dst, t.MaxScore)
	dst = list(append(dst, `,"hits":`...), false, len(t.Hits), func(dst []byte, i int) []byte {
		h := &t.Hits[i]
		start := len(dst)
		dst = h.Hit.AppendJSON(dst)
		if len(h.Path) == 0 {
			return dst
		}
		// Clients look for _nested by its name, so its place is free.
		rest := string(dst[start+1:])
		dst = appendNested(append(dst[:start], `{"_nested":`...), h.Path)
		return append(append(dst, ','), rest...)
	})
	return append(dst, '}')
}

func appendNested(dst []byte, path []NestedStep) []byte {
	dst = jsonx.AppendString(append(dst, `{"field":`...), path[0].Field)
	dst = strconv.AppendInt(append(dst, `,"offset":`...), int64(path[0].Offset), 10)
	if len(path) > 1 {
		dst = appendNested(append(dst, `,"_nested":`...), path[1:])
	}
	return append(dst, '}')
}

func (c *CompositeBuckets) appendKey(dst []byte, keys []CompositeKey) []byte {
	return list(dst, true, len(keys), func(dst []byte, i int) []byte {
		dst = append(jsonx.AppendString(dst, c.Names[i]), ':')
		if k := keys[i]; k.Bool {
			return strconv.AppendBool(dst, k.Num != 0)
		}
		return appendSortValue(dst, keys[i].SortValue)
	})
}

func (c *CompositeBuckets) appendBody(dst []byte) []byte {
	if c.After != nil {
		dst = append(c.appendKey(append(dst, `"after_key":`...), c.After), ',')
	}
	return list(append(dst, `"buckets":`...), false, len(c.Buckets), func(dst []byte, i int) []byte {
		b := &c.Buckets[i]
		dst = c.appendKey(append(dst, `{"key":`...), b.Keys)
		dst = strconv.AppendInt(append(dst, `,"doc_count":`...), b.Count, 10)
		return append(appendSubs(dst, b.Subs), '}')
	})
}
