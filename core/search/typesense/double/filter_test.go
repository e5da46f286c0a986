package double_test

import (
	"strings"
	"testing"
)

// TestFilterText holds what a real server answered over these nine texts.
func TestFilterText(t *testing.T) {
	c := start(t, true)
	c.create("c", `{"name":"t","type":"string","optional":true},{"name":"tags","type":"string[]","optional":true}`)
	c.load("c",
		`{"id":"1","t":"The Quick Brown Fox","tags":["alpha","beta two"]}`,
		`{"id":"2","t":"quick fox"}`,
		`{"id":"3","t":"fox","tags":["red"]}`,
		`{"id":"4","t":"café & crème, C++ (x)"}`,
		`{"id":"5"}`,
		`{"id":"6","t":""}`,
		`{"id":"7","t":"foo-bar baz_qux x@y.z"}`,
		`{"id":"8","t":null}`,
		`{"id":"9","t":"fox quick"}`,
	)
	empty := "400 Error with filter field `t`: Filter value cannot be empty."
	for _, x := range []struct{ filter, want string }{
		{"", "1 2 3 4 5 6 7 8 9"},
		{"t:fox", "1 2 3 9"},
		{"t: fox ", "1 2 3 9"},
		{"t:quick fox", "1 2 9"},
		{`t:"quick fox"`, "1 2 9"},
		{"t:=fox", "3"},
		{"t:=Quick Fox", "2"},
		{"t:=Fóx", "3"},
		{"t:=  fox!!", "3"},
		{"t:fo", ""},
		{"t:fo*", "1 2 3 7 9"},
		{"t:=fo*", "3 7 9"},
		{"t:fox*uick", ""},
		{"t:!=fox", "1 2 4 5 6 7 8 9"},
		{"t:!fox", "4 5 6 7 8"},
		{"t:[fox,café]", "1 2 3 4 9"},
		{"t:=[fox,quick fox]", "2 3"},
		{"t:!=[fox,quick fox]", "1 4 5 6 7 8 9"},
		{"t:!fo*", "4 5 6 8"},
		{"t:!=fo*", "1 2 4 5 6 8"},
		{"t:=foobar bazqux xyz", "7"},
		{"t:cafe", "4"},
		{"t:>a", ""},
		{"t:`c++ (x)`", "4"},
		{"t:[]", ""},
		{"tags:=[]", ""},
		{"tags:!=[]", "1 2 3 4 5 6 7 8 9"},
		{"tags:=beta", ""},
		{"tags:beta", "1"},
		{"tags:=beta two", "1"},
		{"tags:!=red", "1 2 4 5 6 7 8 9"},
		{"t:=``", empty},
		{"t:=", empty},
		{"t:*", empty},
		{"t:!=*", empty},
		{"t:=!!!", empty},
		{"nofield:1", "400 Could not find a filter field named `nofield` in the schema."},
		{"T:fox", "400 Could not find a filter field named `T` in the schema."},
		{"!t:fox", "400 Could not find a filter field named `!t` in the schema."},
		{"!(t:fox)", "400 Could not parse the filter query."},
		{"(t:fox", "400 Could not parse the filter query."},
		{"t:fox)", "400 Could not parse the filter query."},
		{"t:fox && ", "400 Could not parse the filter query."},
		{"fox", "400 Could not parse the filter query."},
		{strings.Repeat("(", 60) + "t:=fox" + strings.Repeat(")", 60), "3"},
		{"id:1", "1"},
		{"id:=[`1`,9,`77`]", "1 9"},
		{"id:!=[1,2,3]", "4 5 6 7 8 9"},
		{"id:*", "1 2 3 4 5 6 7 8 9"},
		{"id:>1", ""},
	} {
		if got := c.filter(x.filter); got != x.want {
			t.Errorf("%s\n  got  %s\n  want %s", x.filter, got, x.want)
		}
	}
}

func TestFilterNumbers(t *testing.T) {
	c := start(t, true)
	c.create("c", `{"name":"n","type":"int64[]","optional":true},{"name":"i","type":"int32","optional":true},
		{"name":"f","type":"float","optional":true},{"name":"b","type":"bool","optional":true}`)
	c.load("c",
		`{"id":"1","n":[1,2],"i":5,"f":0.3,"b":true}`,
		`{"id":"2","n":[9007199254740993],"i":-5,"f":16777217}`,
		`{"id":"3","n":[-9223372036854775808,9223372036854775807],"b":false}`,
		`{"id":"4","n":[]}`,
		`{"id":"5"}`,
	)
	notInt := "400 Error with filter field `n`: Not an int64."
	comparator := "400 Error with filter field `n`: Numerical field has an invalid comparator."
	for _, x := range []struct{ filter, want string }{
		{"n:2", "1"},
		{"n:=2", "1"},
		{"n:!=2", "2 3 4 5"},
		{"n:9007199254740992", ""},
		{"n:>9007199254740992", "2 3"},
		{"n:>=9223372036854775807", "3"},
		{"n:>9223372036854775807", ""},
		{"n:<-9223372036854775807", "3"},
		{"n:[1..3]", "1"},
		{"n:[1,5..9007199254740993]", "1 2"},
		{"n:[>5,<-3]", "2 3"},
		{"n:!=[-9223372036854775808..9223372036854775807]", "4 5"},
		{"n:[5..]", ""},
		{"n:!=[1,2]", "2 3 4 5"},
		{"n:5.0", notInt},
		{"n:>1.5", notInt},
		{"n:>1e1", notInt},
		{"n:!1", comparator},
		{"n:x", comparator},
		{"n:null", comparator},
		{"i:=3000000000", "400 Error with filter field `i`: `3000000000` exceeds the range of an int32."},
		{"i:-5", "2"},
		{"f:0.3", "1"},
		{"f:=0.30000000000000004", "1"},
		{"f:=16777216", "2"},
		{"f:>1e-1", "1 2"},
		{"f:[0.1..0.4]", "1"},
		{"b:true", "1"},
		{"b:!=true", "2 3 4 5"},
		{"b:[true,false]", "1 3"},
		{"b:!=[true,false]", "2 4 5"},
		{"b:True", "400 Value of filter field `b` must be `true` or `false`."},
		{"b:true || i:-5 && b:false", ""}, // left to right
		{"b:true || (i:-5 && f:>1)", "1 2"},
	} {
		if got := c.filter(x.filter); got != x.want {
			t.Errorf("%s\n  got  %s\n  want %s", x.filter, got, x.want)
		}
	}
}

func TestFilterPlaces(t *testing.T) {
	c := start(t, false)
	c.create("c", `{"name":"g","type":"geopoint[]","optional":true}`)
	c.load("c",
		`{"id":"paris","g":[[48.8566,2.3522]]}`,
		`{"id":"lyon","g":[[45.764,4.8357],[43.2965,5.3698]]}`,
		`{"id":"nowhere"}`,
	)
	for _, x := range []struct{ filter, want string }{
		{"g:(48.85,2.35,5 km)", "paris"},
		{"g:(48.85,2.35,400 km)", "paris lyon"},
		{"g:(43.3,5.4,5 mi)", "lyon"},
		{"g:(40,0,40,10,46,10,46,0)", "lyon"},
		{"g:(48,2,48,3,49,3,49,2) && id:!=lyon", "paris"},
		{"g:(48.85,2.35,5 m)", "400 Error with filter field `g`: Unit must be either `km` or `mi`."},
		// Edges are great circles: the north one of a wide box runs above its corners.
		{"g:(48,-60,48,60,0,60,0,-60)", "paris lyon"},
	} {
		if got := c.filter(x.filter); got != x.want {
			t.Errorf("%s\n  got  %s\n  want %s", x.filter, got, x.want)
		}
	}
	if code, _ := c.search(map[string]any{"filter_by": "g:!=(1,2,3 km)"}); !strings.HasPrefix(code, "400 ") {
		t.Error("a place was negated:", code)
	}
	ids, answer := c.search(map[string]any{"sort_by": "g(48.8566,2.3522):asc"})
	if ids != "paris lyon nowhere" {
		t.Error(ids)
	}
	if got := answer["hits"].([]any)[0].(map[string]any)["geo_distance_meters"].(map[string]any)["g"]; got != 0.0 {
		t.Error("distance", got)
	}
}
