// Package geo reads points on the earth and distances as Elasticsearch writes
// them, and measures between points.
package geo

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// radius of the earth in meters, the mean one that Lucene takes.
const radius = 6_371_008.7714

// Point is a place in degrees: Lat from -90 to 90, Lon from -180 to 180.
type Point struct{ Lat, Lon float64 }

// Valid tells whether the point is on the earth.
func (p Point) Valid() bool {
	return p.Lat >= -90 && p.Lat <= 90 && p.Lon >= -180 && p.Lon <= 180
}

// Parse reads "lat,lon", "POINT (lon lat)" or a geohash, which means the
// middle of its cell.
func Parse(text string) (Point, error) {
	text = strings.TrimSpace(text)
	var p Point
	var err error
	switch lat, lon, pair := strings.Cut(text, ","); {
	case pair:
		p, err = numbers(lat, lon)
	case len(text) > 5 && strings.EqualFold(text[:5], "POINT"):
		inside := strings.Fields(strings.Trim(strings.TrimSpace(text[5:]), "()"))
		if len(inside) != 2 {
			return p, fmt.Errorf("%q is no point", text)
		}
		p, err = numbers(inside[1], inside[0])
	default:
		var ok bool
		if p, ok = geohash(text); !ok {
			return p, fmt.Errorf("%q is no point", text)
		}
	}
	if err == nil && !p.Valid() {
		err = fmt.Errorf("%q is not on the earth", text)
	}
	return p, err
}

func numbers(lat, lon string) (Point, error) {
	y, err := strconv.ParseFloat(strings.TrimSpace(lat), 64)
	if err != nil {
		return Point{}, fmt.Errorf("%q is no latitude", lat)
	}
	x, err := strconv.ParseFloat(strings.TrimSpace(lon), 64)
	if err != nil {
		return Point{}, fmt.Errorf("%q is no longitude", lon)
	}
	return Point{y, x}, nil
}

// hashLetters are the digits of a geohash, in their order.
const hashLetters = "0123456789bcdefghjkmnpqrstuvwxyz"

func geohash(text string) (Point, bool) {
	if text == "" || len(text) > 12 {
		return Point{}, false
	}
	low, high := Point{-90, -180}, Point{90, 180}
	east := true
	for _, c := range strings.ToLower(text) {
		digit := strings.IndexRune(hashLetters, c)
		if digit < 0 {
			return Point{}, false
		}
		for bit := 16; bit > 0; bit /= 2 {
			from, to := &low.Lat, &high.Lat
			if east {
				from, to = &low.Lon, &high.Lon
			}
			if middle := (*from + *to) / 2; digit&bit != 0 {
				*from = middle
			} else {
				*to = middle
			}
			east = !east
		}
	}
	return Point{(low.Lat + high.Lat) / 2, (low.Lon + high.Lon) / 2}, true
}

// Distance gives the meters from a to b over the surface of a globe.
func Distance(a, b Point) float64 {
	y := math.Sin(radians(b.Lat-a.Lat) / 2)
	x := math.Sin(radians(b.Lon-a.Lon) / 2)
	h := y*y + math.Cos(radians(a.Lat))*math.Cos(radians(b.Lat))*x*x
	return 2 * radius * math.Asin(math.Sqrt(math.Min(h, 1)))
}

func radians(degrees float64) float64 { return degrees * math.Pi / 180 }

// Unit gives the meters of a unit of length by its name: "km", "miles" …
func Unit(name string) (meters float64, ok bool) {
	switch name {
	case "m", "meters", "":
		return 1, true
	case "km", "kilometers":
		return 1000, true
	case "cm", "centimeters":
		return 0.01, true
	case "mm", "millimeters":
		return 0.001, true
	case "mi", "miles":
		return 1609.344, true
	case "yd", "yards":
		return 0.9144, true
	case "ft", "feet":
		return 0.3048, true
	case "in", "inch":
		return 0.0254, true
	case "nmi", "NM", "nauticalmiles":
		return 1852, true
	}
	return 0, false
}

// ParseDistance reads "12km" as meters; without a unit the number is in unit
// meters.
func ParseDistance(text string, unit float64) (float64, error) {
	text = strings.TrimSpace(text)
	end := strings.LastIndexAny(text, "0123456789.") + 1
	n, err := strconv.ParseFloat(strings.TrimSpace(text[:end]), 64)
	if err != nil || n < 0 || math.IsInf(n, 0) || math.IsNaN(n) {
		return 0, fmt.Errorf("%q is no distance", text)
	}
	if name := strings.TrimSpace(text[end:]); name != "" {
		var ok bool
		if unit, ok = Unit(name); !ok {
			return 0, fmt.Errorf("%q is no unit of length", name)
		}
	}
	return n * unit, nil
}
