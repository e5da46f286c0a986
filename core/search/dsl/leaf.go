package dsl

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/dates"
	"github.com/quoin-cms/quoin/core/search/internal/jsonx"
)

// field finds the one field of clauses such as {"term":{"name": …}} and gives
// its name and what is below. Parameters of the clause itself may stand beside
// it if they are in beside.
func field(o *object, clause string, beside ...string) (string, *node, error) {
	found := -1
	for i, key := range o.keys {
		if slices.Contains(beside, key) {
			continue
		}
		if found >= 0 {
			return "", nil, o.kids[i].bad("%s takes one field, not also %q", clause, key)
		}
		found = i
	}
	if found < 0 {
		return "", nil, o.bad("%s needs a field", clause)
	}
	if len(o.keys[found]) > maxName {
		return "", nil, o.bad("%s: a field name is longer than %d bytes", clause, maxName)
	}
	o.used[found] = true
	return o.keys[found], o.kids[found], nil
}

// params opens the long form of a leaf clause, or makes one of the short form,
// in which the value itself stands under the field.
func params(n *node, valueKey string) (*object, error) {
	if n.kind == jsonx.Object {
		return open(n)
	}
	if n.kind == jsonx.Array || n.kind == jsonx.Null {
		return nil, n.bad("a value or an object is expected")
	}
	long := &node{kind: jsonx.Object, keys: []string{valueKey}, kids: []*node{n}, parent: n.parent, key: n.key, index: n.index}
	return open(long)
}

// leaf reads the common part of clauses {"clause":{"field": value or {…}}}.
func leaf(o *object, clause string, valueKeys ...string) (c search.Clause, name string, v search.Value, in *object, err error) {
	name, n, err := field(o, clause, "boost")
	if err != nil {
		return
	}
	if in, err = params(n, valueKeys[0]); err != nil {
		return
	}
	if c, err = base(in); err != nil {
		return
	}
	if b := o.get("boost"); b != nil { // beside the field, as old clients write it
		if c, err = base(o); err != nil {
			return
		}
	}
	vn := in.get(valueKeys...)
	if vn == nil {
		err = in.bad("%s needs the parameter %q", clause, valueKeys[0])
		return
	}
	v, err = vn.value()
	return
}

func (p *parser) term(o *object) (search.Query, error) {
	c, name, v, in, err := leaf(o, "term", "value", "term")
	if err != nil {
		return nil, err
	}
	q := &search.Term{Clause: c, Field: name, Value: v}
	if q.CaseInsensitive, err = in.flag("case_insensitive"); err != nil {
		return nil, err
	}
	return q, in.done("term")
}

func (p *parser) prefix(o *object) (search.Query, error) {
	c, name, v, in, err := leaf(o, "prefix", "value", "prefix")
	if err != nil {
		return nil, err
	}
	q := &search.Prefix{Clause: c, Field: name, Value: v.Text}
	if q.CaseInsensitive, err = in.flag("case_insensitive"); err != nil {
		return nil, err
	}
	in.get("rewrite") // says how to compute, not what
	return q, in.done("prefix")
}

func (p *parser) wildcard(o *object) (search.Query, error) {
	c, name, v, in, err := leaf(o, "wildcard", "value", "wildcard")
	if err != nil {
		return nil, err
	}
	q := &search.Wildcard{Clause: c, Field: name, Pattern: v.Text}
	if len(q.Pattern) > maxName || strings.Count(q.Pattern, "*") > 32 {
		return nil, in.bad("wildcard: a pattern may have %d bytes and 32 stars", maxName)
	}
	if q.CaseInsensitive, err = in.flag("case_insensitive"); err != nil {
		return nil, err
	}
	in.get("rewrite")
	return q, in.done("wildcard")
}

func (p *parser) terms(o *object) (search.Query, error) {
	c, err := base(o)
	if err != nil {
		return nil, err
	}
	name, n, err := field(o, "terms", "boost")
	if err != nil {
		return nil, err
	}
	q := &search.Terms{Clause: c, Field: name}
	if n.kind == jsonx.Object && len(n.keys) == 0 {
		return q, nil
	}
	if n.kind != jsonx.Array {
		return nil, n.bad("terms supports an array of values only")
	}
	if len(n.kids) > maxValues {
		return nil, n.bad("terms: more than %d values", maxValues)
	}
	for _, kid := range n.kids {
		v, err := kid.value()
		if err != nil {
			return nil, err
		}
		q.Values = append(q.Values, v)
	}
	return q, nil
}

func (p *parser) match(o *object) (search.Query, error) {
	c, name, v, in, err := leaf(o, "match", "query")
	if err != nil {
		return nil, err
	}
	q := &search.Match{Clause: c, Field: name, Text: v}
	if q.And, q.MinShould, q.Analyzer, q.ZeroAll, err = textParams(in); err != nil {
		return nil, err
	}
	return q, in.done("match")
}

// textParams reads what match and multi_match share.
func textParams(o *object) (and bool, m *search.Minimum, analyzer string, zeroAll bool, err error) {
	op, err := o.text("operator", "or")
	if err != nil {
		return
	}
	switch strings.ToLower(op) {
	case "and":
		and = true
	case "or":
	default:
		err = o.get("operator").bad("operator must be and or or")
		return
	}
	if m, err = minimum(o); err != nil {
		return
	}
	if analyzer, err = o.text("analyzer", ""); err != nil {
		return
	}
	zero, err := o.text("zero_terms_query", "none")
	if err == nil && zero != "none" && zero != "all" {
		err = o.get("zero_terms_query").bad("zero_terms_query must be none or all")
	}
	zeroAll = zero == "all"
	// Both are about errors and phrases that do not arise here.
	o.get("lenient")
	o.get("auto_generate_synonyms_phrase_query")
	return
}

func (p *parser) multiMatch(o *object) (search.Query, error) {
	c, err := base(o)
	if err != nil {
		return nil, err
	}
	q := &search.MultiMatch{Clause: c}
	text := o.get("query")
	if text == nil {
		return nil, o.bad("multi_match needs the parameter %q", "query")
	}
	if q.Text, err = text.value(); err != nil {
		return nil, err
	}
	if n := o.get("fields"); n != nil {
		if q.Fields, err = weighted(n); err != nil {
			return nil, err
		}
	}
	kind, err := o.text("type", "best_fields")
	if err != nil {
		return nil, err
	}
	if kind != "best_fields" && kind != "most_fields" {
		return nil, o.get("type").bad("multi_match does not support the type %q", kind)
	}
	q.MostFields = kind == "most_fields"
	if q.TieBreaker, err = o.float("tie_breaker", 0); err != nil {
		return nil, err
	}
	q.And, q.MinShould, q.Analyzer, q.ZeroAll, err = textParams(o)
	return q, err
}

// weighted reads fields such as "title^3".
func weighted(n *node) ([]search.WeightedField, error) {
	names, err := n.strings()
	if err != nil {
		return nil, err
	}
	if len(names) > maxClauses {
		return nil, n.bad("more than %d fields", maxClauses)
	}
	out := make([]search.WeightedField, len(names))
	for i, s := range names {
		name, boost, found := strings.Cut(s, "^")
		out[i] = search.WeightedField{Name: name, Boost: 1}
		if found {
			f, err := strconv.ParseFloat(boost, 64)
			if err != nil || !(f >= 0 && f <= 1e9) {
				return nil, n.bad("%q has no valid boost", s)
			}
			out[i].Boost = f
		}
		if name == "" || len(name) > maxName {
			return nil, n.bad("%q is no field", s)
		}
	}
	return out, nil
}

func (p *parser) rangeOf(o *object) (search.Query, error) {
	name, n, err := field(o, "range")
	if err != nil {
		return nil, err
	}
	in, err := open(n)
	if err != nil {
		return nil, err
	}
	c, err := base(in)
	if err != nil {
		return nil, err
	}
	q := &search.Range{Clause: c, Field: name}
	lower, err := in.text("include_lower", "true")
	if err != nil {
		return nil, err
	}
	upper, err := in.text("include_upper", "true")
	if err != nil {
		return nil, err
	}
	from, to := &q.GTE, &q.LTE
	if lower == "false" {
		from = &q.GT
	}
	if upper == "false" {
		to = &q.LT
	}
	for _, b := range []struct {
		name string
		to   **search.Value
	}{{"from", from}, {"to", to}, {"gt", &q.GT}, {"gte", &q.GTE}, {"lt", &q.LT}, {"lte", &q.LTE}} {
		if bound := in.get(b.name); bound != nil {
			v, err := bound.value()
			if err != nil {
				return nil, err
			}
			*b.to = &v
		}
	}
	if err := rangeDates(in, q); err != nil {
		return nil, err
	}
	if n := in.get("relation"); n != nil && !strings.EqualFold(n.text, "intersects") {
		return nil, n.bad("range supports only the relation intersects")
	}
	return q, in.done("range")
}

// rangeDates reads format and time_zone and refuses what is neither.
func rangeDates(in *object, q *search.Range) (err error) {
	if q.Format, err = in.text("format", ""); err != nil {
		return err
	}
	if q.TimeZone, err = in.text("time_zone", ""); err != nil {
		return err
	}
	loc := time.UTC
	if q.TimeZone != "" {
		if loc, err = dates.ParseZone(q.TimeZone); err != nil {
			return in.get("time_zone").bad("%s", err)
		}
	}
	if q.Format == "" {
		return nil
	}
	f, err := dates.Parse(q.Format)
	if err != nil {
		return in.get("format").bad("%s", err)
	}
	for _, v := range []*search.Value{q.GT, q.GTE, q.LT, q.LTE} {
		if v == nil {
			continue
		}
		if _, err := f.Math(v.Text, time.Unix(0, 0), loc, false); err != nil {
			return in.bad("%s", err)
		}
	}
	return nil
}
