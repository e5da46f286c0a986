package double

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"
)

// search is one search on its way.
type search struct {
	s       *Server
	c       *collection
	p       params
	perPage int
	page    int
	offset  int
	found   *roaring.Bitmap
	scores  map[uint32]matched // only with a q that is not `*`
	keys    []sortKey
	query   query
	joins   []joined
}

// run answers one search of a multi_search.
func (s *Server) run(p params) (map[string]any, *failure) {
	x, err := s.open(p)
	if err != nil {
		return nil, err
	}
	if err := x.paging(); err != nil {
		return nil, err
	}
	if x.keys, err = x.parseSort(); err != nil {
		return nil, err
	}
	if err := x.pick(); err != nil {
		return nil, err
	}
	facets, err := x.facets()
	if err != nil {
		return nil, err
	}
	out := map[string]any{
		"facet_counts":   facets,
		"out_of":         len(x.c.docs),
		"search_cutoff":  false,
		"search_time_ms": 0,
		"request_params": map[string]any{"collection_name": x.c.name, "first_q": p["q"], "per_page": x.perPage, "q": p["q"]},
		"page":           x.page,
		"found":          x.found.GetCardinality(),
	}
	if x.offset > 0 {
		delete(out, "page")
		out["offset"] = x.offset
	}
	order := x.order()
	if p["group_by"] != "" {
		return out, x.grouped(order, out)
	}
	if limit, ok := p["limit_hits"]; ok {
		n, err := p.number("limit_hits", 0)
		if err != nil {
			return nil, fail(400, "Parameter `limit_hits` must be an unsigned integer: "+limit)
		}
		order = order[:min(n, len(order))]
	}
	hits := []any{}
	for _, doc := range x.window(order) {
		hits = append(hits, x.hit(doc))
	}
	out["hits"] = hits
	return out, nil
}

func (s *Server) open(p params) (*search, *failure) {
	c := s.resolve(p["collection"])
	if c == nil {
		return nil, fail(404, "Collection not found")
	}
	q, ok := p["q"]
	if !ok {
		return nil, fail(400, "Parameter `q` is required.")
	}
	for _, name := range []string{"vector_query", "pinned_hits", "hidden_hits", "preset", "stopwords", "infix", "union"} {
		if v, ok := p[name]; ok && v != "" && v != "false" && v != "off" {
			return nil, s.unsupported("parameter %s", name)
		}
	}
	if strings.Contains(p["include_fields"]+p["exclude_fields"], "$") {
		return nil, s.unsupported("choosing the fields of a join")
	}
	x := &search{s: s, c: c, p: p, query: parseQuery(q)}
	return x, nil
}

func (x *search) paging() *failure {
	perPage, page := 10, 1
	if err := x.p.numbers(map[string]*int{"limit": &perPage, "page": &page, "offset": &x.offset}); err != nil {
		return err
	}
	if err := x.p.numbers(map[string]*int{"per_page": &perPage}); err != nil { // wins over limit
		return err
	}
	if perPage > maxPerPage {
		return fail(422, "Only upto 250 hits can be fetched per page.")
	}
	x.perPage, x.page = perPage, max(page, 1)
	return nil
}

// start gives the index of the first of n entries on the page.
func (x *search) start(n int) int {
	if x.offset > 0 {
		return min(x.offset, n)
	}
	return min(min(x.page-1, n)*x.perPage, n)
}

// window cuts the page out of the ordered documents.
func (x *search) window(order []uint32) []uint32 {
	from := x.start(len(order))
	return order[from:min(from+x.perPage, len(order))]
}

func (x *search) filtering() (*filtering, *failure) {
	f := &filtering{s: x.s, c: x.c, candidates: candidates, where: "search"}
	_, f.raised = x.p["max_filter_by_candidates"]
	return f, x.p.numbers(map[string]*int{"max_filter_by_candidates": &f.candidates})
}

// pick finds the documents of filter and q.
func (x *search) pick() *failure {
	f, err := x.filtering()
	if err != nil {
		return err
	}
	if x.found, err = f.filter(x.p["filter_by"]); err != nil {
		return err
	}
	x.joins = f.joins
	if x.query.all() {
		return nil
	}
	fields, err := x.queryFields()
	if err != nil {
		return err
	}
	return x.match(fields)
}

func (x *search) queryFields() ([]*field, *failure) {
	names := x.p.words("query_by")
	if len(names) == 0 {
		return nil, fail(400, "No search fields specified for the query.")
	}
	var out []*field
	for _, name := range names {
		fd := x.c.fields[name]
		switch {
		case fd == nil:
			return nil, fail(404, "Could not find a field named `"+name+"` in the schema.")
		case fd.scalar() != "string" || !fd.Index:
			return nil, fail(400, "Field `"+name+"` should be a string or a string array.")
		}
		out = append(out, fd)
	}
	return out, nil
}

// hit is one entry of hits.
func (x *search) hit(doc uint32) map[string]any {
	body := x.project(x.c.docs[doc].body)
	out := map[string]any{"document": body}
	x.highlight(doc, body, out)
	for _, j := range x.joins {
		j.attach(x.s, x.c, doc, body)
	}
	if x.scores != nil {
		x.scores[doc].describe(out, x.query)
	}
	for _, k := range x.keys {
		if k.kind == byPlace {
			out["geo_distance_meters"] = map[string]any{k.field.Name: int64(k.distance(doc))}
		}
	}
	return out
}

// project keeps the fields that the answer is to hold.
func (x *search) project(body map[string]json.RawMessage) map[string]json.RawMessage {
	return project(body, x.p.words("include_fields"), x.p.words("exclude_fields"))
}

func project(body map[string]json.RawMessage, include, exclude []string) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for key, raw := range body {
		if len(include) > 0 && !listedField(include, key) || listedField(exclude, key) {
			continue
		}
		out[key] = raw
	}
	return out
}

// listedField tells whether a list of names holds a key; a name may end in
// `*`.
func listedField(names []string, key string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		head, wild := strings.CutSuffix(n, "*")
		return n == key || wild && strings.HasPrefix(key, head)
	})
}
