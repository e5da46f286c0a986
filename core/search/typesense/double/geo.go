package double

import (
	"math"
	"strconv"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"
)

const earthMetres = 6371010

// metres is the distance of two places on a sphere.
func metres(a, b point) float64 {
	const rad = math.Pi / 180
	dlat, dlng := (b.lat-a.lat)*rad/2, (b.lng-a.lng)*rad/2
	h := math.Sin(dlat)*math.Sin(dlat) + math.Cos(a.lat*rad)*math.Cos(b.lat*rad)*math.Sin(dlng)*math.Sin(dlng)
	return 2 * earthMetres * math.Asin(math.Min(1, math.Sqrt(h)))
}

// geo evaluates `(lat, lng, 5 km)` and `(lat, lng, lat, lng, lat, lng, …)`.
func (f *filtering) geo(fd *field, rest string) (*roaring.Bitmap, *failure) {
	bad := func(why string) *failure { return fail(400, "Error with filter field `"+fd.Name+"`: "+why) }
	not, _, values, _ := operators(rest)
	if not {
		return nil, bad("Geopoint filters can not be negated.")
	}
	out := roaring.New()
	for _, v := range values {
		inside, why := shape(v)
		if inside == nil {
			return nil, bad(why)
		}
		for doc, v := range fd.values {
			for _, p := range v.points {
				if inside(p) {
					out.Add(doc)
					break
				}
			}
		}
	}
	return out, nil
}

// shape reads a circle or a polygon; nil and the reason when it is neither.
func shape(v string) (func(point) bool, string) {
	v = strings.TrimSpace(v)
	if !strings.HasPrefix(v, "(") || !strings.HasSuffix(v, ")") {
		return nil, "Value of a geopoint must be in the `(lat, lng, radius)` or `(lat1, lng1, lat2, lng2, …)` format."
	}
	parts := strings.Split(v[1:len(v)-1], ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	if len(parts) == 3 {
		return circle(parts)
	}
	var corners []point
	for i := 0; i+1 < len(parts); i += 2 {
		lat, err1 := strconv.ParseFloat(parts[i], 64)
		lng, err2 := strconv.ParseFloat(parts[i+1], 64)
		if err1 != nil || err2 != nil {
			return nil, "Geo coordinates must be numbers."
		}
		corners = append(corners, point{lat, lng})
	}
	if len(corners) < 3 {
		return nil, "A polygon needs three corners."
	}
	return func(p point) bool { return inPolygon(p, corners) }, ""
}

func circle(parts []string) (func(point) bool, string) {
	unit := 0.0
	number := strings.TrimSpace(parts[2])
	switch {
	case strings.HasSuffix(number, "km"):
		unit, number = 1000, strings.TrimSuffix(number, "km")
	case strings.HasSuffix(number, "mi"):
		unit, number = 1609.34, strings.TrimSuffix(number, "mi")
	default:
		return nil, "Unit must be either `km` or `mi`."
	}
	lat, err1 := strconv.ParseFloat(parts[0], 64)
	lng, err2 := strconv.ParseFloat(parts[1], 64)
	radius, err3 := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err1 != nil || err2 != nil || err3 != nil {
		return nil, "Geo coordinates must be numbers."
	}
	centre := point{lat, lng}
	return func(p point) bool { return metres(centre, p) <= radius*unit }, ""
}

// inPolygon counts the edges north of the place. Edges are great circles, as
// on the server: a wide box bulges towards the pole.
func inPolygon(p point, corners []point) bool {
	const rad = math.Pi / 180
	inside := false
	for i, a := range corners {
		b := corners[(i+1)%len(corners)]
		if (a.lng > p.lng) == (b.lng > p.lng) {
			continue
		}
		lat := math.Atan((math.Tan(a.lat*rad)*math.Sin((b.lng-p.lng)*rad) +
			math.Tan(b.lat*rad)*math.Sin((p.lng-a.lng)*rad)) / math.Sin((b.lng-a.lng)*rad))
		if lat/rad > p.lat {
			inside = !inside
		}
	}
	return inside
}
