package search_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
)

func TestMinimum(t *testing.T) {
	for _, c := range []struct {
		spec    string
		n, want int
	}{
		{"2", 5, 2}, {"2", 1, 2}, {"-2", 5, 3}, {"-7", 5, 0}, {"75%", 5, 3}, {"-25%", 5, 4}, {"100%", 3, 3}, {"0", 3, 0},
		{"2<75%", 2, 2}, {"2<75%", 4, 3}, {"2<-25% 9<-3", 9, 7}, {"2<-25% 9<-3", 12, 9}, {"2<-25% 9<-3", 1, 1}, {"2 < 75% 9 <-3", 12, 9}, {"1<-1 3<50%", 3, 2},
	} {
		m, err := search.ParseMinimum(c.spec)
		if err != nil || m.Of(c.n) != c.want {
			t.Errorf("%q of %d: %v, want %d", c.spec, c.n, err, c.want)
		}
	}
	for _, bad := range []string{"", "x", "%", "<2", "2<", "-1<2", "1 2", "99999999999999999999"} {
		if _, err := search.ParseMinimum(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func TestMatchPattern(t *testing.T) {
	for _, c := range []struct {
		pattern, s string
		want       bool
	}{
		{"a", "a", true}, {"a", "b", false}, {"*", "", true}, {"a*c", "abbc", true}, {"a*c", "abcd", false}, {"*.title", "fr.title", true},
		{"a*b*c", "axbxbxc", true}, {"", "", true}, {"", "a", false}, {strings.Repeat("*a", 30) + "b", strings.Repeat("a", 10_000), false},
	} {
		if search.MatchPattern(c.pattern, c.s) != c.want {
			t.Errorf("%q on %q is not %v", c.pattern, c.s, c.want)
		}
	}
}

func TestResolve(t *testing.T) {
	indices := []string{"p_1", "p_2", "q_1"}
	aliases := map[string][]string{"preview": {"p_2"}, "live": {"p_1", "q_1"}}
	for _, c := range []struct {
		names, regex, want string
	}{
		{"preview", "", "p_2"}, {"live,preview", "", "p_1 p_2 q_1"}, {"p_*", "", "p_1 p_2"}, {"*", "", "p_1 p_2 q_1"}, {"_all", "", "p_1 p_2 q_1"},
		{"l*", "", "p_1 q_1"}, {"x*", "", ""}, {"live", "^q", "q_1"}, {"live", "nothing", "p_1 q_1"},
	} {
		got, err := search.Resolve(indices, aliases, []string{c.names}, c.regex)
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s /%s/: %q, %v", c.names, c.regex, got, err)
		}
	}
	if _, err := search.Resolve(indices, aliases, []string{"nope"}, ""); !problem.Is(err, problem.NotFound) {
		t.Errorf("an unknown name: %v", err)
	}
	if _, err := search.Resolve(indices, aliases, []string{"live"}, "("); !problem.Is(err, problem.Invalid) {
		t.Errorf("a bad expression: %v", err)
	}
}

func TestResponseShape(t *testing.T) {
	score := 1.5
	r := &search.Response{Took: 3 * time.Millisecond, Shards: 2, Total: 7, MaxScore: &score,
		Hits: []search.Hit{{Index: "i\"x", Key: search.Key{Type: "t", OUUID: "1"}, Score: &score, Source: []byte(`{"b":1.0,"a":"é"}`),
			Sort: []search.SortValue{{}, {Kind: search.StringValue, Text: "s"}, {Kind: search.NumberValue, Num: 3, Whole: true}, {Kind: search.NumberValue, Num: 3}}}},
		Aggs: []search.AggResult{
			{Name: "t", Body: &search.Buckets{Other: 4, Buckets: []search.Bucket{{Key: search.SortValue{Kind: search.NumberValue, Num: 1, Whole: true}, KeyText: "true", Count: 2,
				Subs: []search.AggResult{{Name: "m", Body: &search.Metric{Null: true}}}}}}},
			{Name: "f", Body: &search.SingleBucket{Count: 1, Subs: []search.AggResult{{Name: "c", Body: &search.Metric{Value: 2, Whole: true}}}}},
			{Name: "s", Body: &search.StatsResult{}},
			{Name: "d", Body: &search.Metric{Value: 1.7e12, Text: "2023"}},
		}}
	want := `{"took":3,"timed_out":false,"_shards":{"total":2,"successful":2,"skipped":0,"failed":0},"hits":{"total":{"value":7,"relation":"eq"},"max_score":1.5,"hits":[` +
		`{"_index":"i\"x","_id":"1","_score":1.5,"_source":{"b":1.0,"a":"é"},"sort":[null,"s",3,3.0]}]},"aggregations":{` +
		`"t":{"doc_count_error_upper_bound":0,"sum_other_doc_count":4,"buckets":[{"key":1,"key_as_string":"true","doc_count":2,"m":{"value":null}}]},` +
		`"f":{"doc_count":1,"c":{"value":2}},"s":{"count":0,"min":null,"max":null,"avg":null,"sum":0.0},"d":{"value":1700000000000.0,"value_as_string":"2023"}}}`
	if got := string(r.AppendJSON(nil)); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	var b strings.Builder
	if n, err := r.WriteTo(&b); err != nil || b.String() != want || int(n) != len(want) {
		t.Errorf("WriteTo: %s, %v", b.String(), err)
	}
}

// A filtered source must be JSON with the kept values unchanged.
func FuzzSourceFilter(f *testing.F) {
	f.Add(`{"a":{"b":[{"c":1},2]},"_contenttype":"x"}`, "a.*", "*.c")
	f.Add(`{"a":[[{"b":1}],[]],"c":{}}`, "a.b", "")
	f.Add(`{}`, "", "*")
	f.Fuzz(func(t *testing.T, raw, include, exclude string) {
		filter := search.SourceFilter{Includes: []string{include}, Excludes: []string{exclude}}
		out, err := filter.Apply([]byte(raw), "page")
		if err != nil || !json.Valid([]byte(raw)) || raw == "null" {
			return
		}
		var m map[string]any
		if err := json.Unmarshal(out, &m); err != nil {
			t.Fatalf("%q with %q and %q became %q: %v", raw, include, exclude, out, err)
		}
		if _, ok := m["_contenttype"]; !ok {
			t.Errorf("%q with %q and %q lost its type: %q", raw, include, exclude, out)
		}
	})
}

func TestKindOf(t *testing.T) {
	for name, want := range map[string]search.Kind{"integer": search.KindLong, "scaled_float": search.KindDouble, "text": search.KindText, "geo_point": search.KindGeoPoint, "geo_shape": search.KindStored, "nope": ""} {
		if k, ok := search.KindOf(name); ok != (want != "") || ok && k != want {
			t.Errorf("%s: %q, %v", name, k, ok)
		}
	}
}
