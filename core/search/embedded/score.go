package embedded

import (
	"iter"
	"math"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/quoin-cms/quoin/core/search/mapping"
)

// Constants of BM25 as Elasticsearch has them, which multiplies by k1+1.
const (
	k1 = 1.2
	b  = 0.75
)

// term matches objects that hold one term of one field and scores them by
// BM25; keywords have no length that counts.
type term struct {
	v     *view
	f     *family
	p     *posting
	text  string
	boost float32
	df    int64 // of several terms together, if they share it; else 0
}

// idf is the weight of a term that df of n objects hold.
func idf(n, df float64) float64 { return math.Log(1 + math.Max(n-df+0.5, 0)/(df+0.5)) }

type statsKey struct {
	space, path string
	text        bool
	term        string
}

// termStats are the numbers of a term and its field over all segments of a
// search.
type termStats struct {
	df, objects int64
	tokens      int64
}

func (o *term) match() *roaring.Bitmap { return o.p.bitmap() }

func (o *term) score(acc []float32, factor float32, _ bool) {
	s := o.v.run.statsOf(o.f.field, o.text)
	n, df := float64(s.objects), float64(s.df)
	if o.df > 0 {
		df = float64(o.df)
	}
	w := float64(factor*o.boost) * idf(n, df) * (k1 + 1)
	if o.f.field.Family == mapping.Keyword {
		once := float32(w / (1 + k1))
		o.p.each(func(object, _ uint32) { acc[object] += once })
		return
	}
	perToken := k1 * b * float64(s.objects) / math.Max(float64(s.tokens), 1)
	lengths := cursor[uint32]{c: &o.f.length}
	o.p.each(func(object, tf uint32) {
		norm := k1*(1-b) + perToken*float64(lengths.seek(object)[0])
		acc[object] += float32(w * float64(tf) / (float64(tf) + norm))
	})
}

// statsOf sums the numbers of a term over the segments.
func (r *run) statsOf(f *mapping.Field, text string) *termStats {
	key := statsKey{f.Space.Path, f.Path, f.Family == mapping.Text, text}
	if s := r.stats[key]; s != nil {
		return s
	}
	s := &termStats{}
	for fam, sp := range r.alike(f) {
		fam.count(s, sp, text)
	}
	if r.stats == nil {
		r.stats = map[statsKey]*termStats{}
	}
	r.stats[key] = s
	return s
}

// alike gives the families of all segments that share a field's statistics,
// with their spaces.
func (r *run) alike(f *mapping.Field) iter.Seq2[*family, *space] {
	return func(yield func(*family, *space) bool) {
		for _, v := range r.views {
			for _, sp := range v.seg.spaces {
				if sp == nil || sp.of.Path != f.Space.Path {
					continue
				}
				for _, fam := range v.seg.byPath[pathKey{sp.of.ID, f.Path}] {
					if fam.field.Family == f.Family && !yield(fam, sp) {
						return
					}
				}
			}
		}
	}
}

func (f *family) count(s *termStats, sp *space, text string) {
	if p := f.posting(text); p != nil {
		s.df += int64(p.live(sp.live))
	}
	if f.field.Family == mapping.Text {
		s.objects += f.holds
		s.tokens += f.tokens
		return
	}
	s.objects += int64(f.has.AndCardinality(sp.live))
}
