package search

// Query is a clause of the query DSL: one of the pointer types of this file.
type Query interface {
	// Info gives what every clause has.
	Info() *Clause
}

// Clause is what every clause of a query has.
type Clause struct {
	Name  string  // as in the DSL: "match_all"
	Path  string  // in the JSON of the request: "query.bool.must[0].term"
	Boost float64 // factor of the score, 1 unless given
}

// Info gives the clause itself.
func (c *Clause) Info() *Clause { return c }

// MatchAll matches every document.
type MatchAll struct{ Clause }

// MatchNone matches no document.
type MatchNone struct{ Clause }

// Bool combines clauses. Must and Should add to the score, Filter and MustNot
// do not. MinShould is nil unless given: then 1 if there is neither Must nor
// Filter, else 0.
type Bool struct {
	Clause
	Must, Should, MustNot, Filter []Query
	MinShould                     *Minimum
	// SkipWordless leaves out clauses of whose text analyzers leave no word in
	// any field, as if they had not been written: a query string joins its parts
	// so. If none is left, the whole is such a clause.
	SkipWordless bool
}

// Term matches documents that hold exactly the value: a keyword, a token of a
// text, a number, a boolean or a date.
type Term struct {
	Clause
	Field           string
	Value           Value
	CaseInsensitive bool
}

// Terms matches documents that hold any of the values. Its score is its boost.
type Terms struct {
	Clause
	Field  string
	Values []Value
}

// Match analyzes the text and matches documents by its tokens.
type Match struct {
	Clause
	Field     string
	Text      Value
	And       bool
	MinShould *Minimum
	Analyzer  string // name; empty means the search analyzer of the field
	ZeroAll   bool   // match everything if no token is left
	// LastPrefix lets the last token stand for all terms that start with it
	// (match_bool_prefix).
	LastPrefix bool
	Fuzzy      *Fuzziness // nil for words as they are; not for the last prefix
}

// MatchPhrase matches texts that hold the tokens of Text in their order. Slop
// is how far they may be moved in all. With Prefix the last token stands for
// the first MaxExpansions terms that start with it. In fields that are not
// text it matches the value.
type MatchPhrase struct {
	Clause
	Field         string
	Text          Value
	Slop          int
	Analyzer      string
	ZeroAll       bool
	Prefix        bool
	MaxExpansions int
}

// WeightedField is a field, or a pattern of fields with *, with its boost.
type WeightedField struct {
	Name  string
	Boost float64
}

// MultiType says how a MultiMatch combines its fields.
type MultiType string

// The types of a multi_match. The phrase types are the best MatchPhrase,
// BoolPrefix is the sum of Match with LastPrefix, CrossFields looks for each
// word in any of the fields that share an analyzer.
const (
	BestFields   MultiType = "best_fields"
	MostFields   MultiType = "most_fields"
	CrossFields  MultiType = "cross_fields"
	Phrase       MultiType = "phrase"
	PhrasePrefix MultiType = "phrase_prefix"
	BoolPrefix   MultiType = "bool_prefix"
)

// MultiMatch is a Match or MatchPhrase on several fields: the best of them or
// their sum, by Type. Fields empty means all fields.
type MultiMatch struct {
	Clause
	Text       Value
	Fields     []WeightedField
	Type       MultiType
	And        bool
	MinShould  *Minimum
	Analyzer   string
	ZeroAll    bool
	TieBreaker float64
	Fuzzy      *Fuzziness // not for phrases and CrossFields
	// Slop and MaxExpansions are for the phrase types.
	Slop, MaxExpansions int
}

// In gives the clause that a multi_match stands for in one field; not for
// CrossFields.
func (q *MultiMatch) In(f WeightedField) Query {
	c := Clause{Name: q.Name, Path: q.Path, Boost: f.Boost}
	if q.Type == Phrase || q.Type == PhrasePrefix {
		return &MatchPhrase{Clause: c, Field: f.Name, Text: q.Text, Slop: q.Slop, Analyzer: q.Analyzer, ZeroAll: q.ZeroAll,
			Prefix: q.Type == PhrasePrefix, MaxExpansions: q.MaxExpansions}
	}
	return &Match{Clause: c, Field: f.Name, Text: q.Text, And: q.And, MinShould: q.MinShould,
		Analyzer: q.Analyzer, ZeroAll: q.ZeroAll, LastPrefix: q.Type == BoolPrefix, Fuzzy: q.Fuzzy}
}

// Range matches values between bounds, each nil if open. Format and TimeZone
// are for dates given as strings, which may use date math.
type Range struct {
	Clause
	Field            string
	GT, GTE, LT, LTE *Value
	Format           string
	TimeZone         string
}

// Exists matches documents with any value in the field or below it.
type Exists struct {
	Clause
	Field string
}

// IDs matches documents by ouuid.
type IDs struct {
	Clause
	Values []string
}

// ScoreMode says how the scores of nested objects become one.
type ScoreMode string

// The score modes of a nested clause.
const (
	ScoreAvg  ScoreMode = "avg"
	ScoreSum  ScoreMode = "sum"
	ScoreMax  ScoreMode = "max"
	ScoreMin  ScoreMode = "min"
	ScoreNone ScoreMode = "none"
)

// Nested matches documents of which a nested object under Objects (a dotted
// path) matches Query. An unmapped path matches nothing, with or without
// ignore_unmapped.
type Nested struct {
	Clause
	Objects   string
	Query     Query
	ScoreMode ScoreMode
	Inner     *InnerHits // nil unless asked for
}

// PartAnalysis says what happens to a part of a word before it is looked for
// in a text.
type PartAnalysis uint8

// What happens to parts of words: nothing; what the analyzer does to the case
// and the accents of letters; or all that the analyzer does, as far as one
// term comes of it.
const (
	PartVerbatim PartAnalysis = iota
	PartNormalized
	PartAnalyzed
)

// Prefix matches terms that start with Value.
type Prefix struct {
	Clause
	Field           string
	Value           string
	CaseInsensitive bool
	Analysis        PartAnalysis
}

// Wildcard matches whole terms; * stands for any characters, ? for one, a
// backslash takes the next one literally.
type Wildcard struct {
	Clause
	Field           string
	Pattern         string
	CaseInsensitive bool
	Analysis        PartAnalysis
}

// ConstantScore matches what Filter matches and scores its boost.
type ConstantScore struct {
	Clause
	Filter Query
}

// DisMax matches what any clause matches and scores the best of them plus
// TieBreaker times the others.
type DisMax struct {
	Clause
	Queries    []Query
	TieBreaker float64
}

// Fuzzy matches terms that are near Value.
type Fuzzy struct {
	Clause
	Field     string
	Value     string
	Fuzziness Fuzziness
}

// Regexp matches whole terms by a regular expression as Lucene writes them
// (see lucene.RE2).
type Regexp struct {
	Clause
	Field           string
	Pattern         string
	CaseInsensitive bool
}

// Boosting matches what Positive matches; the score is multiplied by
// NegativeBoost where Negative matches too.
type Boosting struct {
	Clause
	Positive, Negative Query
	NegativeBoost      float64
}

// Each is the best of the same clause on several fields, which may be patterns
// with *; empty means all. Query is a clause with a field, which is not set.
// Lenient leaves out fields for which the clause is Invalid.
type Each struct {
	Clause
	Fields     []WeightedField
	Query      Query
	TieBreaker float64
	Lenient    bool
}

// In gives the clause for one of the fields.
func (e *Each) In(f WeightedField) Query {
	switch q := e.Query.(type) {
	case *Exists:
		c := *q
		c.Field, c.Boost = f.Name, c.Boost*f.Boost
		return &c
	case *Prefix:
		c := *q
		c.Field, c.Boost = f.Name, c.Boost*f.Boost
		return &c
	case *Wildcard:
		c := *q
		c.Field, c.Boost = f.Name, c.Boost*f.Boost
		return &c
	case *Regexp:
		c := *q
		c.Field, c.Boost = f.Name, c.Boost*f.Boost
		return &c
	case *Range:
		c := *q
		c.Field, c.Boost = f.Name, c.Boost*f.Boost
		return &c
	}
	return &MatchNone{Clause: *e.Query.Info()}
}
