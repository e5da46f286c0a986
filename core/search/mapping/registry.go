// Package mapping takes documents apart into typed values, by the settings of
// an index or dynamically. What it gives feeds any engine.
package mapping

import (
	"github.com/quoin-cms/quoin/core/search/analysis"
	"github.com/quoin-cms/quoin/core/search/dates"
)

// Family is how the values of a field are kept. One path may have fields of
// several families, when its kind differs by content type or by document.
type Family uint8

// The families.
const (
	Text Family = iota
	Keyword
	Long
	Double
	Date
	Boolean
	// Geo are points on the earth, each as its code (see package geo).
	Geo
)

// Numeric tells whether values of the family are numbers: also dates, in
// milliseconds, booleans, 0 or 1, and points, whose codes have no order.
func (f Family) Numeric() bool { return f >= Long }

// Space is a kind of object with numbers of its own: the documents (Path is
// empty), or the objects of one nested path.
type Space struct {
	ID     int
	Path   string
	Parent *Space // nil for the documents
}

// Field is the values of one path in one family. It never changes.
type Field struct {
	ID     int
	Space  *Space
	Path   string // from the root of the document, also inside nested objects
	Family Family
	// Analyzer made the tokens of a text, Search makes those of queries.
	Analyzer, Search *analysis.Analyzer
	// Listed tells that tokens of the text can be listed per object, for sorts
	// and aggregations.
	Listed bool
	// Format reads and writes dates of the field.
	Format *dates.Format
}

// Bounds of an index, against documents whose keys are data.
const (
	maxFields = 10_000
	maxNodes  = 100_000
	maxPath   = 1_000
)

// Names of fields that every index has.
const (
	TypeField = "_contenttype"
	IDField   = "_id"
	AllField  = "_all"
)

// IndexField is the name of the index of a document, which requests may use
// like a field.
const IndexField = "_index"

type fieldKey struct {
	space            int
	path             string
	family           Family
	analyzer, search *analysis.Analyzer
	listed           bool
	format           string
}

// Registry numbers the spaces and fields of an index. It outlives changes of
// settings. It is not safe for concurrent use.
type Registry struct {
	Spaces []*Space
	fields map[fieldKey]*Field
	// Full tells that fields were left out because there were too many.
	Full bool
}

// NewRegistry makes a registry that holds the space of documents.
func NewRegistry() *Registry {
	return &Registry{Spaces: []*Space{{}}, fields: map[fieldKey]*Field{}}
}

func (r *Registry) space(parent *Space, path string) *Space {
	for _, s := range r.Spaces {
		if s.Path == path && s.Parent == parent {
			return s
		}
	}
	s := &Space{ID: len(r.Spaces), Path: path, Parent: parent}
	r.Spaces = append(r.Spaces, s)
	return s
}

// field gives the field, new or known; nil if there are too many.
func (r *Registry) field(f Field) *Field {
	key := fieldKey{space: f.Space.ID, path: f.Path, family: f.Family, analyzer: f.Analyzer, search: f.Search, listed: f.Listed}
	if f.Format != nil {
		key.format = f.Format.String()
	}
	if known := r.fields[key]; known != nil {
		return known
	}
	if len(r.fields) >= maxFields || len(f.Path) > maxPath {
		r.Full = true
		return nil
	}
	f.ID = len(r.fields)
	r.fields[key] = &f
	return &f
}

// Fields gives the fields known so far, in no order.
func (r *Registry) Fields() []*Field {
	out := make([]*Field, 0, len(r.fields))
	for _, f := range r.fields {
		out = append(out, f)
	}
	return out
}
