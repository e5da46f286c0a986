package embedded

import (
	"slices"
	"strings"

	"github.com/quoin-cms/quoin/core/search/bucketing"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// table gives the values of a field numbers, so that they can be counted in
// arrays. If all of them are strings, those of a lexicon.
type table struct {
	lexicon *lexicon // or nil
	keys    []bucketing.Key
	ids     map[bucketing.Key]uint32
	remaps  map[*family][]uint32
	counts  []uint32
	double  bool // a number is of the family double
	format  *family
}

func (r *run) newTable(families [][]*family) *table {
	t := &table{}
	numeric := false
	var first *family
	for _, list := range families {
		for _, f := range list {
			numeric = numeric || f.field.Family.Numeric()
			t.double = t.double || f.field.Family == mapping.Double
			if f.field.Family == mapping.Date && t.format == nil {
				t.format = f
			}
			if first == nil || f.dict.size() > first.dict.size() {
				first = f
			}
		}
	}
	if first == nil || numeric {
		t.ids = map[bucketing.Key]uint32{}
		t.remaps = map[*family][]uint32{}
		return t
	}
	t.lexicon = r.lexicon(first)
	t.counts = make([]uint32, t.lexicon.size())
	return t
}

// own makes the table independent of dictionaries, to take other keys too.
func (t *table) own() {
	if t.lexicon == nil {
		return
	}
	f := t.lexicon.first
	t.lexicon = nil
	t.ids = make(map[bucketing.Key]uint32, f.dict.size())
	t.keys = make([]bucketing.Key, f.dict.size())
	t.counts = t.counts[:f.dict.size()]
	remap := make([]uint32, f.dict.size())
	for ord := range t.keys {
		t.keys[ord] = bucketing.TextKey(f.dict.term(uint32(ord)))
		t.ids[t.keys[ord]] = uint32(ord)
		remap[ord] = uint32(ord)
	}
	t.remaps = map[*family][]uint32{f: remap}
}

func (t *table) id(k bucketing.Key) uint32 {
	id, ok := t.ids[k]
	if !ok {
		id = uint32(len(t.keys))
		t.ids[k] = id
		t.keys = append(t.keys, k)
		t.counts = append(t.counts, 0)
	}
	return id
}

func (t *table) key(id uint32) bucketing.Key {
	if t.lexicon != nil {
		return bucketing.TextKey(t.lexicon.term(id))
	}
	return t.keys[id]
}

func (t *table) compare(a, b uint32) int {
	if t.lexicon != nil {
		return strings.Compare(t.lexicon.term(a), t.lexicon.term(b))
	}
	return t.keys[a].Compare(t.keys[b])
}

// each calls f for every value of every object of the set in one family, with
// the number of the value; twice the same value in an object counts once.
func (t *table) each(s set, fam *family, f func(object, id uint32)) {
	if fam.field.Family.Numeric() {
		k := cursor[float64]{c: &fam.nums}
		for _, object := range s.objects {
			for _, n := range distinct(k.seek(object)) {
				f(object, t.id(bucketing.NumberKey(fam.field.Family, n)))
			}
		}
		return
	}
	if t.lexicon != nil {
		t.eachIn(s, fam, f)
		return
	}
	k := cursor[uint32]{c: &fam.ords}
	remap := t.remap(fam)
	for _, object := range s.objects {
		for _, ord := range k.seek(object) {
			if remap[ord] == gone {
				remap[ord] = t.id(bucketing.TextKey(fam.dict.term(ord)))
			}
			f(object, remap[ord])
		}
	}
}

// eachIn is each with the numbers of the lexicon.
func (t *table) eachIn(s set, fam *family, f func(object, id uint32)) {
	k := cursor[uint32]{c: &fam.ords}
	if fam == t.lexicon.first {
		for _, object := range s.objects {
			for _, ord := range k.seek(object) {
				f(object, ord)
			}
		}
		return
	}
	numbers := t.lexicon.numbers(fam)
	for _, object := range s.objects {
		for _, ord := range k.seek(object) {
			id := numbers[ord]
			if id == gone {
				id = t.lexicon.number(fam, ord)
				numbers[ord] = id
			}
			for int(id) >= len(t.counts) {
				t.counts = append(t.counts, 0)
			}
			f(object, id)
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
