package dsl

import (
	"math"
	"slices"
	"strings"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/geo"
	"github.com/quoin-cms/quoin/core/search/internal/jsonx"
)

// maxFunctions is how many functions a function_score may have.
const maxFunctions = 128

func (p *parser) functionScore(o *object) (search.Query, error) {
	c, err := base(o)
	if err != nil {
		return nil, err
	}
	q := &search.FunctionScore{Clause: c}
	if q.Query, err = p.optional(o.get("query")); err != nil {
		return nil, err
	}
	if q.ScoreMode, err = combine(o, "score_mode", search.CombineFirst); err != nil {
		return nil, err
	}
	if q.BoostMode, err = combine(o, "boost_mode", search.CombineReplace); err != nil {
		return nil, err
	}
	if q.MaxBoost, err = o.float("max_boost", math.MaxFloat32); err != nil {
		return nil, err
	}
	if o.get("min_score") != nil {
		least, err := o.float("min_score", 0)
		if err != nil {
			return nil, err
		}
		q.MinScore = &least
	}
	alone, err := p.function(o)
	if err != nil {
		return nil, err
	}
	list := o.get("functions")
	switch {
	case list == nil:
		if alone != nil {
			q.Functions = []search.Function{*alone}
		}
		return q, nil
	case alone != nil:
		return nil, list.bad("function_score takes functions or one function beside the query, not both")
	case list.kind != jsonx.Array && !list.empty():
		return nil, list.bad("an array of functions is expected")
	case len(list.kids) > maxFunctions:
		return nil, list.bad("more than %d functions", maxFunctions)
	}
	for _, kid := range list.kids {
		f, err := p.filtered(kid)
		if err != nil {
			return nil, err
		}
		q.Functions = append(q.Functions, f)
	}
	return q, nil
}

func combine(o *object, name string, own search.Combine) (search.Combine, error) {
	text, err := o.text(name, string(search.CombineMultiply))
	mode := search.Combine(strings.ToLower(text))
	known := []search.Combine{search.CombineMultiply, search.CombineSum, search.CombineAvg, search.CombineMax, search.CombineMin, own}
	if err == nil && !slices.Contains(known, mode) {
		err = o.get(name).bad("%s must be one of %q", name, known)
	}
	return mode, err
}

// filtered reads one element of functions.
func (p *parser) filtered(n *node) (search.Function, error) {
	if p.clauses++; p.clauses > maxClauses { // each is computed for every match
		return search.Function{}, n.bad("more than %d clauses and functions", maxClauses)
	}
	o, err := open(n)
	if err != nil {
		return search.Function{}, err
	}
	f, err := p.function(o)
	if err != nil {
		return search.Function{}, err
	}
	if f == nil {
		return search.Function{}, n.bad("a function is expected: weight, field_value_factor, random_score, gauss, exp or linear")
	}
	if f.Filter, err = p.optional(o.get("filter")); err != nil {
		return *f, err
	}
	return *f, o.done("a function")
}

// function reads the one function among the parameters, nil if there is none.
func (p *parser) function(o *object) (*search.Function, error) {
	f := &search.Function{Path: o.path()}
	if n := o.get("script_score"); n != nil {
		return nil, n.bad("script_score is not supported: there are no scripts")
	}
	for _, name := range []string{"field_value_factor", "random_score", "gauss", "exp", "linear"} {
		n := o.get(name)
		if n == nil {
			continue
		}
		if f.Body != nil {
			return nil, n.bad("one function is expected, not also %q", name)
		}
		in, err := open(n)
		if err != nil {
			return nil, err
		}
		f.Path = n.path()
		switch name {
		case "field_value_factor":
			f.Body, err = fieldFactor(in)
		case "random_score":
			f.Body, err = randomScore(in)
		default:
			f.Body, err = decay(in, search.DecayCurve(name))
		}
		if err != nil {
			return nil, err
		}
		if err := in.done(name); err != nil {
			return nil, err
		}
	}
	if f.Body == nil && o.get("weight") == nil {
		return nil, nil
	}
	var err error
	if f.Weight, err = o.float("weight", 1); err == nil && (f.Weight < 0 || f.Weight > 1e9) {
		err = o.get("weight").bad("a weight must be between 0 and 1e9")
	}
	return f, err
}

var modifiers = []string{"none", "log", "log1p", "log2p", "ln", "ln1p", "ln2p", "square", "sqrt", "reciprocal"}

func fieldFactor(o *object) (*search.FieldFactor, error) {
	name, err := o.must("field", "field_value_factor")
	if err != nil {
		return nil, err
	}
	f := &search.FieldFactor{Field: name}
	if f.Factor, err = o.float("factor", 1); err != nil {
		return nil, err
	}
	text, err := o.text("modifier", "none")
	if f.Modifier = strings.ToLower(text); err == nil && !slices.Contains(modifiers, f.Modifier) {
		err = o.get("modifier").bad("modifier must be one of %q", modifiers)
	}
	if err == nil && o.get("missing") != nil {
		var missing float64
		missing, err = o.float("missing", 0)
		f.Missing = &missing
	}
	return f, err
}

func randomScore(o *object) (*search.RandomScore, error) {
	seed, err := o.text("seed", "")
	if err != nil {
		return nil, err
	}
	name, err := o.text("field", "")
	if name == "_seq_no" { // stands for the identity of a document
		name = ""
	}
	return &search.RandomScore{Seed: seed, Field: name}, err
}

func decay(o *object, curve search.DecayCurve) (*search.Decay, error) {
	name, n, err := field(o, string(curve), "multi_value_mode")
	if err != nil {
		return nil, err
	}
	d := &search.Decay{Field: name, Curve: curve, By: 0.5}
	mode, err := o.text("multi_value_mode", "min")
	if d.Mode = search.SortMode(mode); err == nil && (d.Mode == search.SortDefault || !knownMode(d.Mode)) {
		err = o.get("multi_value_mode").bad("multi_value_mode must be min, max, avg or sum")
	}
	if err != nil {
		return nil, err
	}
	in, err := open(n)
	if err != nil {
		return nil, err
	}
	if err := origin(in, d); err != nil {
		return nil, err
	}
	if d.Scale, err = span(in, "scale"); err != nil {
		return nil, err
	}
	if in.get("scale") == nil || d.Scale.Number <= 0 && d.Scale.Millis <= 0 && d.Scale.Meters <= 0 {
		return nil, in.bad("%s needs a scale above 0", curve)
	}
	if d.Offset, err = span(in, "offset"); err != nil {
		return nil, err
	}
	if d.By, err = in.float("decay", 0.5); err == nil && !(d.By > 0 && d.By < 1) {
		err = in.get("decay").bad("a number between 0 and 1 is expected")
	}
	if err != nil {
		return nil, err
	}
	return d, in.done(string(curve))
}

// origin reads where a decay starts. A text may be a date or a place.
func origin(in *object, d *search.Decay) error {
	n := in.get("origin")
	if n == nil {
		now := search.String("now")
		d.Origin = &now
		return nil
	}
	if n.kind == jsonx.Object || n.kind == jsonx.Array {
		at, err := point(n)
		d.Point = &at
		return err
	}
	v, err := n.value()
	if err != nil {
		return err
	}
	d.Origin = &v
	if at, err := geo.Parse(v.Text); err == nil && v.Kind == search.StringValue && strings.Contains(v.Text, ",") {
		d.Point, d.Origin = &at, nil
	}
	return nil
}

// span reads a distance in every way that its text can be read; one that is
// not given is 0.
func span(in *object, name string) (search.Span, error) {
	n := in.get(name)
	if n == nil {
		return search.Span{}, nil
	}
	v, err := n.value()
	if err != nil {
		return search.Span{}, err
	}
	s := search.Span{Number: -1, Millis: -1, Meters: -1}
	if f, ok := v.Number(); ok {
		s.Number, s.Millis = f, f
	}
	if d, ok := duration(v.Text); ok {
		s.Millis = d
	}
	if m, err := geo.ParseDistance(v.Text, 1); err == nil {
		s.Meters = m
	}
	if s.Number < 0 && s.Millis < 0 && s.Meters < 0 {
		return s, n.bad("%q is no distance", v.Text)
	}
	return s, nil
}
