package embedded

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// Options say where an engine keeps its indexes.
type Options struct {
	// Dir is the folder of the base files. It is made when it is needed, and
	// belongs to one engine at a time. Empty: nothing is kept.
	Dir string
	Log *slog.Logger // may be nil
}

// Open makes an engine that keeps its indexes in files. None is loaded: that
// is for Restore.
func Open(load search.Loader, o Options) *Engine {
	e := New(load)
	e.policy.dir = o.Dir
	if o.Log != nil {
		e.policy.log = o.Log
	}
	return e
}

// Clean deletes what a crash left behind of files that were being written. It
// is to be called before anything else, by the one who has the folder now.
func (e *Engine) Clean() error {
	return e.policy.sweep(func(path string) bool { return !strings.HasSuffix(path, tempSuffix) })
}

// Restore is Create for an index that was kept: it has what it had when its
// file was written, at some time before. It is the caller who brings it up to
// date, see Compare. False means that there is no file, or one that cannot be
// used, because it is damaged, from another version of the program or made with
// other settings: reason says why, and the index is there, but empty. A reason
// of "" is no file.
func (e *Engine) Restore(ctx context.Context, name string, s search.Settings) (restored bool, reason string, err error) {
	err = e.create(name, s, true)
	if err == nil {
		return true, "", nil
	}
	var bad damagedError
	switch {
	case errors.As(err, &bad):
		reason = bad.Error()
	case errors.Is(err, fs.ErrNotExist):
	case problem.From(err).Kind != problem.Internal: // the name or the settings
		return false, "", err
	default:
		reason = err.Error()
	}
	return false, reason, e.Create(ctx, name, s)
}

// Save writes the index to its file unless so few documents have been changed
// since the last time that it is not worth it. It does not fail: what cannot be
// written is logged and found again after the next start.
func (e *Engine) Save(_ context.Context, name string) error {
	x, err := e.catalog.Load().index(name)
	if err != nil {
		return err
	}
	x.save(worth)
	return nil
}

// Close saves the indexes and ends all work in the background. Nothing must be
// applied any more.
func (e *Engine) Close() {
	for _, x := range e.catalog.Load().indices {
		if x.path != "" {
			x.save(worth)
		}
		x.close()
	}
}

// Sweep deletes the files of indexes that do not exist.
func (e *Engine) Sweep() error {
	e.change.Lock()
	defer e.change.Unlock()
	wanted := map[string]bool{}
	for name := range e.catalog.Load().indices {
		wanted[e.policy.fileOf(name)] = true
	}
	return e.policy.sweep(func(path string) bool { return wanted[path] || strings.HasSuffix(path, tempSuffix) })
}

// Comparison tells what of an index was not as it should be when it began. It
// is not safe for concurrent use, but the index may be written to meanwhile.
type Comparison struct {
	parts []*compared
}

// compared is one segment, to which nothing is added any more. What it has by
// path is not read: it gets the fields of those that are written to.
type compared struct {
	seg        *segment
	ids, types *family
	live       *roaring.Bitmap // documents that were not asked for yet
	last       int             // place of the last id in the dictionary
	ofType     map[string]uint32
}

// Compare begins a comparison. What is applied from now on goes to a tail of
// its own, because the comparison reads without the lock of the index.
func (e *Engine) Compare(name string) (*Comparison, error) {
	x, err := e.catalog.Load().index(name)
	if err != nil {
		return nil, err
	}
	x.writer.Lock()
	defer x.writer.Unlock()
	x.settle() // a merge takes what it began with and one tail
	x.mu.Lock()
	defer x.mu.Unlock()
	c := &Comparison{}
	for _, s := range x.segs {
		if s.root().n > 0 {
			c.parts = append(c.parts, &compared{seg: s, ids: s.byPath[pathKey{0, mapping.IDField}][0],
				types: s.byPath[pathKey{0, mapping.TypeField}][0], live: s.root().live.Clone(), ofType: map[string]uint32{}})
		}
	}
	if x.tail().root().n > 0 {
		x.tail().seal()
		x.extend()
	}
	return c, nil
}

// Same tells whether the index has the document in the state of the ref and
// stamp. It is quick when ids are asked for in their order.
func (c *Comparison) Same(key search.Key, ref, stamp int64) bool {
	for _, p := range c.parts {
		if doc, ok := p.find(key); ok {
			p.live.Remove(doc)
			return p.seg.refs[doc] == ref && p.seg.stamps[doc] == stamp
		}
	}
	return false
}

// Rest calls fn with the documents of the index for which Same was not asked.
func (c *Comparison) Rest(fn func(search.Key) error) error {
	for _, p := range c.parts {
		it := p.live.Iterator()
		for it.HasNext() {
			if err := fn(keyIn(p.types, p.ids, it.Next())); err != nil {
				return err
			}
		}
	}
	return nil
}

// find gives the number of a document that was not asked for.
func (p *compared) find(key search.Key) (uint32, bool) {
	want, ok := p.ofType[key.Type]
	if !ok {
		if want, ok = p.types.dict.find(key.Type); !ok {
			return 0, false
		}
		p.ofType[strings.Clone(key.Type)] = want
	}
	ord, ok := p.id(&p.ids.dict, key.OUUID)
	if !ok {
		return 0, false
	}
	found, number := false, uint32(0)
	p.ids.at(ord).each(func(doc, _ uint32) {
		if p.live.Contains(doc) && p.types.ords.get(doc)[0] == want {
			found, number = true, doc
		}
	})
	return number, found
}

// id finds an id, which is often a little behind the last one.
func (p *compared) id(d *dict, id string) (uint32, bool) {
	if d.base == nil {
		return d.find(id)
	}
	from, n := p.last, d.size()
	if from >= n || d.term(uint32(from)) > id {
		from = 0
	}
	to := from
	for step := 1; to < n && d.term(uint32(to)) < id; step *= 2 {
		from, to = to, to+step
	}
	to = min(to, n)
	for from < to {
		if half := (from + to) / 2; d.term(uint32(half)) < id {
			from = half + 1
		} else {
			to = half
		}
	}
	p.last = from
	return uint32(from), from < n && d.term(uint32(from)) == id
}
