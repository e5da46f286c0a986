package embedded

// MergeEarly makes indexes merge as soon as a tail has so many documents, all
// the time.
func (e *Engine) MergeEarly(n int) {
	e.policy.tail, e.policy.dead, e.policy.part, e.policy.rest, e.policy.pause = n, n, 1<<30, 0, 0
}

// Settle waits until no index is being merged.
func (e *Engine) Settle() {
	for _, x := range e.catalog.Load().indices {
		x.writer.Lock()
		x.settle()
		x.writer.Unlock()
	}
}

// SaveAll merges every index that is not all in its base.
func (e *Engine) SaveAll() {
	for _, x := range e.catalog.Load().indices {
		x.save(1)
	}
}

// FileOf gives the path of the file of an index.
func (e *Engine) FileOf(name string) string { return e.policy.fileOf(name) }

// Segments counts the segments of an index.
func (e *Engine) Segments(name string) int { return len(e.catalog.Load().indices[name].segs) }
