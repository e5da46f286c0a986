package embedded

import (
	"github.com/RoaringBitmap/roaring/v2"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
	"github.com/quoin-cms/quoin/core/search/marking"
)

// marked is a field to be highlighted and the clauses that matter for it.
type marked = marking.Field

// typeKey is one content type in one index. The same path may be analyzed in
// another way in each.
type typeKey struct{ index, typ string }

// marks gives what is to be highlighted in documents of the types.
func (r *run) marks(types []string) map[typeKey][]marked {
	if r.req.Highlight == nil {
		return nil
	}
	markers := make([]marking.Markers, len(r.req.Highlight.Fields))
	for i := range markers {
		markers[i] = marking.MarkersOf(&r.req.Highlight.Fields[i], r.req.Query)
	}
	out := map[typeKey][]marked{}
	for _, v := range r.views {
		for _, t := range types {
			docs := roaring.And(v.visible, v.ofTypes([]string{t}))
			if docs.IsEmpty() {
				continue
			}
			key := typeKey{v.x.name, t}
			out[key] = v.marked(out[key], r.req, docs, markers)
		}
	}
	return out
}

// marked adds the fields in which the documents have texts.
func (v *view) marked(list []marked, req *search.Request, docs *roaring.Bitmap, markers []marking.Markers) []marked {
	known := map[*mapping.Field]bool{}
	for i := range list {
		known[list[i].Of] = true
	}
	for i := range req.Highlight.Fields {
		how := &req.Highlight.Fields[i]
		for _, f := range v.seg.families {
			if f == nil || f.field.Family.Numeric() || !search.MatchPattern(how.Name, f.field.Path) || !v.holds(f, docs) {
				continue
			}
			if m, shown := markers[i].For(f.field, how); shown && !known[f.field] {
				known[f.field] = true
				list = append(list, m)
			}
		}
	}
	return list
}

// holds tells whether any of the documents has a value in the family.
func (v *view) holds(f *family, docs *roaring.Bitmap) bool {
	root := v.seg.root()
	sp := v.seg.spaces[f.field.Space.ID]
	if sp == nil || sp.parent == nil {
		return f.has.Intersects(docs)
	}
	it := f.has.Iterator()
	for it.HasNext() {
		if docs.Contains(sp.outer(root, it.Next())) {
			return true
		}
	}
	return false
}
