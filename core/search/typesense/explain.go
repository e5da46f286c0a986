package typesense

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
)

var _ search.Explainer = (*Engine)(nil)

// shownFilter is how much of a filter a plan shows, in bytes.
const shownFilter = 2_000

// Explain implements search.Explainer: it runs the request and tells which
// searches of the server that takes. Each message to the server is a step, and
// the searches in it are steps inside.
func (e *Engine) Explain(ctx context.Context, t search.Target, r *search.Request) (*search.Plan, error) {
	plan := &search.Plan{Engine: engineName, Refused: []search.Refusal{}}
	return explained(plan, r, func() (*run, error) { return e.start(ctx, t, r) })
}

// explained fills a plan with what a run does.
func explained(plan *search.Plan, r *search.Request, start func() (*run, error)) (*search.Plan, error) {
	var out *search.Response
	err := checkWindow(r)
	if err == nil {
		var run *run
		if run, err = start(); err == nil {
			send := run.send
			run.send = func(ctx context.Context, entries []entry) ([]rawResult, error) {
				results, err := send(ctx, entries)
				shown := results
				if plan.Note != "" { // the numbers are made up
					shown = nil
				}
				plan.Steps = append(plan.Steps, message(len(plan.Steps)+1, entries, shown))
				return results, err
			}
			out, err = run.answer()
		}
	}
	var p *problem.Problem
	switch {
	case errors.As(err, &p) && p.Kind == problem.Invalid:
		for _, f := range p.Fields {
			plan.Refused = append(plan.Refused, search.Refusal{Path: f.Path, Message: f.Message})
		}
		if len(p.Fields) == 0 {
			plan.Refused = append(plan.Refused, search.Refusal{Message: p.Detail})
		}
		return plan, nil
	case err != nil:
		return nil, err
	}
	last := search.Step{Path: "size", Does: "puts the answer together"}
	if plan.Note == "" {
		last.Does, last.Matches = fmt.Sprintf("puts the answer together, with %d hits", len(out.Hits)), &out.Total
	}
	plan.Steps = append(plan.Steps, last)
	return plan, nil
}

// message describes the searches that are sent together.
func message(number int, entries []entry, results []rawResult) search.Step {
	s := search.Step{Does: fmt.Sprintf("message %d to the server: %d searches", number, len(entries))}
	for i := range entries {
		one := search.Step{Does: entries[i].describe()}
		if i < len(results) {
			one.Matches = &results[i].Found
		}
		s.Steps = append(s.Steps, one)
	}
	return s
}

// describe tells what a search is for.
func (e *entry) describe() string {
	var b strings.Builder
	switch {
	case e.FacetBy != "":
		fmt.Fprintf(&b, "lists the values of %s in %s", e.FacetBy, e.Collection)
	case e.PerPage == 0:
		fmt.Fprintf(&b, "counts in %s", e.Collection)
	case e.IncludeFields == "id":
		fmt.Fprintf(&b, "finds the ids in %s", e.Collection)
	default:
		fmt.Fprintf(&b, "reads %d of %s", e.PerPage, e.Collection)
	}
	if e.Offset > 0 {
		fmt.Fprintf(&b, " from %d", e.Offset)
	}
	if e.Q != "" {
		fmt.Fprintf(&b, " near %q in %s", e.Q, e.QueryBy)
	}
	if filter := e.FilterBy; filter != "" {
		if len(filter) > shownFilter {
			filter = fmt.Sprintf("%s … (%d bytes)", filter[:shownFilter], len(filter))
		}
		fmt.Fprintf(&b, " where %s", filter)
	}
	if e.SortBy != "" && e.PerPage > 0 {
		fmt.Fprintf(&b, " sorted by %s", e.SortBy)
	}
	return b.String()
}
