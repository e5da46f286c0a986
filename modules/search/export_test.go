package search

import "github.com/quoin-cms/quoin/core/port"

// Through puts something between the content store and the indexer, such as a
// fault. It must be called before start.
func (ix *Indexer) Through(wrap func(port.Documents) port.Documents) { ix.docs = wrap(ix.docs) }

// Unlearn forgets which events were heard live, as if another process had
// emitted them.
func (ix *Indexer) Unlearn() { ix.own.limit = 0 }
