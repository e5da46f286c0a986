package embedded

import (
	"encoding/binary"
)

// valueGap is how many positions lie between two values of a field, so that no
// phrase spans them, as in Elasticsearch.
const valueGap = 100

// sequence keeps the tokens of a text, object after object, in the order in
// which they came: to write it is one append per token, whatever the term. A
// phrase reads the objects that hold all of its terms.
type sequence struct {
	// log has for each token its ordinal, doubled, as a varint. An odd one is
	// followed by the signed difference to the position before, else that is 1.
	log    []byte
	starts []uint64 // of each row in log
	last   int      // position of the last token of the last row
}

// open starts a value of the last row, or of a new one, and gives the position
// of its first token.
func (s *sequence) open(fresh bool) (base int) {
	if fresh {
		s.starts = append(s.starts, uint64(len(s.log)))
		s.last = -1
		return 0
	}
	return s.last + 1 + valueGap
}

func (s *sequence) add(ord uint32, pos int) {
	d := pos - s.last
	s.last = pos
	if d == 1 {
		if ord < 0x40 {
			s.log = append(s.log, byte(ord<<1))
			return
		}
		s.log = binary.AppendUvarint(s.log, uint64(ord)<<1)
		return
	}
	s.log = binary.AppendVarint(binary.AppendUvarint(s.log, uint64(ord)<<1|1), int64(d))
}

// each calls f with the tokens of a row.
func (s *sequence) each(row int, f func(ord uint32, pos int)) {
	end := len(s.log)
	if row+1 < len(s.starts) {
		end = int(s.starts[row+1])
	}
	pos := -1
	for at := int(s.starts[row]); at < end; {
		v, n := uint64(s.log[at]), 1
		if v >= 0x80 {
			v, n = binary.Uvarint(s.log[at:])
		}
		at += n
		d := 1
		if v&1 == 1 {
			wide, n := binary.Varint(s.log[at:])
			at += n
			d = int(wide)
		}
		pos += d
		f(uint32(v>>1), pos)
	}
}

// renumber appends the rows of objects that are not gone, with new ordinals.
func (s *sequence) renumber(out *sequence, rows *column[uint32], to, ords []uint32) {
	for row := range rows.rows {
		if to[rows.object(row)] == gone {
			continue
		}
		out.open(true)
		s.each(row, func(ord uint32, pos int) { out.add(ords[ord], pos) })
	}
}
