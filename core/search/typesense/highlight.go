package typesense

import (
	"slices"
	"strings"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
	"github.com/quoin-cms/quoin/core/search/marking"
)

// Highlights are made here, of the source: the server would mark the codes of
// the tokens.

// marks says what is to be highlighted; nil for nothing. It is used by one
// goroutine.
type marks struct {
	fields  []search.HighlightField
	markers []marking.Markers // by field
	known   map[markKey]markedField
}

type markKey struct {
	how   int
	field *mapping.Field
}

type markedField struct {
	field marking.Field
	shown bool
}

func newMarks(h *search.Highlight, q search.Query) *marks {
	if h == nil {
		return nil
	}
	m := &marks{fields: h.Fields, markers: make([]marking.Markers, len(h.Fields)), known: map[markKey]markedField{}}
	for i := range h.Fields {
		m.markers[i] = marking.MarkersOf(&h.Fields[i], q)
	}
	return m
}

// of marks the texts of an object and of those inside it.
func (m *marks) of(o *object) []search.Highlighted {
	if m == nil {
		return nil
	}
	var out []search.Highlighted
	for i := range m.fields {
		for _, c := range o.doc.fields {
			f := c.Field
			known := slices.ContainsFunc(out, func(h search.Highlighted) bool { return h.Field == f.Path })
			if f.Family.Numeric() || known || strings.HasPrefix(f.Path, "_") || !search.MatchPattern(m.fields[i].Name, f.Path) {
				continue
			}
			field := m.field(i, f)
			if !field.shown {
				continue
			}
			if parts := field.field.Fragments(o.texts(c.Name)); len(parts) > 0 {
				out = append(out, search.Highlighted{Field: f.Path, Fragments: parts})
			}
		}
	}
	return out
}

// texts gives the texts of a column in an object and those inside it.
func (o *object) texts(column string) []string {
	var out []string
	for _, k := range o.doc.objects {
		for up := k; up != nil; up = up.up {
			if up != o {
				continue
			}
			for _, v := range k.values(column) {
				out = append(out, v.text)
			}
			break
		}
	}
	return out
}

// field gives the clauses that matter for a field.
func (m *marks) field(i int, f *mapping.Field) *markedField {
	key := markKey{i, f}
	known, ok := m.known[key]
	if !ok {
		known.field, known.shown = m.markers[i].For(f, &m.fields[i])
		m.known[key] = known
	}
	return &known
}
