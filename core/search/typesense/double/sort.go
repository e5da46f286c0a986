package double

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"
)

// The kinds of a sort key.
const (
	byField = iota
	byScore
	byEval
	byPlace
)

// sortKey is one key of sort_by. Its rank gives the position of a document;
// missing documents are placed on their own.
type sortKey struct {
	kind    int
	desc    bool
	field   *field
	first   bool // missing values first
	place   point
	weights []weighted
}

// weighted is one expression of an _eval: its documents score n.
type weighted struct {
	docs *roaring.Bitmap
	n    int64
}

func malformed() *failure { return fail(400, "Parameter `sort_by` is malformed.") }

// parseSort reads sort_by. Without it documents come by score, newest first.
func (x *search) parseSort() ([]sortKey, *failure) {
	var out []sortKey
	evals := 0
	list := outside(x.p["sort_by"])
	if len(list) > 3 {
		return nil, fail(400, "Only upto 3 sort fields are allowed.")
	}
	for _, one := range list {
		if strings.HasPrefix(one, "_eval") {
			if evals++; evals > 1 {
				return nil, fail(422, "Only one sorting eval expression is allowed.")
			}
		}
	}
	for _, one := range list {
		k, err := x.parseKey(one)
		if err != nil {
			return nil, err
		}
		out = append(out, k)
	}
	return out, nil
}

func (x *search) parseKey(one string) (sortKey, *failure) {
	colon := strings.LastIndexByte(one, ':')
	if colon < 0 || strings.HasSuffix(one, ")") {
		return sortKey{}, malformed()
	}
	k := sortKey{}
	switch strings.ToLower(one[colon+1:]) {
	case "asc":
	case "desc":
		k.desc = true
	default:
		return k, fail(400, "Order for field `"+one[:colon]+"` should be either ASC or DESC.")
	}
	name, option, _ := strings.Cut(one[:colon], "(")
	option = strings.TrimSuffix(option, ")")
	switch name = strings.TrimSpace(name); name {
	case "_text_match":
		k.kind = byScore
		return k, nil
	case "_eval":
		k.kind = byEval
		return k, x.parseEval(&k, option)
	}
	return x.fieldKey(k, name, option)
}

func (x *search) fieldKey(k sortKey, name, option string) (sortKey, *failure) {
	k.field = x.c.fields[name]
	if k.field == nil || !k.field.Sort || k.field.array() && k.field.scalar() != "geopoint" {
		return k, fail(404, "Could not find a field named `"+name+"` in the schema for sorting.")
	}
	if k.field.scalar() == "geopoint" {
		k.kind = byPlace
		lat, lng, _ := strings.Cut(option, ",")
		var err1, err2 error
		k.place.lat, err1 = strconv.ParseFloat(strings.TrimSpace(lat), 64)
		k.place.lng, err2 = strconv.ParseFloat(strings.TrimSpace(lng), 64)
		if err1 != nil || err2 != nil {
			return k, fail(400, "Bad syntax for sorting field `"+name+"`.")
		}
		return k, nil
	}
	k.first = k.field.scalar() == "string" && k.desc
	if option != "" {
		key, place, _ := strings.Cut(option, ":")
		place = strings.TrimSpace(place)
		if strings.TrimSpace(key) != "missing_values" || place != "first" && place != "last" {
			return k, fail(400, "Bad syntax for sorting field `"+name+"`.")
		}
		k.first = place == "first"
	}
	return k, nil
}

// parseEval reads `[(filter):2,(filter):1]` or `filter`.
func (x *search) parseEval(k *sortKey, option string) *failure {
	parts := []string{"(" + option + "):1"}
	if inner, ok := strings.CutPrefix(strings.TrimSpace(option), "["); ok {
		parts = outside(strings.TrimSuffix(strings.TrimSpace(inner), "]"))
	}
	for _, part := range parts {
		colon := strings.LastIndexByte(part, ':')
		if colon < 0 {
			return malformed()
		}
		literal := strings.TrimSpace(part[colon+1:])
		n, integer, inside := inInt64(literal)
		if !inside {
			return x.s.fatal("_eval with %.40s, outside int64, hangs the search for ever", literal)
		}
		filter := strings.TrimSpace(part[:colon])
		if !integer || !strings.HasPrefix(filter, "(") || !strings.HasSuffix(filter, ")") {
			return malformed()
		}
		if strings.Contains(filter, "$") {
			return fail(400, "Collection `` not found.")
		}
		f, err := x.filtering()
		if err != nil {
			return err
		}
		docs, err := f.filter(filter)
		if err != nil {
			return err
		}
		k.weights = append(k.weights, weighted{docs, n})
	}
	return nil
}

// rank is what a key compares: numbers, or text.
type rank struct {
	missing bool
	n       int64
	f       float64
	s       string
}

func (k sortKey) distance(doc uint32) float64 {
	best := -1.0
	for _, p := range k.field.values[doc].points {
		if d := metres(k.place, p); best < 0 || d < best {
			best = d
		}
	}
	return best
}

func (x *search) rank(k sortKey, doc uint32) rank {
	switch k.kind {
	case byScore:
		return rank{n: int64(x.scores[doc].score)}
	case byEval:
		for _, w := range k.weights {
			if w.docs.Contains(doc) {
				return rank{n: w.n}
			}
		}
		return rank{}
	case byPlace:
		d := k.distance(doc)
		return rank{f: d, missing: d < 0}
	}
	v, ok := k.field.values[doc]
	switch {
	case !ok:
		return rank{missing: true}
	case len(v.texts) > 0:
		s := cut(normal(v.texts[0].tokens), sortBytes)
		return rank{s: s, missing: s == ""}
	case len(v.ints) > 0:
		return rank{n: v.ints[0]}
	case len(v.floats) > 0:
		return rank{f: float64(float32(v.floats[0]))}
	}
	return rank{missing: true}
}

func (k sortKey) compare(a, b rank) int {
	if a.missing != b.missing {
		if a.missing == k.first {
			return -1
		}
		return 1
	}
	c := cmp.Or(cmp.Compare(a.n, b.n), cmp.Compare(a.f, b.f), cmp.Compare(a.s, b.s))
	if k.desc {
		return -c
	}
	return c
}

// order gives all documents found in their order; ties go to the newest.
func (x *search) order() []uint32 {
	docs := x.found.ToArray()
	slices.Reverse(docs)
	keys := x.keys
	if len(keys) == 0 && x.scores != nil {
		keys = []sortKey{{kind: byScore, desc: true}}
	}
	if len(keys) == 0 || x.perPage == 0 && x.p["group_by"] == "" {
		return docs
	}
	type ranked struct {
		doc   uint32
		ranks [3]rank
	}
	list := make([]ranked, len(docs))
	for i, doc := range docs {
		list[i].doc = doc
		for n, k := range keys {
			list[i].ranks[n] = x.rank(k, doc)
		}
	}
	slices.SortFunc(list, func(a, b ranked) int {
		for n, k := range keys {
			if c := k.compare(a.ranks[n], b.ranks[n]); c != 0 {
				return c
			}
		}
		return cmp.Compare(b.doc, a.doc)
	})
	for i := range list {
		docs[i] = list[i].doc
	}
	return docs
}
