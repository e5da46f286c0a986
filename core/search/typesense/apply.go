package typesense

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/typesense/typesense-go/v3/typesense/api"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
)

// applyChunk is how many operations are made into rows before they are sent.
const applyChunk = 512

// Apply implements search.Engine. What it applied is searchable when it
// returns. A document is replaced in three steps that a reader may see: its
// nested rows go, the row of the document is replaced, its nested rows come.
func (e *Engine) Apply(ctx context.Context, name string, ops []search.Op) error {
	g, err := e.open(ctx, name)
	if err != nil {
		return err
	}
	ops = newest(ops)
	var refused []problem.FieldError
	for len(ops) > 0 {
		n := min(applyChunk, len(ops))
		bad, err := e.applyChunk(ctx, g, ops[:n])
		if err != nil {
			e.stale(err)
			return err
		}
		refused = append(refused, bad...)
		ops = ops[n:]
	}
	if len(refused) == 0 {
		return nil
	}
	return &problem.Problem{Kind: problem.Invalid, Code: "documents_refused", Fields: refused,
		Detail: fmt.Sprintf("%d documents could not be indexed; the others were", len(refused))}
}

// newest keeps the last operation of each document: the state before it would
// not be seen.
func newest(ops []search.Op) []search.Op {
	last := make(map[search.Key]int, len(ops))
	for i := range ops {
		last[opKey(&ops[i])] = i
	}
	if len(last) == len(ops) {
		return ops
	}
	out := make([]search.Op, 0, len(last))
	for i := range ops {
		if last[opKey(&ops[i])] == i {
			out = append(out, ops[i])
		}
	}
	return out
}

func opKey(op *search.Op) search.Key {
	if op.Doc != nil {
		return op.Doc.Key
	}
	return op.Key
}

// chunk is a batch in the form in which it is sent.
type chunk struct {
	docs   []made
	keys   []search.Key // of docs
	gone   []string     // ids to delete
	nested bool         // documents may have had nested rows, or have some
}

func (e *Engine) applyChunk(ctx context.Context, g *generation, ops []search.Op) (refused []problem.FieldError, err error) {
	m := newMaker(g)
	c := chunk{nested: len(g.spaces()) > 1}
	for i := range ops {
		key := opKey(&ops[i])
		if ops[i].Doc == nil {
			c.gone = append(c.gone, docID(key))
			continue
		}
		doc, err := m.make(ops[i].Doc)
		if err != nil { // it counts as a deletion
			refused = append(refused, refusal(key, err.Error()))
			c.gone = append(c.gone, docID(key))
			continue
		}
		c.docs, c.keys = append(c.docs, doc), append(c.keys, key)
	}
	more, err := e.send(ctx, g, &c)
	if err != nil {
		return nil, err
	}
	g.learn(slices.Collect(maps.Keys(m.main)), slices.Collect(maps.Keys(m.rows)))
	return append(refused, more...), nil
}

func refusal(key search.Key, why string) problem.FieldError {
	return problem.FieldError{Path: key.Type + ":" + key.OUUID, Message: why}
}

// send performs a chunk. Documents that the server refuses are removed, so that
// nobody finds their old state.
func (e *Engine) send(ctx context.Context, g *generation, c *chunk) (refused []problem.FieldError, err error) {
	defer e.write()()
	if err := e.client.deleteByIDs(ctx, g.main, "id", c.gone); err != nil {
		return nil, err
	}
	if len(c.docs) == 0 {
		return nil, nil
	}
	if c.nested {
		ids := make([]string, len(c.docs))
		for i := range c.docs {
			ids[i] = c.docs[i].id
		}
		if err := e.client.deleteByIDs(ctx, g.rows, fieldRoot, ids); err != nil {
			return nil, err
		}
	}
	lines := make([][]byte, len(c.docs))
	for i := range c.docs {
		lines[i] = c.docs[i].main
	}
	said, err := e.client.importLines(ctx, g.main, api.Upsert, lines)
	if err != nil {
		return nil, err
	}
	var bad []string
	var nested [][]byte
	var owner []int // index in docs of each nested row
	for i, v := range said {
		if !v.Success {
			refused = append(refused, refusal(c.keys[i], v.Error))
			bad = append(bad, c.docs[i].id)
			continue
		}
		for _, line := range c.docs[i].nested {
			nested, owner = append(nested, line), append(owner, i)
		}
	}
	if said, err = e.client.importLines(ctx, g.rows, api.Upsert, nested); err != nil {
		return nil, err
	}
	last := -1
	for i, v := range said {
		if strings.HasPrefix(v.Error, "Referenced document") { // another process has deleted it just now
			return nil, unavailable(errors.New(v.Error))
		}
		if !v.Success && owner[i] != last {
			last = owner[i]
			refused = append(refused, refusal(c.keys[last], v.Error))
			bad = append(bad, c.docs[last].id)
		}
	}
	return refused, e.client.deleteByIDs(ctx, g.main, "id", bad)
}

// Refresh implements search.Engine; there is nothing to wait for, because what
// an import has accepted is found.
func (e *Engine) Refresh(ctx context.Context, name string) error {
	_, err := e.open(ctx, name)
	return err
}
