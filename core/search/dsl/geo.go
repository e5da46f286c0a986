package dsl

import (
	"math"
	"slices"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/geo"
	"github.com/quoin-cms/quoin/core/search/internal/jsonx"
)

func (p *parser) geoDistance(o *object) (search.Query, error) {
	c, err := base(o)
	if err != nil {
		return nil, err
	}
	unit, err := lengthUnit(o)
	if err != nil {
		return nil, err
	}
	far := o.get("distance")
	if far == nil {
		return nil, o.bad("geo_distance needs the parameter %q", "distance")
	}
	q := &search.GeoDistance{Clause: c}
	if q.Meters, err = geo.ParseDistance(far.text, unit); err != nil {
		return nil, far.bad("%s", err)
	}
	if err := geoOptions(o); err != nil {
		return nil, err
	}
	name, n, err := field(o, "geo_distance", "distance", "unit", "distance_type", "validation_method", "ignore_unmapped", "boost")
	if err != nil {
		return nil, err
	}
	q.Field = name
	q.Center, err = point(n)
	return q, err
}

// lengthUnit reads the meters of the parameter unit.
func lengthUnit(o *object) (float64, error) {
	name, err := o.text("unit", "m")
	if err != nil {
		return 0, err
	}
	unit, ok := geo.Unit(name)
	if !ok {
		return 0, o.get("unit").bad("%q is no unit of length", name)
	}
	return unit, nil
}

// geoOptions reads what says how to compute and what to do with input that is
// never accepted here.
func geoOptions(o *object) error {
	for name, known := range map[string][]string{"distance_type": {"arc", "plane"}, "type": {"memory", "indexed"},
		"validation_method": {"STRICT", "COERCE", "IGNORE_MALFORMED", "strict", "coerce", "ignore_malformed"}} {
		if n := o.get(name); n != nil && !slices.Contains(known, n.text) {
			return n.bad("%s must be one of %q", name, known)
		}
	}
	_, err := o.flag("ignore_unmapped")
	return err
}

func (p *parser) geoBox(o *object) (search.Query, error) {
	c, err := base(o)
	if err != nil {
		return nil, err
	}
	if err := geoOptions(o); err != nil {
		return nil, err
	}
	name, n, err := field(o, "geo_bounding_box", "type", "validation_method", "ignore_unmapped", "boost")
	if err != nil {
		return nil, err
	}
	in, err := open(n)
	if err != nil {
		return nil, err
	}
	box, err := corners(in)
	if err != nil {
		return nil, err
	}
	return &search.GeoBox{Clause: c, Field: name, Box: box}, in.done("geo_bounding_box")
}

// corners reads a box by two opposite corners or by its four sides.
func corners(in *object) (geo.Box, error) {
	unset := math.Inf(1)
	box := geo.Box{Top: unset, Left: unset, Bottom: unset, Right: unset}
	for _, corner := range []struct {
		name     string
		lat, lon *float64
	}{{"top_left", &box.Top, &box.Left}, {"top_right", &box.Top, &box.Right},
		{"bottom_left", &box.Bottom, &box.Left}, {"bottom_right", &box.Bottom, &box.Right}} {
		if n := in.get(corner.name); n != nil {
			at, err := point(n)
			if err != nil {
				return box, err
			}
			*corner.lat, *corner.lon = at.Lat, at.Lon
		}
	}
	for _, side := range []struct {
		name string
		to   *float64
		most float64
	}{{"top", &box.Top, 90}, {"left", &box.Left, 180}, {"bottom", &box.Bottom, 90}, {"right", &box.Right, 180}} {
		v, err := in.float(side.name, *side.to)
		if err != nil {
			return box, err
		}
		if *side.to = v; v != unset && math.Abs(v) > side.most {
			return box, in.get(side.name).bad("a number between %v and %v is expected", -side.most, side.most)
		}
	}
	if slices.Contains([]float64{box.Top, box.Left, box.Bottom, box.Right}, unset) {
		return box, in.bad("geo_bounding_box needs two opposite corners, such as top_left and bottom_right")
	}
	if box.Top < box.Bottom {
		return box, in.bad("the top is below the bottom")
	}
	return box, nil
}

// point reads {"lat":…,"lon":…}, "lat,lon", a geohash, WKT or [lon, lat].
func point(n *node) (geo.Point, error) {
	var at geo.Point
	switch n.kind {
	case jsonx.String:
		at, err := geo.Parse(n.text)
		if err != nil {
			err = n.bad("%s", err)
		}
		return at, err
	case jsonx.Object:
		o, err := open(n)
		if err != nil {
			return at, err
		}
		if o.get("lat") == nil || o.get("lon") == nil {
			return at, n.bad("a point needs lat and lon")
		}
		if at.Lat, err = o.float("lat", 0); err != nil {
			return at, err
		}
		if at.Lon, err = o.float("lon", 0); err != nil {
			return at, err
		}
		if err := o.done("a point"); err != nil {
			return at, err
		}
	case jsonx.Array:
		if len(n.kids) != 2 || n.kids[0].kind != jsonx.Number || n.kids[1].kind != jsonx.Number {
			return at, n.bad("a point as an array is [lon, lat]")
		}
		for i, to := range []*float64{&at.Lon, &at.Lat} {
			v, err := n.kids[i].value()
			if err != nil {
				return at, err
			}
			*to = v.Num
		}
	default:
		return at, n.bad("a point is expected")
	}
	if !at.Valid() {
		return at, n.bad("the point is not on the earth")
	}
	return at, nil
}

// maxPoints is from how many points a sort may measure.
const maxPoints = 64

// geoSort reads the sort key _geo_distance.
func (p *parser) geoSort(n *node) (key search.SortKey, err error) {
	key = search.SortKey{Path: n.path(), Geo: &search.GeoSort{}}
	o, err := open(n)
	if err != nil {
		return key, err
	}
	if by := o.get("order"); by != nil {
		if key.Desc, err = order(by); err != nil {
			return key, err
		}
	}
	if key.Geo.Unit, err = lengthUnit(o); err != nil {
		return key, err
	}
	if key.Mode, err = sortMode(o); err != nil {
		return key, err
	}
	if key.Mode == search.SortSum {
		return key, o.get("mode").bad("_geo_distance does not support the mode sum")
	}
	if err := geoOptions(o); err != nil {
		return key, err
	}
	if err := p.nestedOptions(o, &key); err != nil {
		return key, err
	}
	name, at, err := field(o, "_geo_distance", "order", "unit", "mode", "distance_type", "validation_method", "ignore_unmapped",
		"nested", "nested_path", "nested_filter")
	if err != nil {
		return key, err
	}
	key.Field = name
	list := []*node{at}
	if at.kind == jsonx.Array && (len(at.kids) == 0 || at.kids[0].kind != jsonx.Number) {
		list = at.kids
	}
	if len(list) == 0 || len(list) > maxPoints {
		return key, at.bad("between 1 and %d points are expected", maxPoints)
	}
	for _, one := range list {
		from, err := point(one)
		if err != nil {
			return key, err
		}
		key.Geo.Points = append(key.Geo.Points, from)
	}
	return key, o.done("_geo_distance")
}
