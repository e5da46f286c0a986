package bucketing

import (
	"iter"
	"regexp"
	"time"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/lucene"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// Choice gives which values may have buckets; nil for all.
func Choice(a *search.Agg, body *search.TermsAgg, fields iter.Seq[*mapping.Field]) (func(Key) bool, error) {
	c := choice{a, body, fields}
	in, err := c.chosenBy(body.Include, ".include")
	if err != nil {
		return nil, err
	}
	out, err := c.chosenBy(body.Exclude, ".exclude")
	if err != nil || in == nil && out == nil {
		return nil, err
	}
	return func(k Key) bool { return (in == nil || in(k)) && (out == nil || !out(k)) }, nil
}

// choice is what include and exclude are read for.
type choice struct {
	a      *search.Agg
	body   *search.TermsAgg
	fields iter.Seq[*mapping.Field]
}

func (c *choice) chosenBy(f *search.TermFilter, where string) (func(Key) bool, error) {
	switch {
	case f == nil:
		return nil, nil
	case f.Pattern != "":
		return c.matching(f.Pattern, where)
	}
	texts := map[string]bool{}
	numbers := map[Key]bool{}
	for _, v := range f.Values {
		texts[v.Text] = true
		if n, ok := v.Number(); ok {
			numbers[NumberKey(mapping.Double, n)] = true
			numbers[NumberKey(mapping.Date, n)] = v.Kind == search.NumberValue
		}
		if b, ok := v.Bool(); ok {
			numbers[NumberKey(mapping.Boolean, mapping.Flag(b))] = true
		}
		for f := range c.fields {
			if f.Family == mapping.Date {
				if ms, ok := f.Format.Millis(v.Text, time.UTC, false); ok {
					numbers[NumberKey(mapping.Date, float64(ms))] = true
				}
			}
		}
	}
	return func(k Key) bool {
		if k.Family.Numeric() {
			return numbers[k]
		}
		return texts[k.Text]
	}, nil
}

// matching chooses strings by a regular expression. Numbers have no letters to
// match, and a field that has only numbers is refused, as in Elasticsearch.
func (c *choice) matching(pattern, where string) (func(Key) bool, error) {
	strings, numbers := c.body.Field == mapping.IndexField, false
	for f := range c.fields {
		numbers = numbers || f.Family.Numeric()
		strings = strings || !f.Family.Numeric()
	}
	if numbers && !strings {
		return nil, problem.Field(problem.Invalid, c.a.Path+where, "the field %q has numbers, which an expression cannot choose; give a list of values", c.body.Field)
	}
	re2, err := lucene.RE2(pattern)
	if err != nil {
		return nil, problem.Field(problem.Invalid, c.a.Path+where, "%s", err)
	}
	whole, err := regexp.Compile(`\A(?s:` + re2 + `)\z`)
	if err != nil {
		return nil, problem.Field(problem.Invalid, c.a.Path+where, "%s", err)
	}
	return func(k Key) bool { return !k.Family.Numeric() && whole.MatchString(k.Text) }, nil
}
