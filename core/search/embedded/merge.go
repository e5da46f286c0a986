package embedded

import (
	"log/slog"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/quoin-cms/quoin/core/search"
)

// policy says when the segments of an index are written anew as one.
type policy struct {
	dir string // where bases are kept; empty: in memory
	log *slog.Logger

	tail int // documents that a tail may always have
	// part: a tail may have one in so many of the documents of the base.
	part int
	dead int // deleted documents that an index may always keep
	// rest: between two merges of an index lies so many times what the first
	// one took, so that a large import is not written again and again.
	rest int
	// quiet is how long nothing must have been written for a smaller tail to be
	// merged, too.
	quiet time.Duration
	// pause is how long nothing is merged after a failure, such as a full disk.
	pause time.Duration
}

func newPolicy() *policy {
	return &policy{log: slog.New(slog.DiscardHandler), tail: 5000, part: 20, dead: 512, rest: 8, quiet: 20 * time.Second, pause: time.Minute}
}

// worth is the smallest tail that is merged when nothing is written any more:
// a start reads so many documents again in a few milliseconds.
const worth = 128

// mergeState is what an index knows about its merges. All but done is guarded
// by index.writer.
type mergeState struct {
	path    string // of the file; empty: in memory
	merging bool
	done    sync.Cond // on writer: told when a merge ends
	removed []removal // since the merge began
	failed  time.Time // of the last merge that failed
	next    time.Time // no merge before
	timer   *time.Timer
	closed  bool   // the index is gone
	kept    string // path of the file in which the base is; empty: in memory
	again   bool   // another merge is wanted behind this one
	resting bool   // nothing was written for a while before the merge
}

// removal is a document deleted from a segment that is being merged.
type removal struct {
	seg *segment
	doc uint32
}

// manySegments is how many segments failed merges may leave before the next one
// is made in memory.
const manySegments = 6

// remove deletes a document wherever it is. The caller has locked the index.
func (x *index) remove(key search.Key) {
	for i := len(x.segs) - 1; i >= 0; i-- {
		s := x.segs[i]
		doc, ok := s.find(key)
		if !ok {
			continue
		}
		s.remove(doc)
		if x.merging && i < len(x.segs)-1 {
			x.removed = append(x.removed, removal{s, doc})
		}
		return
	}
}

// counts gives how many documents there are in all segments, deleted ones
// included, how many are deleted, and how many were written to the tail.
func (x *index) counts() (all, dead, tail int) {
	for _, s := range x.segs {
		all += int(s.root().n)
		dead += s.dead
	}
	return all, dead, int(x.tail().root().n)
}

// consider starts a merge if it is time. The caller holds writer.
func (x *index) consider() {
	all, dead, tail := x.counts()
	p := x.policy
	due := tail > max(p.tail, (all-tail)/p.part) || dead > p.dead && dead > all/4
	now := time.Now()
	if due && !now.Before(x.next) && now.Sub(x.failed) >= p.pause {
		x.start()
		return
	}
	if tail+dead < worth || x.closed {
		return
	}
	if x.timer == nil {
		x.timer = time.AfterFunc(p.quiet, x.idle)
	} else {
		x.timer.Reset(p.quiet)
	}
}

// idle merges what is worth it after a while without writing.
func (x *index) idle() {
	x.writer.Lock()
	defer x.writer.Unlock()
	if _, dead, tail := x.counts(); tail+dead >= worth && !x.merging {
		x.resting = true
		x.start()
	}
}

// start begins a merge in the background unless one is on its way. The caller
// holds writer.
func (x *index) start() {
	if x.merging || x.closed {
		return
	}
	x.merging, x.removed = true, nil
	begin := time.Now()
	x.mu.Lock()
	origins := make([]*origin, 0, len(x.segs))
	for _, s := range x.segs {
		s.seal()
		origins = append(origins, freeze(s))
	}
	x.extend()
	x.mu.Unlock()
	d, path := x.directory(), x.path
	if len(x.segs) > manySegments { // the disk has failed again and again
		path = ""
	}
	go func() {
		fresh, err := x.write(path, d, origins)
		if x.finish(origins, fresh, path, err, begin) {
			debug.FreeOSMemory() // what the tail held would stay for minutes
		}
	}()
}

// extend begins a new tail behind the segments. The caller has locked the
// index.
func (x *index) extend() {
	tail := newSegment()
	tail.align(x.tail())
	x.segs = append(x.segs[:len(x.segs):len(x.segs)], tail)
}

// finish puts a base into the place of what it was made of. It tells whether
// nothing was written for a while before.
func (x *index) finish(origins []*origin, fresh *segment, path string, err error, begin time.Time) (resting bool) {
	x.writer.Lock()
	defer x.writer.Unlock()
	resting, x.resting = x.resting, false
	x.merging = false
	defer x.done.Broadcast()
	took := time.Since(begin)
	x.next = time.Now().Add(took * time.Duration(x.policy.rest))
	if err != nil {
		x.failed = time.Now()
		x.policy.log.Error("a search index could not be written", "index", x.name, "error", err)
		return resting // the segments stay; the next merge takes them all
	}
	for _, r := range x.removed {
		for _, o := range origins {
			if o.seg == r.seg && o.to[0][r.doc] != gone {
				fresh.remove(o.to[0][r.doc])
			}
		}
	}
	x.removed, x.kept = nil, path
	x.mu.Lock()
	fresh.align(x.tail())
	x.segs = []*segment{fresh, x.tail()}
	x.mu.Unlock()
	runtime.KeepAlive(origins) // what they read must not be unmapped before
	x.policy.log.Debug("search index written", "index", x.name, "documents", fresh.root().n, "ms", took.Milliseconds())
	if x.again {
		x.again = false
		x.start()
		return false
	}
	x.consider()
	return resting
}

// settle waits until no merge is on its way. The caller holds writer.
func (x *index) settle() {
	for x.merging {
		x.done.Wait()
	}
}

// save merges what is not in the base, if there is anything, and waits for it.
func (x *index) save(least int) {
	x.writer.Lock()
	defer x.writer.Unlock()
	x.settle()
	if _, dead, tail := x.counts(); tail+dead >= max(least, 1) || len(x.segs) > 2 || x.kept != x.path {
		x.start()
		x.settle()
	}
}

// keepAs makes the index write its base to a file from now on.
func (x *index) keepAs(path string) {
	x.writer.Lock()
	defer x.writer.Unlock()
	x.path = path
	switch all, _, _ := x.counts(); {
	case x.merging:
		x.again = true
	case all > 0:
		x.start()
	}
}

// close ends the merges of an index that is gone.
func (x *index) close() {
	x.writer.Lock()
	defer x.writer.Unlock()
	x.closed = true
	if x.timer != nil {
		x.timer.Stop()
	}
}
