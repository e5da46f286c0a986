package dsl

import (
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/lucene"
)

func (p *parser) fuzzy(o *object) (search.Query, error) {
	c, name, v, in, err := leaf(o, "fuzzy", "value")
	if err != nil {
		return nil, err
	}
	f, err := fuzziness(in, "AUTO", "transpositions")
	if err != nil {
		return nil, err
	}
	if len(v.Text) > maxName {
		return nil, in.bad("fuzzy: a value may have %d bytes", maxName)
	}
	in.get("rewrite")
	return &search.Fuzzy{Clause: c, Field: name, Value: v.Text, Fuzziness: *f}, in.done("fuzzy")
}

// fuzziness reads the parameters of fuzziness; nil if there is none and no
// fallback.
func fuzziness(o *object, fallback, transpositions string) (*search.Fuzziness, error) {
	text, err := o.text("fuzziness", fallback)
	if err != nil {
		return nil, err
	}
	prefix, err := o.whole("prefix_length", 0, 0, maxName)
	if err != nil {
		return nil, err
	}
	most, err := o.whole("max_expansions", 50, 1, maxExpansions)
	if err != nil {
		return nil, err
	}
	swap := true
	if o.get(transpositions) != nil {
		if swap, err = o.flag(transpositions); err != nil {
			return nil, err
		}
	}
	o.get("fuzzy_rewrite")
	if text == "" {
		return nil, nil
	}
	f, err := search.ParseFuzziness(text)
	if err != nil {
		return nil, o.get("fuzziness").bad("%s", err)
	}
	f.PrefixLength, f.MaxExpansions, f.NoTranspositions = prefix, most, !swap
	return f, nil
}

func (p *parser) regexpOf(o *object) (search.Query, error) {
	c, name, v, in, err := leaf(o, "regexp", "value")
	if err != nil {
		return nil, err
	}
	q := &search.Regexp{Clause: c, Field: name, Pattern: v.Text}
	if _, err := lucene.RE2(q.Pattern); err != nil {
		return nil, in.bad("regexp: %s", err)
	}
	if q.CaseInsensitive, err = in.flag("case_insensitive"); err != nil {
		return nil, err
	}
	if flags, err := in.text("flags", "ALL"); err != nil || flags != "ALL" {
		return nil, in.get("flags").bad("regexp supports only the flags ALL")
	}
	in.get("rewrite")
	in.get("max_determinized_states") // there is no automaton to bound
	return q, in.done("regexp")
}

func (p *parser) boosting(o *object) (search.Query, error) {
	c, err := base(o)
	if err != nil {
		return nil, err
	}
	q := &search.Boosting{Clause: c}
	for _, part := range []struct {
		name string
		to   *search.Query
	}{{"positive", &q.Positive}, {"negative", &q.Negative}} {
		n := o.get(part.name)
		if n.empty() {
			return nil, o.bad("boosting needs the parameter %q", part.name)
		}
		if *part.to, err = p.query(n); err != nil {
			return nil, err
		}
	}
	if o.get("negative_boost") == nil {
		return nil, o.bad("boosting needs the parameter %q", "negative_boost")
	}
	q.NegativeBoost, err = o.float("negative_boost", 1)
	if err == nil && (q.NegativeBoost < 0 || q.NegativeBoost > 1e9) {
		err = o.get("negative_boost").bad("a boost must be between 0 and 1e9")
	}
	return q, err
}
