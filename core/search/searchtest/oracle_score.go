package searchtest

import (
	"math"
	"slices"
	"strings"
)

// functionScore scores what the query matches by functions.
func (w *world) functionScore(body map[string]any, o *obj) (bool, float64) {
	query, _ := body["query"].(map[string]any)
	ok, score := w.eval(query, o)
	if !ok {
		return false, 0
	}
	score *= boostOf(body)
	list := clauses(body["functions"])
	if body["functions"] == nil {
		list = []map[string]any{body}
	}
	var values, weights []float64
	for _, f := range list {
		if filter, found := f["filter"].(map[string]any); found {
			if ok, _ := w.eval(filter, o); !ok {
				continue
			}
		}
		weight, given := f["weight"].(float64)
		if !given {
			weight = 1
		}
		values, weights = append(values, weight*functionValue(f, o)), append(weights, weight)
	}
	factor := combined(body["score_mode"], values, weights)
	if most, ok := body["max_boost"].(float64); ok {
		factor = math.Min(factor, most)
	}
	switch body["boost_mode"] {
	case "replace":
		score = factor
	case "sum":
		score += factor
	case "avg":
		score = (score + factor) / 2
	case "max":
		score = math.Max(score, factor)
	case "min":
		score = math.Min(score, factor)
	default:
		score *= factor
	}
	least, _ := body["min_score"].(float64)
	return score >= least, score
}

func combined(mode any, values, weights []float64) float64 {
	if len(values) == 0 {
		return 1
	}
	sum, product, weight := 0.0, 1.0, 0.0
	for i, v := range values {
		sum, product, weight = sum+v, product*v, weight+weights[i]
	}
	switch mode {
	case "first":
		return values[0]
	case "sum":
		return sum
	case "avg":
		return sum / weight
	case "max":
		return slices.Max(values)
	case "min":
		return slices.Min(values)
	}
	return product
}

func functionValue(f map[string]any, o *obj) float64 {
	if p, ok := f["field_value_factor"].(map[string]any); ok {
		n := p["missing"].(float64)
		if nums := o.at(p["field"].(string)).nums; len(nums) > 0 {
			n = slices.Min(nums)
		}
		n *= p["factor"].(float64)
		switch p["modifier"] {
		case "log1p":
			return math.Log10(n + 1)
		case "ln2p":
			return math.Log(n + 2)
		case "square":
			return n * n
		case "sqrt":
			return math.Sqrt(n)
		case "reciprocal":
			return 1 / n
		}
		return n
	}
	for _, curve := range []string{"gauss", "exp", "linear"} {
		p, ok := f[curve].(map[string]any)
		if !ok {
			continue
		}
		field, raw := only(p)
		return decayed(curve, raw.(map[string]any), o.at(field).nums)
	}
	return 1
}

func decayed(curve string, p map[string]any, nums []float64) float64 {
	if len(nums) == 0 {
		return 1
	}
	d, scale, offset := math.Inf(1), p["scale"].(float64), p["offset"].(float64)
	for _, n := range nums {
		d = math.Min(d, math.Abs(n-p["origin"].(float64)))
	}
	d = math.Max(d-offset, 0)
	switch curve {
	case "gauss":
		return math.Exp(d * d * math.Log(0.5) / (scale * scale))
	case "exp":
		return math.Pow(0.5, d/scale)
	}
	return math.Max(0, 1-d/(2*scale))
}

// place is a latitude and a longitude.
type place [2]float64

// places reads points as the random documents write them.
func places(out []place, v any) []place {
	switch v := v.(type) {
	case string:
		lat, lon, _ := strings.Cut(v, ",")
		out = append(out, place{numOf(lat), numOf(lon)})
	case map[string]any:
		out = append(out, place{v["lat"].(float64), v["lon"].(float64)})
	case []any:
		if len(v) == 2 {
			if lon, ok := v[0].(float64); ok {
				return append(out, place{v[1].(float64), lon})
			}
		}
		for _, e := range v {
			out = places(out, e)
		}
	}
	return out
}

// away gives the meters between two places, by the law of cosines.
func away(a, b place) float64 {
	rad := math.Pi / 180
	c := math.Sin(a[0]*rad)*math.Sin(b[0]*rad) + math.Cos(a[0]*rad)*math.Cos(b[0]*rad)*math.Cos((a[1]-b[1])*rad)
	return 6_371_008.7714 * math.Acos(math.Max(-1, math.Min(1, c)))
}

func (s *vals) near(body map[string]any) bool {
	center := places(nil, body["place"])[0]
	return slices.ContainsFunc(s.places, func(p place) bool { return away(center, p) <= body["distance"].(float64) })
}

func (s *vals) inBox(box map[string]any) bool {
	top, left, bottom, right := box["top"].(float64), box["left"].(float64), box["bottom"].(float64), box["right"].(float64)
	return slices.ContainsFunc(s.places, func(p place) bool {
		inside := p[1] >= left && p[1] <= right
		if left > right {
			inside = p[1] >= left || p[1] <= right
		}
		return inside && p[0] <= top && p[0] >= bottom
	})
}
