package embedded

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// explainedTerms is how many terms of an expansion are listed.
const explainedTerms = 20

var _ search.Explainer = (*Engine)(nil)

// Explain implements search.Explainer. It compiles each clause as a search does
// and counts what it matches.
func (e *Engine) Explain(ctx context.Context, t search.Target, r *search.Request) (*search.Plan, error) {
	run, err := e.start(ctx, t, r)
	if err != nil {
		return nil, err
	}
	defer run.close()
	x := &explainer{run: run, plan: &search.Plan{Engine: "embedded", Refused: []search.Refusal{}}}
	var roots []spot
	visible := int64(0)
	for _, v := range run.views {
		roots = append(roots, spot{v, v.seg.root()})
		visible += int64(v.visible.GetCardinality())
		v.hits = v.visible
	}
	whom := "all content types"
	if t.Types != nil {
		whom = "the content types that the caller may view: " + strings.Join(t.Types, ", ")
	}
	x.step(search.Step{Does: fmt.Sprintf("takes the live documents of %s, of %s", strings.Join(t.Indices, ", "), whom), Matches: &visible})
	if r.Query != nil {
		x.step(x.clause(r.Query, "query", roots))
	}
	if len(r.ContentTypes) > 0 {
		x.step(search.Step{Path: "contentTypes", Does: "keeps documents of " + strings.Join(r.ContentTypes, ", ") + ", for hits and aggregations"})
	}
	x.rest(roots)
	return x.plan, ctx.Err()
}

// explainer writes a plan.
type explainer struct {
	run  *run
	plan *search.Plan
}

// spot is a space in one of the segments that are searched.
type spot struct {
	v  *view
	sp *space
}

func (x *explainer) step(s search.Step) { x.plan.Steps = append(x.plan.Steps, s) }

// refuse notes a refusal once; other errors are of the documents, not of the
// request.
func (x *explainer) refuse(err error, path string) {
	r := search.Refusal{Path: path, Message: err.Error()}
	var p *problem.Problem
	if errors.As(err, &p) {
		if r.Message = p.Detail; len(p.Fields) > 0 {
			r.Path, r.Message = p.Fields[0].Path, p.Fields[0].Message
		}
	}
	if !slices.Contains(x.plan.Refused, r) {
		x.plan.Refused = append(x.plan.Refused, r)
	}
}

// clause explains a clause in the spaces of the segments.
func (x *explainer) clause(q search.Query, role string, at []spot) search.Step {
	s := search.Step{Path: q.Info().Path, Role: role, Clause: search.Named(q)}
	// Parts first: where one is refused, its own message counts.
	s.Steps, s.Does = x.parts(q, at)
	n := int64(0)
	for _, p := range at {
		o, err := p.v.compile(q, p.sp)
		if err != nil {
			x.refuse(err, s.Path)
			s.Does = "is refused"
			return s
		}
		n += int64(roaring.And(o.match(), p.sp.live).GetCardinality())
	}
	s.Matches = &n
	if s.Does == "" {
		x.leaf(q, at, &s)
	}
	return s
}

// all explains a list of clauses.
func (x *explainer) all(list []search.Query, role string, at []spot) (steps []search.Step) {
	for _, q := range list {
		steps = append(steps, x.clause(q, role, at))
	}
	return steps
}

// parts explains the clauses inside a clause and says what is done with them;
// empty for one that has none.
func (x *explainer) parts(q search.Query, at []spot) (steps []search.Step, does string) {
	switch q := q.(type) {
	case *search.Bool:
		steps = slices.Concat(x.all(q.Must, "must", at), x.all(q.Filter, "filter", at), x.all(q.Should, "should", at), x.all(q.MustNot, "must_not", at))
		return steps, "joins the sets from the smallest to the largest" + needed(q) + ", then takes away those of must_not; must and should add to the score"
	case *search.Nested:
		var inside []spot
		for _, p := range at {
			for _, sp := range p.v.seg.inside(p.sp, q.Objects) {
				inside = append(inside, spot{p.v, sp})
			}
		}
		if len(inside) == 0 {
			return nil, "finds no nested objects under " + q.Objects + ": matches nothing"
		}
		return []search.Step{x.clause(q.Query, "", inside)}, fmt.Sprintf("finds objects under %s and takes the documents around them, score %s", q.Objects, q.ScoreMode)
	case *search.ConstantScore:
		return []search.Step{x.clause(q.Filter, "", at)}, "gives every match the same score"
	case *search.DisMax:
		return x.all(q.Queries, "", at), "takes all matches, with the best score of the clauses"
	case *search.Boosting:
		return []search.Step{x.clause(q.Positive, "positive", at), x.clause(q.Negative, "negative", at)}, "takes what positive matches and lowers the score of what negative matches"
	case *search.FunctionScore:
		if q.Query != nil {
			steps = append(steps, x.clause(q.Query, "", at))
		}
		for i := range q.Functions {
			if f := q.Functions[i].Filter; f != nil {
				steps = append(steps, x.clause(f, "function", at))
			}
		}
		return steps, fmt.Sprintf("changes the scores by %d functions, one hit after the other", len(q.Functions))
	case *search.MultiMatch:
		if q.Type == search.CrossFields {
			return nil, ""
		}
		for _, f := range x.expanded(q.Fields, q.Path, at) {
			steps = append(steps, x.clause(ofField(q, f), f.String(), at))
		}
		return steps, "matches in each of the fields; type " + string(q.Type)
	case *search.Each:
		for _, f := range x.expanded(q.Fields, q.Path, at) {
			if q.Lenient && x.unfit(q.In(f), at) {
				continue
			}
			steps = append(steps, x.clause(q.In(f), f.String(), at))
		}
		return steps, "matches in any of the fields, with the best score"
	}
	return nil, ""
}

func needed(q *search.Bool) string {
	n := 0
	switch {
	case len(q.Should) == 0:
		return ""
	case q.MinShould != nil:
		n = q.MinShould.Of(len(q.Should))
	case len(q.Must)+len(q.Filter) == 0:
		n = 1
	}
	return fmt.Sprintf(", at least %d of the %d should", n, len(q.Should))
}

// unfit tells whether a clause cannot be asked of a field.
func (x *explainer) unfit(q search.Query, at []spot) bool {
	return slices.ContainsFunc(at, func(p spot) bool {
		_, err := p.v.compile(q, p.sp)
		return problem.Is(err, problem.Invalid)
	})
}

// expanded gives the fields that patterns stand for, in all segments.
func (x *explainer) expanded(fields []search.WeightedField, path string, at []spot) []search.WeightedField {
	var all []search.WeightedField
	for _, p := range at {
		list, err := p.v.expandFields(fields, path, p.sp)
		if err != nil {
			x.refuse(err, path)
			return nil
		}
		for _, f := range list {
			if !slices.Contains(all, f) {
				all = append(all, f)
			}
		}
	}
	slices.SortFunc(all, func(a, b search.WeightedField) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// families gives the fields of a path, with their kinds.
func (x *explainer) families(field string, at []spot) (found []*family, names []string) {
	for _, p := range at {
		for _, f := range p.v.families(p.sp, field) {
			name := fmt.Sprintf("%s (%s)", f.field.Path, kindOf(f.field))
			if found = append(found, f); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return found, names
}

func kindOf(f *mapping.Field) string {
	return []string{"text", "keyword", "long", "double", "date", "boolean", "geo_point"}[f.Family]
}

// noteTerms notes terms, each once and in order.
func noteTerms(s *search.Step, terms map[string]bool) {
	s.Terms = slices.Sorted(maps.Keys(terms))
	if n := len(s.Terms); n > explainedTerms {
		s.Terms, s.MoreTerms = s.Terms[:explainedTerms], n-explainedTerms
	}
	for i := range s.Terms { // they may lie in the file of an index
		s.Terms[i] = strings.Clone(s.Terms[i])
	}
}
