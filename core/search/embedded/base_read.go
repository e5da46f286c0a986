package embedded

import (
	"encoding/json"
	"hash/crc32"
	"sync/atomic"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/quoin-cms/quoin/core/search/analysis"
	"github.com/quoin-cms/quoin/core/search/dates"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// readDirectory checks all bytes of a base against their sum and gives its
// directory. With trusted the bytes were written a moment ago.
func readDirectory(data []byte, trusted bool) (*directory, error) {
	h, err := readHeader(data[:min(len(data), headerSize)], int64(len(data)))
	if err != nil {
		return nil, err
	}
	if !trusted && crc32.Checksum(data[headerSize:], castagnoli) != h.sum {
		return nil, damaged("its contents have been changed")
	}
	b := baseBytes{data: data}
	text := get[byte](&b, h.place, -1)
	if b.err != nil {
		return nil, b.err
	}
	d := &directory{}
	if err := json.Unmarshal(text, d); err != nil {
		return nil, damaged("its directory cannot be read: %s", err)
	}
	return d, nil
}

// openBase makes a segment that reads a base in place: data must stay as long
// as the segment. Spaces and fields become those of the registry.
func openBase(data []byte, d *directory, reg *mapping.Registry, set *analysis.Set) (*segment, error) {
	if len(d.Spaces) == 0 {
		return nil, damaged("it has no documents")
	}
	b := &baseBytes{data: data}
	s := newSegment()
	n := int(d.Spaces[0].N)
	s.refs, s.stamps = get[int64](b, d.Refs, n), get[int64](b, d.Stamps, n)
	spaces := make([]*mapping.Space, len(d.Spaces))
	for i, e := range d.Spaces {
		sp, known := s.root(), reg.Spaces[0]
		if i > 0 {
			if e.Parent < 0 || e.Parent >= i {
				return nil, damaged("its spaces are in disorder")
			}
			known = reg.Space(spaces[e.Parent], e.Path)
			sp = s.spaceOf(known)
			sp.up, sp.first = get[uint32](b, e.Up, int(e.N)), get[uint32](b, e.First, -1)
		}
		spaces[i] = known
		sp.n = e.N
		sp.live.AddRange(0, uint64(e.N))
	}
	ords := get[uint32](b, d.Ords, -1)
	for i := range d.Fields {
		e := &d.Fields[i]
		if e.Space < 0 || e.Space >= len(spaces) {
			return nil, damaged("a field is in no space")
		}
		fam, err := openField(b, e, spaces[e.Space], ords, reg, set)
		if err != nil {
			return nil, err
		}
		s.put(fam)
	}
	return s, b.err
}

func openField(b *baseBytes, e *fieldEntry, sp *mapping.Space, ords []uint32, reg *mapping.Registry, set *analysis.Set) (*family, error) {
	f := mapping.Field{Space: sp, Path: e.Path, Family: mapping.Family(e.Family), Listed: e.Listed}
	var err error
	if e.Analyzer != "" {
		if f.Analyzer, err = set.Get(e.Analyzer); err != nil {
			return nil, damaged("%s", err)
		}
		if f.Search, err = set.Get(e.Search); err != nil {
			return nil, damaged("%s", err)
		}
	}
	if e.Format != "" {
		if f.Format, err = dates.Parse(e.Format); err != nil {
			return nil, damaged("%s", err)
		}
	}
	field := reg.Field(f)
	if field == nil {
		return nil, damaged("it has too many fields")
	}
	fam := newFamily(field)
	if has := get[byte](b, e.Has, -1); b.err == nil {
		fam.has = roaring.New()
		if err := fam.has.UnmarshalBinary(has); err != nil {
			return nil, damaged("%s", err)
		}
	}
	fam.nums = getColumn[float64](b, e.Nums)
	if field.Family.Numeric() {
		return fam, b.err
	}
	t := &baseTerms{
		arena: get[byte](b, e.Terms, -1), ends: get[uint32](b, e.Ends, -1), logs: get[byte](b, e.Logs, -1),
		starts: get[uint64](b, e.Starts, -1), many: get[uint32](b, e.Many, -1),
	}
	n := len(t.ends) - 1
	if n < 0 || n > len(ords) || len(t.starts) != n+1 || int(t.ends[n]) != len(t.arena) || t.starts[n] != uint64(len(t.logs)) {
		return nil, damaged("the dictionary of %s does not fit together", e.Path)
	}
	t.ords = ords[:n]
	t.asked = make([]atomic.Pointer[known], len(t.many))
	fam.dict.base = t
	fam.ords, fam.length = getColumn[uint32](b, e.Ords), getColumn[uint32](b, e.Lengths)
	fam.words = sequence{log: get[byte](b, e.Words, -1), starts: get[uint64](b, e.Rows, -1)}
	fam.tokens, fam.holds = e.Tokens, e.Holds
	return fam, b.err
}

func getColumn[T uint32 | float64](b *baseBytes, e columnEntry) column[T] {
	c := column[T]{rows: e.Rows, objs: get[uint32](b, e.Objs, -1), off: get[uint32](b, e.Off, -1), vals: get[T](b, e.Vals, -1)}
	whole := c.off == nil && len(c.vals) == c.rows || len(c.off) == c.rows+1 && int(c.off[c.rows]) == len(c.vals)
	if b.err == nil && (!whole || c.objs != nil && len(c.objs) != c.rows) {
		b.err = damaged("a column does not fit together")
	}
	return c
}
