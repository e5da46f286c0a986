package dsl

import (
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/internal/jsonx"
)

// body reads the parameters that a search object and a search body share and
// refuses all others.
func (p *parser) body(o *object, what string) (err error) {
	if n := o.get("aggs", "aggregations"); !n.empty() {
		if p.r.Aggs, err = p.aggregations(n, 1); err != nil {
			return err
		}
	}
	if n := o.get("sort"); !n.empty() {
		if p.r.Sort, err = p.sorts(n); err != nil {
			return err
		}
	}
	if p.r.From, err = o.whole("from", p.r.From, 0, search.MaxWindow); err != nil {
		return err
	}
	if p.r.Size, err = o.whole("size", p.r.Size, 0, search.MaxWindow); err != nil {
		return err
	}
	if n := o.get("search_after"); n != nil {
		if err := p.searchAfter(n); err != nil {
			return err
		}
	}
	if n := o.get("sources", "_source"); n != nil {
		if p.r.Source, err = source(n); err != nil {
			return err
		}
	}
	if err := p.postFilter(o); err != nil {
		return err
	}
	if err := p.collapse(o.get("collapse")); err != nil {
		return err
	}
	if err := p.later(o); err != nil {
		return err
	}
	if err := p.extras(o); err != nil {
		return err
	}
	if err := noOptions(o, what); err != nil {
		return err
	}
	return o.done(what)
}

// extras reads how much is told of scores and totals, and what only says how
// to compute.
func (p *parser) extras(o *object) (err error) {
	if o.get("min_score") != nil {
		least, err := o.float("min_score", 0)
		if err != nil {
			return err
		}
		p.r.MinScore = &least
	}
	if p.r.TrackScores, err = o.flag("track_scores"); err != nil {
		return err
	}
	if n := o.get("track_total_hits"); n != nil {
		switch {
		case n.kind == jsonx.Bool && n.text == "false":
			p.r.TrackTotal = -1
		case n.kind == jsonx.Number:
			if p.r.TrackTotal, err = o.whole("track_total_hits", 0, 1, 1<<31-1); err != nil {
				return err
			}
		case n.kind != jsonx.Bool:
			return n.bad("true, false or a number is expected")
		}
	}
	o.get("timeout", "preference", "request_cache", "batched_reduce_size", "max_concurrent_shard_requests", "pre_filter_shard_size",
		"allow_partial_search_results", "ccs_minimize_roundtrips", "stats")
	return nil
}

func (p *parser) searchAfter(n *node) error {
	if n.kind != jsonx.Array || len(n.kids) == 0 || len(n.kids) != len(p.r.Sort) {
		return n.bad("an array with a value per sort key is expected")
	}
	for _, kid := range n.kids {
		if kid.kind == jsonx.Null {
			p.r.After = append(p.r.After, search.Value{})
			continue
		}
		v, err := kid.value()
		if err != nil {
			return err
		}
		p.r.After = append(p.r.After, v)
	}
	if p.r.From > 0 {
		return n.bad("search_after needs from to be 0")
	}
	if p.r.Collapse != nil { // of a body inside the search object
		return n.bad("collapse does not support search_after")
	}
	return nil
}

func (p *parser) window(o *object) error {
	if p.r.Size*p.innerly > maxBehind {
		return o.bad("size times the sizes of inner hits must not be above %d", maxBehind)
	}
	if p.r.From+p.r.Size > search.MaxWindow {
		at := o.node
		for _, name := range []string{"from", "size"} {
			if n := o.get(name); n != nil {
				at = n
			}
		}
		return at.bad("from + size must not be above %d", search.MaxWindow)
	}
	return nil
}

// postFilter reads the post filter. The PHP client sends {"params":{…}}
// without the name of the clause, which nobody can understand (notes 3.1).
func (p *parser) postFilter(o *object) (err error) {
	n := o.get("post_filter", "postFilter")
	if n.empty() {
		return nil
	}
	if lostName(n) {
		p.r.Warnings = append(p.r.Warnings, n.path()+" has lost the name of its clause and was left out")
		return nil
	}
	p.r.PostFilter, err = p.optional(n)
	return err
}

func lostName(n *node) bool {
	return n.kind == jsonx.Object && len(n.keys) == 1 && n.keys[0] == "params"
}

// later reads highlights and suggestions.
func (p *parser) later(o *object) error {
	if n := o.get("highlight"); !n.empty() {
		var err error
		if p.r.Highlight, err = p.highlight(n); err != nil {
			return err
		}
	}
	if n := o.get("suggest"); !n.empty() {
		if !lostName(n) {
			return p.suggest(n)
		}
		p.r.Warnings = append(p.r.Warnings, n.path()+" has lost its names and was left out")
	}
	return nil
}

// source reads a list of patterns, an object of includes and excludes, or a
// boolean.
func source(n *node) (f search.SourceFilter, err error) {
	switch n.kind {
	case jsonx.Bool:
		f.None = n.text == "false"
		return f, nil
	case jsonx.Object:
		o, err := open(n)
		if err != nil {
			return f, err
		}
		if inc := o.get("includes", "include"); inc != nil {
			if f.Includes, err = patterns(inc); err != nil {
				return f, err
			}
		}
		if exc := o.get("excludes", "exclude"); exc != nil {
			if f.Excludes, err = patterns(exc); err != nil {
				return f, err
			}
		}
		return f, o.done("the source filter")
	}
	f.Includes, err = patterns(n)
	return f, err
}

func patterns(n *node) ([]string, error) {
	list, err := n.strings()
	if err != nil {
		return nil, err
	}
	if len(list) > maxClauses {
		return nil, n.bad("more than %d patterns", maxClauses)
	}
	for _, s := range list {
		if len(s) > maxName {
			return nil, n.bad("a pattern is longer than %d bytes", maxName)
		}
	}
	return list, nil
}
