package embedded

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/analysis"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// chunk is how many documents are taken apart before the segment is locked to
// add them; readers wait for so many at most.
const chunk = 64

// minDead is how many deleted documents a segment may always keep.
const minDead = 512

// deadPart: a segment is written anew when one in so many of its documents is
// deleted.
const deadPart = 2

// index is one concrete index. writer is held by whoever changes it; readers
// only take the segment and its lock.
type index struct {
	id   uint64 // order in which searches lock segments
	name string
	seg  atomic.Pointer[segment]
	set  atomic.Pointer[analysis.Set]
	full atomic.Bool // the mapping left out fields

	minDead int // deleted documents below which a segment is left as it is

	writer   sync.Mutex
	settings search.Settings
	reg      *mapping.Registry
	plan     *mapping.Plan
	batch    batch
}

func newIndex(id uint64, name string, s search.Settings) (*index, error) {
	x := &index{id: id, name: name, reg: mapping.NewRegistry(), minDead: minDead}
	if err := x.configure(s); err != nil {
		return nil, err
	}
	x.seg.Store(newSegment())
	return x, nil
}

func (x *index) configure(s search.Settings) error {
	set := x.set.Load()
	if set == nil || !sameAnalysis(x.settings, s) {
		var err error
		if set, err = analysis.NewSet(s); err != nil {
			return err
		}
	}
	plan, err := mapping.NewPlan(x.reg, set, s)
	if err != nil {
		return err
	}
	x.set.Store(set)
	x.settings, x.plan = s, plan
	return nil
}

// sameAnalysis tells whether analyzers of a are as good as those of b, so that
// fields keep their identity.
func sameAnalysis(a, b search.Settings) bool {
	return reflect.DeepEqual(a.Analyzers, b.Analyzers) && reflect.DeepEqual(a.Tokenizers, b.Tokenizers) &&
		reflect.DeepEqual(a.Filters, b.Filters) && reflect.DeepEqual(a.CharFilters, b.CharFilters)
}

// apply performs the operations chunk by chunk.
func (x *index) apply(ctx context.Context, ops []search.Op) error {
	x.writer.Lock()
	defer x.writer.Unlock()
	var refused []problem.FieldError
	for len(ops) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(chunk, len(ops))
		refused = append(refused, x.batch.prepare(x.plan, ops[:n])...)
		seg := x.seg.Load()
		seg.mu.Lock()
		x.batch.commit(seg)
		seg.mu.Unlock()
		ops = ops[n:]
	}
	x.full.Store(x.reg.Full)
	x.batch.shrink()
	if seg := x.seg.Load(); seg.dead >= x.minDead && seg.dead*deadPart > int(seg.root().n) {
		x.seg.Store(seg.compact())
	}
	if len(refused) == 0 {
		return nil
	}
	return &problem.Problem{Kind: problem.Invalid, Code: "documents_refused", Fields: refused,
		Detail: fmt.Sprintf("%d documents could not be indexed; the others were", len(refused))}
}
