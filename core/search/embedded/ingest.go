package embedded

import (
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/analysis"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// batch is a chunk of operations made ready outside the lock: documents taken
// apart and their texts analyzed. Its memory is used again.
type batch struct {
	ops     []prepared
	records []mapping.Record
	buffer  analysis.Buffer
	spans   []span
	numbers []uint32 // of the objects of one record
	// Ordinals of the tokens of a text, and of the text before.
	ords, before []uint32
}

// prepared is one operation; record is negative for a deletion.
type prepared struct {
	key    search.Key
	ref    int64
	stamp  int64
	record int
	spans  int // first of its spans
}

// span is where the tokens of a text are in the buffer.
type span struct{ from, to int }

// prepare takes the documents apart. It gives those that it cannot read;
// they count as deletions.
func (b *batch) prepare(plan *mapping.Plan, ops []search.Op) (refused []problem.FieldError) {
	b.ops, b.spans = b.ops[:0], b.spans[:0]
	b.buffer.Reset()
	for len(b.records) < len(ops) {
		b.records = append(b.records, mapping.Record{})
	}
	for i, op := range ops {
		p := prepared{key: op.Key, record: -1, spans: len(b.spans)}
		if op.Doc != nil {
			p.key, p.ref, p.stamp, p.record = op.Doc.Key, op.Doc.Ref, op.Doc.Stamp, i
			if err := plan.Walk(op.Doc, &b.records[i]); err != nil {
				refused = append(refused, problem.FieldError{Path: p.key.Type + ":" + p.key.OUUID, Message: err.Error()})
				p.record = -1
			} else {
				b.analyze(&b.records[i])
			}
		}
		b.ops = append(b.ops, p)
	}
	return refused
}

// analyze makes the tokens of the texts of a record. A text that goes to
// several fields with the same analyzer is analyzed once.
func (b *batch) analyze(r *mapping.Record) {
	var last *mapping.Value
	for i := range r.Values {
		v := &r.Values[i]
		if v.Field.Family != mapping.Text {
			continue
		}
		if last != nil && last.Field.Analyzer == v.Field.Analyzer && sameBytes(last.Text, v.Text) {
			b.spans = append(b.spans, b.spans[len(b.spans)-1])
			continue
		}
		from := len(b.buffer.Tokens)
		v.Field.Analyzer.Append(&b.buffer, v.Text)
		b.spans = append(b.spans, span{from, len(b.buffer.Tokens)})
		last = v
	}
}

// sameBytes tells whether two slices are the same memory.
func sameBytes(a, b []byte) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// commit performs the operations on the index, which the caller has locked.
func (b *batch) commit(x *index) {
	for i := range b.ops {
		op := &b.ops[i]
		x.remove(op.key)
		if op.record >= 0 {
			b.insert(x.tail(), op)
		}
	}
	for _, s := range x.segs {
		s.align(x.tail())
	}
}

func (b *batch) insert(s *segment, op *prepared) {
	r := &b.records[op.record]
	b.numbers = b.numbers[:0]
	for _, o := range r.Objects {
		outer, sp := uint32(0), s.root()
		if o.Parent >= 0 {
			outer, sp = b.numbers[o.Parent], s.spaceOf(o.Space)
		}
		b.numbers = append(b.numbers, sp.add(outer))
	}
	s.refs, s.stamps = append(s.refs, op.ref), append(s.stamps, op.stamp)
	next := op.spans
	var last placed
	for i := range r.Values {
		v := &r.Values[i]
		f := s.family(v.Field)
		object := b.numbers[v.Object]
		switch v.Field.Family {
		case mapping.Text:
			at := b.spans[next]
			next++
			tokens := b.buffer.Tokens[at.from:at.to]
			ords := b.ordinals(f, v.Text, tokens, &last)
			f.addText(object, tokens, ords)
			last = placed{text: v.Text, f: f, ords: ords}
		case mapping.Keyword:
			last = placed{text: v.Text, f: f, ord: f.addKeyword(object, v.Text)}
		default:
			f.addNumber(object, v.Num)
		}
	}
}

// shrink lets go of the documents, and of memory that large ones took.
func (b *batch) shrink() {
	if cap(b.buffer.Tokens) > 1<<16 || cap(b.numbers) > 1<<16 || len(b.records) == chunk {
		*b = batch{}
		return
	}
	for i := range b.records {
		r := &b.records[i]
		if cap(r.Values) > 1<<10 {
			*r = mapping.Record{}
		}
		clear(r.Values[:cap(r.Values)])
	}
}
