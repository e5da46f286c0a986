package typesense

import (
	"regexp"
	"time"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/lucene"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// filter gives which values may have buckets; nil for all.
func (t *termsRun) filter() (func(bucketKey) bool, error) {
	in, err := t.chosenBy(t.body.Include, ".include")
	if err != nil {
		return nil, err
	}
	out, err := t.chosenBy(t.body.Exclude, ".exclude")
	if err != nil || in == nil && out == nil {
		return nil, err
	}
	return func(k bucketKey) bool { return (in == nil || in(k)) && (out == nil || !out(k)) }, nil
}

func (t *termsRun) chosenBy(f *search.TermFilter, where string) (func(bucketKey) bool, error) {
	switch {
	case f == nil:
		return nil, nil
	case f.Pattern != "":
		return t.matching(f.Pattern, where)
	}
	texts := map[string]bool{}
	numbers := map[bucketKey]bool{}
	for _, v := range f.Values {
		texts[v.Text] = true
		if n, ok := v.Number(); ok {
			numbers[bucketKey{family: mapping.Double, num: n}] = true
			numbers[bucketKey{family: mapping.Date, num: n}] = v.Kind == search.NumberValue
		}
		if b, ok := v.Bool(); ok {
			numbers[bucketKey{family: mapping.Boolean, num: float64(oneIf(b))}] = true
		}
		for _, list := range t.columns {
			for _, fam := range list {
				if fam.Field.Family != mapping.Date {
					continue
				}
				if ms, ok := fam.Field.Format.Millis(v.Text, time.UTC, false); ok {
					numbers[bucketKey{family: mapping.Date, num: float64(ms)}] = true
				}
			}
		}
	}
	return func(k bucketKey) bool {
		switch {
		case !k.family.Numeric():
			return texts[k.text]
		case k.family == mapping.Long:
			k.family = mapping.Double
		}
		return numbers[k]
	}, nil
}

// matching chooses strings by a regular expression. Numbers have no letters to
// match, and a field that has only numbers is refused, as in Elasticsearch.
func (t *termsRun) matching(pattern, where string) (func(bucketKey) bool, error) {
	strings, numbers := t.body.Field == indexField, false
	for _, list := range t.columns {
		for _, f := range list {
			numbers = numbers || f.Field.Family.Numeric()
			strings = strings || !f.Field.Family.Numeric()
		}
	}
	if numbers && !strings {
		return nil, problem.Field(problem.Invalid, t.a.Path+where, "the field %q has numbers, which an expression cannot choose; give a list of values", t.body.Field)
	}
	re2, err := lucene.RE2(pattern)
	if err != nil {
		return nil, problem.Field(problem.Invalid, t.a.Path+where, "%s", err)
	}
	whole, err := regexp.Compile(`\A(?s:` + re2 + `)\z`)
	if err != nil {
		return nil, problem.Field(problem.Invalid, t.a.Path+where, "%s", err)
	}
	return func(k bucketKey) bool { return !k.family.Numeric() && whole.MatchString(k.text) }, nil
}
