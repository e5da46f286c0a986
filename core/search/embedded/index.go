package embedded

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/analysis"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// chunk is how many documents are taken apart before the index is locked to
// add them; readers wait for so many at most.
const chunk = 64

// index is one concrete index: a base, what is being made a base of, if
// anything, and a tail that takes what is written. writer is held by whoever
// changes it, who also holds mu for as long as a change takes.
type index struct {
	name   string
	policy *policy
	set    atomic.Pointer[analysis.Set]
	full   atomic.Bool // the mapping left out fields

	mu   sync.RWMutex // held for reading by searches
	segs []*segment   // the tail last

	writer   sync.Mutex
	settings search.Settings
	reg      *mapping.Registry
	plan     *mapping.Plan
	batch    batch
	// formed has for each content type how its documents were indexed; empty
	// for one of which some were indexed in one way and some in another.
	formed map[string]string
	forms  *forms // of the settings

	mergeState // see merge.go
}

func newIndex(name string, s search.Settings, p *policy) (*index, error) {
	x := &index{name: name, policy: p, reg: mapping.NewRegistry(), formed: map[string]string{}}
	if err := x.configure(s); err != nil {
		return nil, err
	}
	x.segs = []*segment{newSegment()}
	x.done.L = &x.writer
	return x, nil
}

func (x *index) tail() *segment { return x.segs[len(x.segs)-1] }

// has tells whether a segment is part of the index.
func (x *index) has(s *segment) bool {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return slices.Contains(x.segs, s)
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
	x.settings, x.plan, x.forms = s, plan, newForms(s)
	return nil
}

// remember notes how the documents of a batch are indexed.
func (x *index) remember(ops []search.Op) {
	last := ""
	for _, op := range ops {
		if op.Doc == nil || op.Doc.Key.Type == last {
			continue
		}
		last = op.Doc.Key.Type
		form := x.forms.of(last)
		if old, ok := x.formed[last]; !ok {
			x.formed[strings.Clone(last)] = form
		} else if old != form {
			x.formed[last] = ""
		}
	}
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
		x.remember(ops[:n])
		x.mu.Lock()
		x.batch.commit(x)
		x.mu.Unlock()
		ops = ops[n:]
	}
	x.full.Store(x.reg.Full)
	x.batch.shrink()
	x.consider()
	if len(refused) == 0 {
		return nil
	}
	return &problem.Problem{Kind: problem.Invalid, Code: "documents_refused", Fields: refused,
		Detail: fmt.Sprintf("%d documents could not be indexed; the others were", len(refused))}
}
