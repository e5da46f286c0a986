package search

// Highlight asks for the parts of texts that a query found, marked.
type Highlight struct {
	Fields []HighlightField
}

// HighlightField is a field, or a pattern with *, and how its texts are cut:
// into Fragments parts of about Size characters, or not at all if Fragments
// is 0. Pre and Post stand around what was found. AnyField also marks what the
// query looks for in other fields.
type HighlightField struct {
	Name            string
	Pre, Post       string
	Size, Fragments int
	ByScore         bool // the parts with most marks first
	AnyField        bool
	Cut             Cut
	// BoundaryChars and MaxScan are for CutChars: where a part may begin and
	// end, and how many characters it may grow to get there.
	BoundaryChars string
	MaxScan       int
	Query         Query // what to mark instead of what the search looks for; may be nil
	NoMatch       int   // characters to show when nothing is marked; 0 for none
	HTML          bool  // escape the text, but not Pre and Post
}

// Cut says where a text may be cut.
type Cut uint8

// The ways to cut. CutSentence gives the sentence around a mark, or as much of
// it as Size allows; 0 means all of it. CutWord gives single words. CutChars
// gives Size characters around a mark. CutTokens divides the text from its
// start.
const (
	CutSentence Cut = iota
	CutWord
	CutChars
	CutTokens
)

// Highlighted is what was found in one field of a hit.
type Highlighted struct {
	Field     string
	Fragments []string
}
