package embedded

import (
	"math"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/geo"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// places matches objects with a point that holds reports.
func (v *view) places(field string, boost float64, sp *space, holds func(p geo.Point) bool) op {
	out := roaring.New()
	for _, f := range v.families(sp, field) {
		if f.field.Family == mapping.Geo {
			out.Or(f.where(func(code float64) bool { return holds(geo.Decode(code)) }))
		}
	}
	return &constant{out, float32(boost)}
}

func (v *view) geoDistance(q *search.GeoDistance, sp *space) op {
	// A degree of latitude is nearly as long everywhere, so most points are
	// refused without the distance.
	reach := q.Meters/111_000 + 0.001
	return v.places(q.Field, q.Boost, sp, func(p geo.Point) bool {
		return math.Abs(p.Lat-q.Center.Lat) <= reach && geo.Distance(q.Center, p) <= q.Meters
	})
}
