package lucene

// Kind is what a Node asks for.
type Kind uint8

// The kinds of nodes.
const (
	Words    Kind = iota // Text is to be analyzed
	Phrase               // Text is to be analyzed, Slop
	Wildcard             // Text with * and ?, backslashes still in it
	Prefix               // Text
	Fuzzy                // Text, Edits
	Regexp               // Text
	Range                // Low, High
	Exists               // any value in Field
	Every                // all documents
	Group                // Clauses
)

// Node is a part of a parsed query.
type Node struct {
	Kind  Kind
	Field string // may hold *; empty means the default fields
	Text  string
	Boost float64
	// Slop of a phrase; -1 when the query does not say.
	Slop int
	// Edits of a fuzzy term; -1 when the query does not say.
	Edits int
	// Low and High are nil where a range is open-ended; with OpenLow and
	// OpenHigh the bounds themselves are not in it.
	Low, High         *string
	OpenLow, OpenHigh bool
	Clauses           []Clause
}

// Occur says what a clause of a group means for the whole.
type Occur uint8

// The occurs.
const (
	Should Occur = iota
	Must
	MustNot
)

// Clause is one part of a group.
type Clause struct {
	Occur Occur
	Node  *Node
}

// Bounds of a query.
const (
	maxDepth = 64
	maxNodes = 1024
)

func newNode(kind Kind, field, text string) *Node {
	return &Node{Kind: kind, Field: field, Text: text, Boost: 1, Slop: -1, Edits: -1}
}
