package embedded

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/quoin-cms/quoin/core/search"
)

func (v *view) fuzzy(q *search.Fuzzy, sp *space) (op, error) {
	var ops []op
	for _, f := range v.families(sp, q.Field) {
		if f.field.Family.Numeric() {
			ops = append(ops, v.exactly(f, search.String(q.Value), float32(q.Boost)))
			continue
		}
		ops = append(ops, v.similar(f, q.Value, &q.Fuzziness, float32(q.Boost), sp))
	}
	return v.either(sp, ops), nil
}

// nearby is a term near another, and what it is worth.
type nearby struct {
	text  string
	worth float32
}

// similar matches the terms of a family that are near a word. They are weighed
// as if each was as frequent as the most frequent of them.
func (v *view) similar(f *family, word string, z *search.Fuzziness, boost float32, sp *space) op {
	list := v.run.nearby(f, word, z)
	df := int64(0)
	for _, n := range list {
		df = max(df, v.run.statsOf(f.field, n.text).df)
	}
	var ops []op
	for _, n := range list {
		if p := f.posting(n.text); p != nil {
			ops = append(ops, &term{v: v, f: f, p: p, text: n.text, boost: boost * n.worth, df: df})
		}
	}
	return v.either(sp, ops)
}

// nearby finds terms of all segments that live objects hold, the nearest
// first.
func (r *run) nearby(f *family, word string, z *search.Fuzziness) []nearby {
	edits := z.Of(word)
	runes := []rune(word)
	same := string(runes[:min(z.PrefixLength, len(runes))])
	seen := map[string]bool{}
	var out []nearby
	for fam := range r.alike(f.field) {
		d := distance{to: runes, most: edits, swap: !z.NoTranspositions}
		ords := fam.dict.prefixed(same)
		for i := 0; i < len(ords); i++ {
			if i&255 == 0 && r.ctx.Err() != nil {
				return nil
			}
			text := fam.dict.term(ords[i])
			n, ok := d.next(text)
			if !ok {
				// All terms that start like this one are too far away.
				if dead := d.dead(text); dead != "" {
					i += runLength(ords[i+1:], func(ord uint32) bool { return strings.HasPrefix(fam.dict.term(ord), dead) })
				}
				continue
			}
			if seen[text] || r.statsOf(f.field, text).df == 0 {
				continue
			}
			seen[text] = true
			shorter := min(len(runes), utf8.RuneCountInString(text))
			out = append(out, nearby{text, 1 - float32(n)/float32(max(shorter, 1))})
		}
	}
	slices.SortFunc(out, func(a, b nearby) int { return cmp.Or(cmp.Compare(b.worth, a.worth), strings.Compare(a.text, b.text)) })
	return out[:min(len(out), z.MaxExpansions)]
}

// runLength counts the first elements of a list for which holds is true, which
// it is for none behind the first for which it is not.
func runLength(list []uint32, holds func(uint32) bool) int {
	step := 1
	for step <= len(list) && holds(list[step-1]) {
		step *= 2
	}
	low := step / 2
	return low + sort.Search(min(step-1, len(list))-low, func(i int) bool { return !holds(list[low+i]) })
}

// distance measures how many edits terms are from a word, as long as it is no
// more than most: insertions, deletions, replacements, and with swap two
// neighbours that changed places. Of terms in their order it computes only
// what is behind the part that a term shares with the one before it.
type distance struct {
	to    []rune
	most  int
	swap  bool
	runes []rune  // of the last term, as far as it was read
	ends  []int   // of each of them, in bytes
	last  string  // the last term
	rows  [][]int // rows[i] is the distance of the first i runes from each part of to
	stop  int     // row that has nothing near enough, 0 if none
}

// from gives the edits from a term.
func (d *distance) from(term string) (int, bool) { return d.next(term) }

// next does so for a term that stands behind the last one, or anywhere.
func (d *distance) next(term string) (int, bool) {
	if d.rows == nil {
		d.rows = [][]int{make([]int, len(d.to)+1)}
		for j := range d.rows[0] {
			d.rows[0][j] = min(j, d.most+1)
		}
	}
	same := 0
	for same < len(term) && same < len(d.last) && term[same] == d.last[same] {
		same++
	}
	d.last = term
	keep := 0
	for keep < len(d.ends) && d.ends[keep] <= same {
		keep++
	}
	for keep > 0 && d.ends[keep-1] < len(term) && !utf8.RuneStart(term[d.ends[keep-1]]) {
		keep-- // half a character of the last term is another one here
	}
	if d.stop > 0 && keep >= d.stop {
		return 0, false
	}
	d.runes, d.ends, d.stop = d.runes[:keep], d.ends[:keep], 0
	at := 0
	if keep > 0 {
		at = d.ends[keep-1]
	}
	for at < len(term) {
		r, n := utf8.DecodeRuneInString(term[at:])
		at += n
		d.runes, d.ends = append(d.runes, r), append(d.ends, at)
		if d.row(len(d.runes)) > d.most {
			d.stop = len(d.runes)
			return 0, false
		}
	}
	if len(d.to)-len(d.runes) > d.most {
		return 0, false
	}
	n := d.rows[len(d.runes)][len(d.to)]
	return n, n <= d.most
}

// dead gives the start of the last term of which nothing can be near enough;
// empty if there is none.
func (d *distance) dead(term string) string {
	if d.stop == 0 || d.runes[d.stop-1] == utf8.RuneError {
		return ""
	}
	return term[:d.ends[d.stop-1]]
}

// row computes a row in the diagonal band that most allows, and gives the
// least distance in it.
func (d *distance) row(i int) int {
	m, far := len(d.to), d.most+1
	if i == len(d.rows) {
		d.rows = append(d.rows, make([]int, m+1))
	}
	row, last := d.rows[i], d.rows[i-1]
	low, high, best := max(1, i-d.most), min(m, i+d.most), far
	if i-d.most > m { // longer than any term may be
		return far
	}
	row[low-1] = far
	if low == 1 {
		row[0] = min(i, far)
		best = row[0]
	}
	if high < m {
		row[high+1] = far
	}
	for j := low; j <= high; j++ {
		c := last[j-1]
		if d.runes[i-1] != d.to[j-1] {
			c++
		}
		c = min(c, last[j]+1, row[j-1]+1)
		if d.swap && i > 1 && j > 1 && d.runes[i-1] == d.to[j-2] && d.runes[i-2] == d.to[j-1] {
			c = min(c, d.rows[i-2][j-2]+1)
		}
		row[j] = min(c, far)
		best = min(best, row[j])
	}
	return best
}

// lessened matches what positive matches and multiplies its score by factor
// where negative matches too.
type lessened struct {
	run                *run
	sp                 *space
	positive, negative op
	factor, boost      float32
}

func (o *lessened) match() *roaring.Bitmap { return o.positive.match() }

func (o *lessened) score(acc []float32, factor float32, _ bool) {
	own := o.run.floats(o.sp.n)
	o.positive.score(own, factor*o.boost, true)
	each(roaring.And(o.positive.match(), o.negative.match()), func(object uint32) { own[object] *= o.factor })
	each(o.positive.match(), func(object uint32) { acc[object] += own[object] })
	o.run.release(own)
}

func (v *view) boosting(q *search.Boosting, sp *space) (op, error) {
	both, err := v.compileAll([]search.Query{q.Positive, q.Negative}, sp)
	if err != nil {
		return nil, err
	}
	return &lessened{run: v.run, sp: sp, positive: both[0], negative: both[1], factor: float32(q.NegativeBoost), boost: float32(q.Boost)}, nil
}
