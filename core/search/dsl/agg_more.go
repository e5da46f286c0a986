package dsl

import (
	"slices"
	"strings"
	"time"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/internal/jsonx"
)

// Bounds of the aggregations of this file.
const (
	maxTopHits = 100 // from + size, as in Elasticsearch
	maxSources = 32  // of a composite
)

func (p *parser) topHits(o *object) (search.AggBody, error) {
	a := &search.TopHitsAgg{}
	var err error
	if a.From, err = o.whole("from", 0, 0, maxTopHits); err != nil {
		return nil, err
	}
	if a.Size, err = o.whole("size", 3, 0, maxTopHits); err != nil {
		return nil, err
	}
	if a.From+a.Size > maxTopHits {
		return nil, o.bad("from + size of top_hits must not be above %d", maxTopHits)
	}
	if n := o.get("sort"); !n.empty() {
		if a.Sort, err = p.sorts(n); err != nil {
			return nil, err
		}
	}
	if n := o.get("_source", "sources"); n != nil {
		if a.Source, err = source(n); err != nil {
			return nil, err
		}
	}
	if n := o.get("highlight"); !n.empty() {
		if a.Highlight, err = p.highlight(n); err != nil {
			return nil, err
		}
	}
	// A hit has its score, unless it is sorted otherwise, and no more.
	for _, off := range []string{"explain", "version", "seq_no_primary_term", "track_scores"} {
		if on, err := o.flag(off); err != nil || on {
			return nil, o.get(off).bad("top_hits does not support the parameter %q", off)
		}
	}
	return a, nil
}

func compositeAgg(o *object) (search.AggBody, error) {
	a := &search.CompositeAgg{}
	var err error
	if a.Size, err = o.whole("size", 10, 1, maxBuckets); err != nil {
		return nil, err
	}
	n := o.get("sources")
	if n == nil || len(n.kids) == 0 || len(n.kids) > maxSources || n.kind != jsonx.Array && n.kind != jsonx.Object {
		return nil, o.bad("composite needs the parameter %q with up to %d sources", "sources", maxSources)
	}
	list := n.kids
	if n.kind == jsonx.Object { // one source without its list
		list = []*node{n}
	}
	for _, one := range list {
		named, err := open(one)
		if err != nil {
			return nil, err
		}
		if len(named.keys) != 1 {
			return nil, one.bad("a source has one name")
		}
		s, err := compositeSource(named.keys[0], named.kids[0])
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(a.Sources, func(other search.CompositeSource) bool { return other.Name == s.Name }) {
			return nil, one.bad("there are two sources with the name %q", s.Name)
		}
		a.Sources = append(a.Sources, s)
	}
	return a, compositeAfter(a, o.get("after"))
}

// compositeAfter reads where to go on: a value per source, by its name.
func compositeAfter(a *search.CompositeAgg, n *node) error {
	if n.empty() {
		return nil
	}
	o, err := open(n)
	if err != nil {
		return err
	}
	for _, s := range a.Sources {
		i := slices.Index(o.keys, s.Name)
		if i < 0 {
			return n.bad("a value for the source %q is missing", s.Name)
		}
		o.used[i] = true
		v := search.Value{}
		if o.kids[i].kind != jsonx.Null {
			if v, err = o.kids[i].value(); err != nil {
				return err
			}
		} else if !s.Missing {
			return o.kids[i].bad("null needs a source with missing_bucket")
		}
		a.After = append(a.After, v)
	}
	return o.done("after")
}

func compositeSource(name string, n *node) (s search.CompositeSource, err error) {
	s.Name = name
	o, err := open(n)
	if err != nil {
		return s, err
	}
	if len(o.keys) != 1 {
		return s, n.bad("a source has one type: terms, histogram or date_histogram")
	}
	kind := o.keys[0]
	in, err := open(o.kids[0])
	if err != nil {
		return s, err
	}
	switch kind {
	case "terms":
	case "histogram":
		s.Histogram = &search.HistogramAgg{Zone: time.UTC}
		if s.Histogram.Interval, err = interval(in); err != nil {
			return s, err
		}
	case "date_histogram":
		s.Histogram = &search.HistogramAgg{Dates: true, Zone: time.UTC}
		if err := dateIntervals(s.Histogram, in); err != nil {
			return s, err
		}
	default:
		return s, o.kids[0].bad("composite does not support sources of the type %q%s", kind, meant(kind, "terms", "histogram", "date_histogram"))
	}
	if s.Field, err = in.must("field", kind); err != nil {
		return s, err
	}
	if s.Histogram != nil {
		s.Histogram.Field = s.Field
	}
	if by := in.get("order"); by != nil {
		if s.Desc, err = order(by); err != nil {
			return s, err
		}
	}
	if s.Missing, err = in.flag("missing_bucket"); err != nil {
		return s, err
	}
	where, err := in.text("missing_order", "default")
	if err != nil {
		return s, err
	}
	if where = strings.ToLower(where); where != "default" {
		s.MissingOrder = search.MissingOrder(where)
		if !s.Missing || where != "first" && where != "last" {
			return s, in.get("missing_order").bad("missing_order is first, last or default, and needs missing_bucket")
		}
	}
	valueType(in)
	return s, in.done(kind + " in composite")
}

func bucketSort(o *object) (search.AggBody, error) {
	a := &search.BucketSortAgg{}
	var err error
	if a.From, err = o.whole("from", 0, 0, maxBuckets); err != nil {
		return nil, err
	}
	if a.Size, err = o.whole("size", -1, -1, maxBuckets); err != nil {
		return nil, err
	}
	if o.get("size") != nil && a.Size < 1 {
		return nil, o.get("size").bad("an integer above 0 is expected")
	}
	switch gaps, err := o.text("gap_policy", "skip"); {
	case err != nil:
		return nil, err
	case gaps == "insert_zeros":
		a.Zeros = true
	case gaps != "skip" && gaps != "keep_values":
		return nil, o.get("gap_policy").bad("gap_policy is skip, insert_zeros or keep_values")
	}
	n := o.get("sort")
	if n.empty() {
		return a, nil
	}
	list := []*node{n}
	if n.kind == jsonx.Array {
		list = n.kids
	}
	for _, one := range list {
		if one.kind == jsonx.String {
			a.Sort = append(a.Sort, search.BucketOrder{By: sortPath(one.text)})
			continue
		}
		named, err := open(one)
		if err != nil {
			return nil, err
		}
		for i, by := range named.keys {
			desc, err := bucketDirection(named.kids[i])
			if err != nil {
				return nil, err
			}
			a.Sort = append(a.Sort, search.BucketOrder{By: sortPath(by), Desc: desc})
		}
	}
	if len(a.Sort) > maxSorts {
		return nil, n.bad("more than %d sort keys", maxSorts)
	}
	return a, nil
}

func sortPath(by string) string {
	if by == "_term" || by == "_time" {
		return "_key"
	}
	return by
}

// bucketDirection reads "desc" or {"order":"desc"}.
func bucketDirection(n *node) (desc bool, err error) {
	if n.kind != jsonx.Object {
		return order(n)
	}
	o, err := open(n)
	if err != nil {
		return false, err
	}
	if by := o.get("order"); by != nil {
		if desc, err = order(by); err != nil {
			return false, err
		}
	}
	return desc, o.done("sort")
}

// interval reads the width of the buckets of a histogram.
func interval(o *object) (float64, error) {
	width, err := o.float("interval", 0)
	if err == nil && !(width > 1e-9 && width < 1e18) {
		err = o.bad("histogram needs the parameter %q above 0", "interval")
	}
	return width, err
}

// aggKinds are the types of aggregations.
var aggKinds = []string{"terms", "filter", "filters", "nested", "reverse_nested", "range", "date_range", "histogram", "date_histogram",
	"min", "max", "sum", "avg", "stats", "extended_stats", "value_count", "cardinality", "percentiles", "missing", "global",
	"top_hits", "composite", "bucket_sort"}

func (o *object) unknownAgg(kind string) error {
	return o.bad("the aggregation %q is not supported%s", kind, meant(kind, aggKinds...))
}
