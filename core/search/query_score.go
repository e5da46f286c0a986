package search

import "github.com/quoin-cms/quoin/core/search/geo"

// FunctionScore matches what Query matches (nil: everything) and changes its
// scores by functions. MaxBoost bounds what the functions come to, MinScore,
// when set, leaves out what scores less.
type FunctionScore struct {
	Clause
	Query     Query
	Functions []Function
	// ScoreMode says how the functions that hold for a document are combined,
	// BoostMode how that is combined with the score of Query.
	ScoreMode, BoostMode Combine
	MaxBoost             float64
	MinScore             *float64
}

// Combine is a way to make one number of several.
type Combine string

// The ways to combine. CombineFirst is for functions only, CombineReplace for
// the score of a query only.
const (
	CombineMultiply Combine = "multiply"
	CombineSum      Combine = "sum"
	CombineAvg      Combine = "avg"
	CombineMax      Combine = "max"
	CombineMin      Combine = "min"
	CombineFirst    Combine = "first"
	CombineReplace  Combine = "replace"
)

// Function is one function of a FunctionScore: Weight times Body, for what
// Filter matches (nil: everything). Without Body it is the weight.
type Function struct {
	Path   string // in the JSON of the request
	Filter Query
	Weight float64 // 1 unless given
	Body   FunctionBody
}

// FunctionBody is one of the pointer types below.
type FunctionBody interface{ functionBody() }

// FieldFactor is the least value of a numeric field times Factor, changed by
// Modifier. Missing stands in for a value; without it a hit that has none is
// an error, as is a factor below 0.
type FieldFactor struct {
	Field    string
	Factor   float64
	Modifier string // none, log, log1p, log2p, ln, ln1p, ln2p, square, sqrt or reciprocal
	Missing  *float64
}

// RandomScore is a number from 0 up to 1 that depends on Seed and the value of
// Field, or on the identity of the document if Field is empty.
type RandomScore struct {
	Seed  string
	Field string
}

// Decay falls from 1 with the distance of a value of Field from the origin: by
// Curve, beginning at the distance Offset, to By at Scale behind that. Origin
// is a number, a date, or nil and Point a place on the earth. Distances are in
// the unit of the field: milliseconds for dates, meters for places. Without a
// value it is 1.
type Decay struct {
	Field         string
	Curve         DecayCurve
	Origin        *Value
	Point         *geo.Point
	Scale, Offset Span
	By            float64
	Mode          SortMode // which of several distances counts: min unless given
}

// Span is a distance of a Decay. Which number holds depends on what the field
// turns out to be; the others are negative.
type Span struct{ Number, Millis, Meters float64 }

// DecayCurve is the form of a Decay.
type DecayCurve string

// The forms of a decay.
const (
	Gauss       DecayCurve = "gauss"
	Exponential DecayCurve = "exp"
	Linear      DecayCurve = "linear"
)

func (*FieldFactor) functionBody() {}
func (*RandomScore) functionBody() {}
func (*Decay) functionBody()       {}
