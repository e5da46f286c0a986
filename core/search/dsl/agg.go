package dsl

import (
	"slices"
	"strings"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/internal/jsonx"
	"github.com/quoin-cms/quoin/core/search/lucene"
)

// maxBuckets is the largest number of buckets that an aggregation may ask for.
const maxBuckets = 65_536

// aggregations reads an object of named aggregations.
func (p *parser) aggregations(n *node, depth int) ([]search.Agg, error) {
	if n.empty() {
		return nil, nil
	}
	if depth > maxAggDeep {
		return nil, n.bad("aggregations are nested more than %d deep", maxAggDeep)
	}
	o, err := open(n)
	if err != nil {
		return nil, err
	}
	out := make([]search.Agg, 0, len(o.keys))
	for i, name := range o.keys {
		if p.aggs++; p.aggs > maxAggs {
			return nil, n.bad("more than %d aggregations", maxAggs)
		}
		a, err := p.aggregation(name, o.kids[i], depth)
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}

func (p *parser) aggregation(name string, n *node, depth int) (a search.Agg, err error) {
	o, err := open(n)
	if err != nil {
		return a, err
	}
	a.Name = name
	if len(name) > maxName || strings.ContainsAny(name, "[]>") {
		return a, n.bad("the name of an aggregation may have up to %d bytes, and none of [ ] >", maxName)
	}
	subs := o.get("aggs", "aggregations")
	if n := o.get("meta"); n != nil {
		if n.kind != jsonx.Object {
			return a, n.bad("an object is expected")
		}
		a.Meta = n.appendJSON(nil)
	}
	kind, body := "", (*node)(nil)
	for i, key := range o.keys {
		if o.used[i] {
			continue
		}
		if kind != "" {
			return a, o.kids[i].bad("an aggregation has one type, not both %q and %q", kind, key)
		}
		kind, body = key, o.kids[i]
	}
	if kind == "" {
		return a, n.bad("an aggregation needs a type")
	}
	outer := p.inBuckets
	p.inBuckets = slices.Contains(manyBuckets, kind)
	a.Subs, err = p.aggregations(subs, depth+1)
	p.inBuckets = outer
	if err != nil {
		return a, err
	}
	a.Path = body.path()
	if kind == "bucket_sort" && !p.inBuckets {
		return a, body.bad("bucket_sort belongs inside an aggregation with many buckets")
	}
	if kind == "filter" {
		q, err := p.optional(body)
		a.Body = &search.FilterAgg{Query: q}
		return a, err
	}
	in, err := open(body)
	if err != nil {
		return a, err
	}
	if a.Body, err = p.aggBody(kind, in, depth); err != nil {
		return a, err
	}
	if isMetric(a.Body) && len(a.Subs) > 0 {
		return a, n.bad("%s cannot have sub-aggregations", kind)
	}
	return a, in.done(kind)
}

func isMetric(body search.AggBody) bool {
	switch body.(type) {
	case *search.MetricAgg, *search.PercentilesAgg, *search.TopHitsAgg, *search.BucketSortAgg:
		return true
	}
	return false
}

func (p *parser) aggBody(kind string, o *object, depth int) (search.AggBody, error) {
	switch kind {
	case "terms":
		return termsAgg(o)
	case "min", "max", "sum", "avg", "value_count", "cardinality", "stats", "extended_stats":
		return metricAgg(search.MetricFunc(kind), o)
	case "nested":
		path, err := o.must("path", "nested")
		return &search.NestedAgg{Objects: path}, err
	case "reverse_nested":
		path, err := o.text("path", "")
		return &search.ReverseNestedAgg{Objects: path}, err
	case "global":
		if depth > 1 {
			return nil, o.bad("global is allowed at the top only")
		}
		return &search.GlobalAgg{}, nil
	}
	return p.rangedAgg(kind, o)
}

// manyBuckets are the aggregations in which a bucket_sort may be.
var manyBuckets = []string{"terms", "filters", "range", "date_range", "histogram", "date_histogram", "composite"}

func termsAgg(o *object) (search.AggBody, error) {
	a := &search.TermsAgg{}
	var err error
	if a.Field, err = o.must("field", "terms"); err != nil {
		return nil, err
	}
	if a.Size, err = o.whole("size", 10, 1, maxBuckets); err != nil {
		return nil, err
	}
	if a.MinDocCount, err = o.whole("min_doc_count", 1, 0, 1<<31); err != nil {
		return nil, err
	}
	if a.Missing, err = missing(o); err != nil {
		return nil, err
	}
	if n := o.get("order"); !n.empty() {
		if a.Order, err = bucketOrder(n); err != nil {
			return nil, err
		}
	}
	if a.Include, err = termFilter(o.get("include")); err != nil {
		return nil, err
	}
	if a.Exclude, err = termFilter(o.get("exclude")); err != nil {
		return nil, err
	}
	if a.Format, err = format(o); err != nil {
		return nil, err
	}
	valueType(o)
	// These say how to compute, or bound errors that an exact count has not.
	for _, hint := range []string{"shard_size", "shard_min_doc_count", "execution_hint", "collect_mode", "show_term_doc_count_error"} {
		o.get(hint)
	}
	return a, nil
}

// bucketOrder reads {"_count":"asc"} or a list of such objects.
func bucketOrder(n *node) ([]search.BucketOrder, error) {
	list := []*node{n}
	if n.kind == jsonx.Array {
		list = n.kids
	}
	var out []search.BucketOrder
	for _, one := range list {
		o, err := open(one)
		if err != nil {
			return nil, err
		}
		for i, by := range o.keys {
			desc, err := order(o.kids[i])
			if err != nil {
				return nil, err
			}
			if by == "_term" || by == "_time" { // as it was called before version 7
				by = "_key"
			}
			out = append(out, search.BucketOrder{By: by, Desc: desc})
		}
	}
	if len(out) > maxSorts {
		return nil, n.bad("more than %d sort keys", maxSorts)
	}
	return out, nil
}

func metricAgg(f search.MetricFunc, o *object) (search.AggBody, error) {
	a := &search.MetricAgg{Func: f}
	var err error
	if a.Field, err = o.must("field", string(f)); err != nil {
		return nil, err
	}
	if a.Missing, err = missing(o); err != nil {
		return nil, err
	}
	if a.Format, err = format(o); err != nil {
		return nil, err
	}
	valueType(o)
	if f == search.ExtendedStats {
		a.Sigma, err = o.float("sigma", 2)
		if err == nil && (a.Sigma < 0 || a.Sigma > 1e6) {
			err = o.get("sigma").bad("sigma must be between 0 and 1e6")
		}
		return a, err
	}
	if f == search.Cardinality {
		o.get("precision_threshold") // always exact
	}
	return a, nil
}

// termFilter reads a regular expression or a list of values.
func termFilter(n *node) (*search.TermFilter, error) {
	switch {
	case n == nil:
		return nil, nil
	case n.kind == jsonx.Object && len(n.kids) > 0:
		return nil, n.bad("partitions are not supported; use composite, which goes on after a key")
	case n.kind == jsonx.String:
		if len(n.text) > maxName {
			return nil, n.bad("the expression is longer than %d bytes", maxName)
		}
		if _, err := lucene.RE2(n.text); err != nil {
			return nil, n.bad("%s", err)
		}
		return &search.TermFilter{Pattern: n.text}, nil
	case n.kind != jsonx.Array && n.kind != jsonx.Object:
		return nil, n.bad("a regular expression or a list of values is expected")
	case len(n.kids) > maxValues:
		return nil, n.bad("more than %d values", maxValues)
	}
	f := &search.TermFilter{Values: make([]search.Value, len(n.kids))}
	for i, kid := range n.kids {
		var err error
		if f.Values[i], err = kid.value(); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// format reads a format of which only the field knows whether it is one of
// dates or of numbers.
func format(o *object) (string, error) {
	text, err := o.text("format", "")
	if err == nil && len(text) > maxName {
		err = o.get("format").bad("the format is longer than %d bytes", maxName)
	}
	return text, err
}

// valueType takes what only matters for a field that no document has.
func valueType(o *object) { o.get("value_type") }

func missing(o *object) (*search.Value, error) {
	n := o.get("missing")
	if n == nil {
		return nil, nil
	}
	v, err := n.value()
	return &v, err
}
