// Package dsl parses the search object of the API (spec 2.7) and the
// Elasticsearch clauses inside it into a search.Request.
//
// PHP clients write empty objects as [], so [] is read as {} wherever an
// object is expected. What cannot be honoured is problem.Invalid with the name
// of the clause or parameter and its JSON path; nothing is dropped silently.
package dsl

import (
	"github.com/quoin-cms/quoin/core/search"
)

// Bounds of a request, against hostile ones.
const (
	maxBytes   = 8 << 20
	maxDepth   = 64 // of clauses
	maxClauses = 1024
	maxValues  = 65_536 // of a terms or ids clause
	maxAggs    = 256
	maxAggDeep = 16
	maxSorts   = 32
	maxName    = 512 // bytes of a field name or pattern
)

// Parse reads a search object: the JSON text that is the string in
// {"search": "…"}.
func Parse(data []byte) (*search.Request, error) {
	root, err := tree(data, "")
	if err != nil {
		return nil, err
	}
	top, err := open(root)
	if err != nil {
		return nil, err
	}
	p := &parser{r: &search.Request{Size: 10}}
	if err := p.envelope(top); err != nil {
		return nil, err
	}
	if err := p.body(top, "the search object"); err != nil {
		return nil, err
	}
	return p.r, p.window(top)
}

type parser struct {
	r       *search.Request
	clauses int
	depth   int
	aggs    int
	inner   map[string]bool // names of inner hits
	innerly int             // how many inner hits a hit may have in all
	// inBuckets tells that the aggregation around has many buckets.
	inBuckets bool
}

// envelope reads what the API adds around a search body.
func (p *parser) envelope(o *object) (err error) {
	for _, name := range []string{"searchOptions", "scrollOptions", "countOptions"} {
		o.get(name) // derived by the client from size and from
	}
	if n := o.get("indices"); n != nil {
		if p.r.Indices, err = n.strings(); err != nil {
			return err
		}
	}
	if n := o.get("contentTypes"); n != nil {
		if p.r.ContentTypes, err = n.strings(); err != nil {
			return err
		}
	}
	if p.r.Regex, err = o.text("regex", ""); err != nil {
		return err
	}
	if len(p.r.Regex) > maxName {
		return o.get("regex").bad("the expression is longer than %d bytes", maxName)
	}
	return p.whatToFind(o)
}

// whatToFind reads queryArray or query, which may hold a whole search body.
func (p *parser) whatToFind(o *object) (err error) {
	query := o.get("query")
	if n := o.get("queryArray"); !n.empty() {
		query = n
	}
	if query.empty() {
		return nil
	}
	inner, err := open(query)
	if err != nil {
		return err
	}
	if clause := inner.get("query"); clause == nil || len(p.r.ContentTypes) > 0 {
		p.r.Query, err = p.optional(query)
		return err
	} else if p.r.Query, err = p.optional(clause); err != nil {
		return err
	}
	if err := p.body(inner, "a search body"); err != nil {
		return err
	}
	return p.window(inner)
}
