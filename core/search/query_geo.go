package search

import "github.com/quoin-cms/quoin/core/search/geo"

// GeoDistance matches documents with a point of Field not further than Meters
// from Center.
type GeoDistance struct {
	Clause
	Field  string
	Center geo.Point
	Meters float64
}

// GeoBox matches documents with a point of Field inside Box.
type GeoBox struct {
	Clause
	Field string
	Box   geo.Box
}

// GeoSort orders by the distance of the points of a field from the nearest of
// Points, in units of Unit meters. Documents without a point are infinitely
// far away.
type GeoSort struct {
	Points []geo.Point
	Unit   float64
}
