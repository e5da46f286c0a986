package embedded

// offset gives the place of a nested object among those of the object around
// it; 0 for a document.
func (sp *space) offset(object uint32) int {
	if sp.parent == nil {
		return 0
	}
	first, _ := sp.down(sp.up[object])
	return int(object - first)
}
