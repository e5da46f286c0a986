package embedded

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/quoin-cms/quoin/core/search"
)

// rest explains what comes after the query: aggregations, the post filter,
// order and pages.
func (x *explainer) rest(roots []spot) {
	r := x.run.req
	if len(x.plan.Refused) > 0 { // what follows goes on with all documents
		r = &search.Request{Aggs: r.Aggs, PostFilter: r.PostFilter, Sort: r.Sort, From: r.From, Size: r.Size, Now: r.Now}
	}
	x.run.req = r
	if err := x.run.found(); err != nil {
		x.refuse(err, "query")
		return
	}
	for i := range r.Aggs {
		x.step(x.agg(&r.Aggs[i]))
	}
	for i := range r.Aggs {
		only := *r
		only.Aggs = r.Aggs[i : i+1]
		x.run.req = &only
		if _, err := x.run.aggregate(); err != nil {
			x.refuse(err, r.Aggs[i].Path)
		}
	}
	x.run.req = r
	if r.PostFilter != nil {
		s := x.clause(r.PostFilter, "post_filter", roots)
		x.step(s)
	}
	total, err := x.run.narrow()
	if err != nil {
		return // it was told above
	}
	if _, err := x.run.suggestions(); err != nil {
		x.refuse(err, "suggest")
	}
	x.order(r, total)
}

// order says how hits are ordered and read.
func (x *explainer) order(r *search.Request, total int64) {
	s := search.Step{Path: "sort", Matches: &total}
	switch {
	case r.Size == 0:
		x.step(search.Step{Path: "size", Does: "counts only: no scores, no order, no sources", Matches: &total})
		return
	case len(r.Sort) == 0:
		s.Does = "scores the matches (BM25)"
	default:
		var keys []string
		for i := range r.Sort {
			keys = append(keys, r.Sort[i].Field)
		}
		s.Does = "reads the columns of " + strings.Join(keys, ", ") + " for each match"
	}
	s.Does += fmt.Sprintf(" and keeps the best %d", r.From+r.Size)
	if _, err := x.run.top(); err != nil {
		x.refuse(err, "sort")
		s.Does = "is refused"
	}
	x.step(s)
	x.step(search.Step{Does: fmt.Sprintf("loads the sources of %d hits at most, without holding the index", r.Size)})
}

// agg says what an aggregation reads.
func (x *explainer) agg(a *search.Agg) search.Step {
	s := search.Step{Path: a.Path, Clause: a.Path[strings.LastIndexByte(a.Path, '.')+1:], Does: a.Name + ": computed from the columns of the matches"}
	// Most aggregations have a field; which one, their type says.
	if body := reflect.Indirect(reflect.ValueOf(a.Body)); body.Kind() == reflect.Struct {
		if f := body.FieldByName("Field"); f.IsValid() && f.Kind() == reflect.String {
			for _, v := range x.run.views {
				for _, sp := range v.seg.spaces {
					_, names := x.families(f.String(), []spot{{v, sp}})
					for _, name := range names {
						if !strings.Contains(strings.Join(s.Fields, " "), name) {
							s.Fields = append(s.Fields, name)
						}
					}
				}
			}
			if len(s.Fields) == 0 && !strings.HasPrefix(f.String(), "_") {
				s.Does = a.Name + ": finds no field " + f.String()
			}
		}
	}
	for i := range a.Subs {
		s.Steps = append(s.Steps, x.agg(&a.Subs[i]))
	}
	return s
}
