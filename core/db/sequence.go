package db

import (
	"context"
	"sync"
)

// Sequence names ids that are known before the rows that bear them are
// written. On PostgreSQL it is a sequence whose increment is Block: a process
// takes that many ids at once, so they say little about order. Make it as a
// package variable of a store.
type Sequence struct {
	next  *Statement
	block int64
}

// NewSequence describes a sequence of PostgreSQL by its name and increment.
func NewSequence(name string, block int64) *Sequence {
	return &Sequence{next: Dual("", "SELECT nextval('"+name+"')"), block: block}
}

// ids are the ids of a sequence that this process may use.
type ids struct {
	mu        sync.Mutex
	next, end int64
}

// NextID gives an id of the sequence. On SQLite it gives 0: there the table
// chooses, for an insert with its answer costs no round trip. A block is ours
// even if the transaction that took it is rolled back.
func (d *DB) NextID(ctx context.Context, q *Sequence) (int64, error) {
	if d.dialect == SQLite {
		return 0, nil
	}
	known, _ := d.sequences.LoadOrStore(q, &ids{})
	i := known.(*ids)
	if id, ok := i.take(); ok {
		return id, nil
	}
	var first int64
	if err := d.Row(ctx, q.next).Scan(&first); err != nil {
		return 0, err
	}
	i.refill(first+1, first+q.block)
	return first, nil
}

func (i *ids) take() (int64, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.next == i.end {
		return 0, false
	}
	i.next++
	return i.next - 1, true
}

// refill keeps a new block, unless another was faster: then it is left out.
func (i *ids) refill(next, end int64) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.next == i.end {
		i.next, i.end = next, end
	}
}
