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
}

// Highlighted is what was found in one field of a hit.
type Highlighted struct {
	Field     string
	Fragments []string
}
