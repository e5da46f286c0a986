package double

import "strconv"

// phraseScore is what the server gives a document that matches by its phrases
// alone.
const phraseScore = 100015

// matched is the text match of one document. The score packs, from the high
// bits: words matched (5), score of the best field (48), weight of that field
// (8) and number of fields that matched (3).
type matched struct{ score uint64 }

func (m matched) describe(out map[string]any, q query) {
	best := m.score >> 11 & (1<<48 - 1)
	hits := int(m.score >> 59)
	out["text_match"] = m.score
	out["text_match_info"] = map[string]any{
		"best_field_score":   strconv.FormatUint(best, 10),
		"best_field_weight":  m.score >> 3 & 0xff,
		"fields_matched":     m.score & 7,
		"num_tokens_dropped": max(len(q.words), 1) - hits,
		"score":              strconv.FormatUint(m.score, 10),
		"tokens_matched":     hits,
		"typo_prefix_score":  255 - best>>24&0xff,
	}
}

// weights gives each field its weight: as asked for, else falling from 15.
func (x *search) weights(n int) ([]int, *failure) {
	asked := x.p.words("query_by_weights")
	if len(asked) > 0 && len(asked) != n {
		return nil, fail(400, "Number of weights in `query_by_weights` does not match number of `query_by` fields.")
	}
	out := make([]int, n)
	for i := range out {
		out[i] = max(15-i, 0)
		if len(asked) > 0 {
			w, err := strconv.Atoi(asked[i])
			if err != nil || w < 0 {
				return nil, fail(400, "Parameter `query_by_weights` must be a comma separated string of unsigned integers.")
			}
			out[i] = min(w, 15)
		}
	}
	return out, nil
}

// scoreOf scores a document that has all words.
func scoreOf(fields []*field, weights []int, near []map[string]int, doc uint32) matched {
	var best uint64
	weight, hit := 0, 0
	for i, f := range fields {
		var top uint64
		for _, t := range f.values[doc].texts {
			top = max(top, elementScore(t.tokens, near))
		}
		if top == 0 {
			continue
		}
		hit++
		if top > best || top == best && weights[i] > weight {
			best, weight = top, weights[i]
		}
	}
	n := uint64(min(len(near), 31))
	return matched{n<<59 | best<<11 | uint64(weight)<<3 | uint64(min(hit, 7))}
}

// elementScore scores one text, in bytes from the high end: words present,
// words present, 255 less two for each typo, 100 less the distance of the
// closest window, 1 when the text is nothing but the words, 0.
func elementScore(toks []string, near []map[string]int) uint64 {
	present, typos := 0, 0
	var places [][]int
	for _, candidates := range near {
		cost, at := -1, []int(nil)
		for i, t := range toks {
			if c, ok := candidates[t]; ok {
				at = append(at, i)
				if cost < 0 || c < cost {
					cost = c
				}
			}
		}
		if at != nil {
			present++
			typos += cost
			places = append(places, at)
		}
	}
	if present == 0 {
		return 0
	}
	verbatim := uint64(0)
	if present == len(near) && len(toks) == present && typos == 0 && present > 1 {
		verbatim = 1
	}
	p := uint64(present)
	return p<<40 | p<<32 | uint64(max(255-2*typos, 0))<<24 | uint64(max(100-window(places), 0))<<16 | verbatim<<8
}

// window gives the smallest distance between the first and the last word when
// one place of each word is taken.
func window(places [][]int) int {
	best := -1
	for _, start := range places[0] {
		lo, hi := start, start
		for _, at := range places[1:] {
			near := at[0]
			for _, i := range at {
				if abs(i-start) < abs(near-start) {
					near = i
				}
			}
			lo, hi = min(lo, near), max(hi, near)
		}
		if best < 0 || hi-lo < best {
			best = hi - lo
		}
	}
	return best
}

func abs(n int) int { return max(n, -n) }
