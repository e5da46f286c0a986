package geo

import (
	"encoding/json"
	"math"
)

// Box is an area between two latitudes and two longitudes. When Left is
// greater than Right it crosses the date line.
type Box struct{ Top, Left, Bottom, Right float64 }

// Contains tells whether the point is in the area or on its border.
func (b Box) Contains(p Point) bool {
	switch {
	case p.Lat > b.Top || p.Lat < b.Bottom:
		return false
	case b.Left > b.Right:
		return p.Lon >= b.Left || p.Lon <= b.Right
	}
	return p.Lon >= b.Left && p.Lon <= b.Right
}

// steps is into how many parts the latitudes and the longitudes are divided
// for a code: two numbers of 27 bits fit a float64 as one integer. A part is
// 15 cm high and at most 30 cm wide.
const steps = 1 << 27

// Code gives the point as one number that keeps latitude and longitude
// together: an integer between -2^53 and 2^53.
func (p Point) Code() float64 {
	return float64(part(p.Lat, 90)*steps + part(p.Lon, 180) - 1<<53)
}

func part(degrees, half float64) int64 {
	n := int64(math.Round((degrees + half) / (2 * half) * (steps - 1)))
	return min(max(n, 0), steps-1)
}

// Decode gives the point of a code.
func Decode(code float64) Point {
	n := int64(code) + 1<<53
	return Point{whole(n/steps, 90), whole(n%steps, 180)}
}

func whole(n int64, half float64) float64 { return float64(n)/(steps-1)*2*half - half }

// Points reads a JSON value as points: {"lat":…,"lon":…}, a text (see Parse),
// [lon, lat], GeoJSON, or an array of these. What is no point is left out.
func Points(raw []byte) []Point {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return nil
	}
	return points(nil, v)
}

func points(out []Point, v any) []Point {
	switch v := v.(type) {
	case string:
		if p, err := Parse(v); err == nil {
			out = append(out, p)
		}
	case map[string]any:
		if v["type"] == "Point" {
			return points(out, v["coordinates"])
		}
		lat, okLat := degrees(v["lat"])
		lon, okLon := degrees(v["lon"])
		if p := (Point{lat, lon}); okLat && okLon && p.Valid() {
			out = append(out, p)
		}
	case []any:
		if len(v) == 2 || len(v) == 3 {
			lon, okLon := v[0].(float64)
			lat, okLat := v[1].(float64)
			if okLon && okLat {
				if p := (Point{lat, lon}); p.Valid() {
					out = append(out, p)
				}
				return out
			}
		}
		for _, e := range v {
			out = points(out, e)
		}
	}
	return out
}

func degrees(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case string:
		p, err := numbers(v, "0")
		return p.Lat, err == nil
	}
	return 0, false
}
