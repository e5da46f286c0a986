package typesense

import (
	"math"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/geo"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// Points are kept as codes that are ordered by latitude. So the server lists
// the points of a band, and those of them that matter become a list of values:
// exact, also around the poles and the date line, and it can be negated.

// places matches objects with a point that holds reports, between two
// latitudes.
func (v *view) places(q *search.Clause, field string, sp *mapping.Space, south, north float64, holds func(p geo.Point) bool) (op, error) {
	band := span{low: geo.Point{Lat: math.Max(south, -90), Lon: -180}.Code(), high: geo.Point{Lat: math.Min(north, 90), Lon: 180}.Code()}
	var list []cond
	for _, c := range v.columns(sp, field) {
		if c.Field.Family != mapping.Geo {
			continue
		}
		filter, err := v.filter(sp, &test{f: c.Field, column: c.Name, spans: []span{band}})
		if err != nil {
			return nil, err
		}
		if filter == matchNothing {
			continue
		}
		answer, err := v.run.one(entry{Collection: v.gen.collection(sp.Path), FilterBy: filter, FacetBy: c.Name, MaxFacetValues: maxTerms + 1})
		if err != nil {
			return nil, err
		}
		counts := facetCounts(answer)
		if len(counts) > maxTerms {
			return nil, refuse(q, "to look through more than %d points of %q", maxTerms, field)
		}
		t := &test{f: c.Field, column: c.Name}
		for _, n := range counts {
			if code := DecodeNumber(wholeOf(n.Value)); holds(geo.Decode(code)) {
				t.spans = append(t.spans, point(code))
			}
		}
		list = append(list, t)
	}
	return &constantOp{either(list...), q.Boost}, nil
}

func (v *view) geoDistance(q *search.GeoDistance, sp *mapping.Space) (op, error) {
	// A degree of latitude is nearly as long everywhere.
	reach := q.Meters/111_000 + 0.001
	return v.places(q.Info(), q.Field, sp, q.Center.Lat-reach, q.Center.Lat+reach, func(p geo.Point) bool {
		return math.Abs(p.Lat-q.Center.Lat) <= reach && geo.Distance(q.Center, p) <= q.Meters
	})
}

func (v *view) geoBox(q *search.GeoBox, sp *mapping.Space) (op, error) {
	return v.places(q.Info(), q.Field, sp, q.Box.Bottom-0.001, q.Box.Top+0.001, q.Box.Contains)
}
