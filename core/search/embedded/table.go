package embedded

import (
	"slices"
	"strings"

	"github.com/quoin-cms/quoin/core/search/mapping"
)

// table gives the values of a field numbers, so that they can be counted in
// arrays. When one dictionary has all of them, its ordinals are the numbers.
type table struct {
	only   *family // the dictionary, or nil
	keys   []bucketKey
	ids    map[bucketKey]uint32
	remaps map[*family][]uint32
	counts []uint32
	double bool // a number is of the family double
	format *family
}

func newTable(families [][]*family) *table {
	t := &table{}
	n := 0
	for _, list := range families {
		for _, f := range list {
			n++
			t.only = f
			t.double = t.double || f.field.Family == mapping.Double
			if f.field.Family == mapping.Date && t.format == nil {
				t.format = f
			}
		}
	}
	if n != 1 || t.only.field.Family.Numeric() {
		t.only = nil
		t.ids = map[bucketKey]uint32{}
		t.remaps = map[*family][]uint32{}
		return t
	}
	t.counts = make([]uint32, t.only.dict.size())
	return t
}

// own makes the table independent of the dictionary, to take other keys too.
func (t *table) own() {
	f := t.only
	if f == nil {
		return
	}
	t.only = nil
	t.ids = make(map[bucketKey]uint32, f.dict.size())
	t.keys = make([]bucketKey, f.dict.size())
	remap := make([]uint32, f.dict.size())
	for ord := range t.keys {
		t.keys[ord] = bucketKey{family: mapping.Keyword, text: f.dict.term(uint32(ord))}
		t.ids[t.keys[ord]] = uint32(ord)
		remap[ord] = uint32(ord)
	}
	t.remaps = map[*family][]uint32{f: remap}
}

func (t *table) id(k bucketKey) uint32 {
	if k.family == mapping.Long {
		k.family = mapping.Double
	}
	id, ok := t.ids[k]
	if !ok {
		id = uint32(len(t.keys))
		t.ids[k] = id
		t.keys = append(t.keys, k)
		t.counts = append(t.counts, 0)
	}
	return id
}

func (t *table) key(id uint32) bucketKey {
	if t.only != nil {
		return bucketKey{family: mapping.Keyword, text: t.only.dict.term(id)}
	}
	return t.keys[id]
}

func (t *table) compare(a, b uint32) int {
	ka, kb := t.key(a), t.key(b)
	switch {
	case ka.family != kb.family:
		return int(kb.family) - int(ka.family)
	case ka.num < kb.num:
		return -1
	case ka.num > kb.num:
		return 1
	}
	return strings.Compare(ka.text, kb.text)
}

// each calls f for every value of every object of the set in one family, with
// the number of the value; twice the same value in an object counts once.
func (t *table) each(s set, fam *family, f func(object, id uint32)) {
	if fam.field.Family.Numeric() {
		k := cursor[float64]{c: &fam.nums}
		for _, object := range s.objects {
			for _, n := range distinct(k.seek(object)) {
				f(object, t.id(bucketKey{family: fam.field.Family, num: n}))
			}
		}
		return
	}
	k := cursor[uint32]{c: &fam.ords}
	if t.only == fam {
		for _, object := range s.objects {
			for _, ord := range k.seek(object) {
				f(object, ord)
			}
		}
		return
	}
	remap := t.remap(fam)
	for _, object := range s.objects {
		for _, ord := range k.seek(object) {
			if remap[ord] == gone {
				remap[ord] = t.id(bucketKey{family: mapping.Keyword, text: fam.dict.term(ord)})
			}
			f(object, remap[ord])
		}
	}
}

// distinct gives the different values of a row.
func distinct(row []float64) []float64 {
	if len(row) < 2 {
		return row
	}
	sorted := slices.Clone(row)
	slices.Sort(sorted)
	return slices.Compact(sorted)
}

func (t *table) remap(fam *family) []uint32 {
	remap := t.remaps[fam]
	if remap == nil {
		remap = make([]uint32, fam.dict.size())
		for i := range remap {
			remap[i] = gone
		}
		t.remaps[fam] = remap
	}
	return remap
}
