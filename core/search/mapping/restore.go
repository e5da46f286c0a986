package mapping

// Space gives the space of the objects at a path inside another space, new or
// known, for an index that was kept.
func (r *Registry) Space(parent *Space, path string) *Space { return r.space(parent, path) }

// Field gives the field that is like f but for its ID, new or known, for an
// index that was kept; nil if there are too many.
func (r *Registry) Field(f Field) *Field { return r.field(f) }
