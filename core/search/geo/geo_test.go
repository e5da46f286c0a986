package geo_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/quoin-cms/quoin/core/search/geo"
)

func TestPoints(t *testing.T) {
	for in, want := range map[string]string{
		`{"lat":50.85,"lon":4.35}`:                    "[{50.85 4.35}]",
		`{"lat":"50.85","lon":"4.35"}`:                "[{50.85 4.35}]",
		`"50.85, 4.35"`:                               "[{50.85 4.35}]",
		`[4.35,50.85]`:                                "[{50.85 4.35}]",
		`[4.35,50.85,12]`:                             "[{50.85 4.35}]",
		`[[4.35,50.85],"1,2"]`:                        "[{50.85 4.35} {1 2}]",
		`"POINT (4.35 50.85)"`:                        "[{50.85 4.35}]",
		`{"type":"Point","coordinates":[4.35,50.85]}`: "[{50.85 4.35}]",
		`"u151"`: "[{50.888671875 4.39453125}]",
		`[{"lat":91,"lon":1},{"lat":1},"x!","200,1",[1,100],true,null,"1,NaN"]`: "[]",
		`{`: "[]",
	} {
		if got := fmt.Sprint(geo.Points([]byte(in))); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func TestDistances(t *testing.T) {
	brussels, paris := geo.Point{Lat: 50.8503, Lon: 4.3517}, geo.Point{Lat: 48.8566, Lon: 2.3522}
	if d := geo.Distance(brussels, paris); math.Abs(d-263_970) > 300 {
		t.Errorf("Brussels to Paris: %f", d)
	}
	if d := geo.Distance(geo.Point{Lon: 179.9}, geo.Point{Lon: -179.9}); math.Abs(d-22_239) > 10 {
		t.Errorf("over the date line: %f", d)
	}
	for in, want := range map[string]float64{"12km": 12_000, "12": 12, "1.5 miles": 2414.016, "3nmi": 5556, "": -1, "km": -1, "1 parsec": -1, "-3m": -1} {
		if got, err := geo.ParseDistance(in, 1); (err != nil) != (want < 0) || err == nil && math.Abs(got-want) > 1e-6 {
			t.Errorf("%q: %v, %v", in, got, err)
		}
	}
}

func TestCodes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		p := geo.Point{Lat: r.Float64()*180 - 90, Lon: r.Float64()*360 - 180}
		code := p.Code()
		if code != math.Trunc(code) || math.Abs(code) > 1<<53 {
			t.Fatalf("%v has the code %v", p, code)
		}
		if d := geo.Distance(p, geo.Decode(code)); d > 0.4 {
			t.Fatalf("%v becomes %v", p, geo.Decode(code))
		}
	}
	for _, p := range []geo.Point{{Lat: 90, Lon: 180}, {Lat: -90, Lon: -180}, {}} {
		if d := geo.Decode(p.Code()); !d.Valid() || geo.Distance(p, d) > 0.4 {
			t.Errorf("%v becomes %v", p, d)
		}
	}
}

func FuzzPoints(f *testing.F) {
	f.Add([]byte(`[{"lat":1,"lon":"2"},"3,4",[5,6],"u151"]`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, p := range geo.Points(raw) {
			if !p.Valid() || !geo.Decode(p.Code()).Valid() {
				t.Errorf("%q gives %v", raw, p)
			}
		}
	})
}
