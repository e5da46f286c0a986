package embedded

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/lucene"
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
	d := distance{to: runes, most: edits, swap: !z.NoTranspositions}
	seen := map[string]bool{}
	var out []nearby
	for fam := range r.alike(f.field) {
		if r.ctx.Err() != nil {
			return nil
		}
		ords := fam.dict.prefixed(same)
		for _, ord := range ords {
			text := fam.dict.term(ord)
			n, ok := d.from(text)
			if !ok || seen[text] || r.statsOf(f.field, text).df == 0 {
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

// distance measures how many edits terms are from a word, as long as it is no
// more than most.
type distance struct {
	to    []rune
	most  int
	swap  bool
	runes []rune
	rows  [3][]int
}

// from gives the edits from a term: insertions, deletions, replacements, and
// with swap two neighbours that changed places. It fills only the diagonal
// band that most allows.
func (d *distance) from(term string) (int, bool) {
	if len(term) > 4*(len(d.to)+d.most) {
		return 0, false
	}
	d.runes = d.runes[:0]
	for _, r := range term {
		d.runes = append(d.runes, r)
	}
	n, m := len(d.runes), len(d.to)
	if n-m > d.most || m-n > d.most {
		return 0, false
	}
	far := d.most + 1
	if len(d.rows[0]) <= m {
		d.rows = [3][]int{make([]int, m+1), make([]int, m+1), make([]int, m+1)}
	}
	before, last, row := d.rows[0], d.rows[1], d.rows[2]
	for j := range m + 1 {
		last[j] = min(j, far)
	}
	for i := 1; i <= n; i++ {
		low, high, best := max(1, i-d.most), min(m, i+d.most), far
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
				c = min(c, before[j-2]+1)
			}
			row[j] = min(c, far)
			best = min(best, row[j])
		}
		if best > d.most {
			return 0, false
		}
		before, last, row = last, row, before
	}
	return last[m], last[m] <= d.most
}

func (v *view) regexpClause(q *search.Regexp, sp *space) (op, error) {
	pattern, err := lucene.RE2(q.Pattern)
	if err != nil {
		return nil, problem.Field(problem.Invalid, q.Path, "regexp: %s", err)
	}
	flags := "s"
	if q.CaseInsensitive {
		flags = "si"
	}
	pattern = "(?" + flags + ":" + pattern + ")"
	free, err := regexp.Compile(pattern)
	if err != nil {
		return nil, problem.Field(problem.Invalid, q.Path, "regexp: %s", err)
	}
	whole, err := regexp.Compile(`\A` + pattern + `\z`)
	if err != nil {
		return nil, problem.Field(problem.Invalid, q.Path, "regexp: %s", err)
	}
	if q.Field == indexField {
		return v.index(sp, q.Boost, whole.MatchString), nil
	}
	literal, _ := free.LiteralPrefix()
	out := roaring.New()
	for _, f := range v.families(sp, q.Field) {
		if f.field.Family.Numeric() {
			continue
		}
		for i, ord := range f.dict.prefixed(literal) {
			if i&4095 == 4095 && v.run.ctx.Err() != nil {
				return nil, v.run.ctx.Err()
			}
			if whole.MatchString(f.dict.term(ord)) {
				f.at(ord).into(out)
			}
		}
	}
	return &constant{out, float32(q.Boost)}, nil
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
