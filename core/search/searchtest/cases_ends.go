package searchtest

import (
	"fmt"
	"testing"

	"github.com/quoin-cms/quoin/core/search"
)

// endDocs hold the least and the greatest long, and numbers beyond both.
var endDocs = [][2]string{
	{"page:a", `{"n":9223372036854775807,"size":10000000}`},
	{"page:b", `{"n":-9223372036854775808,"size":0.0004}`},
	{"page:c", `{"n":5,"size":123456789}`},
	{"note:d", `{"big":18446744073709551616}`},
}

// endCases are bodyCases of numbers at the ends.
var endCases = []bodyCase{
	{`{"size":0,"aggs":{"t":{"terms":{"field":"n"}}}}`, "aggregations.t.buckets",
		`[{"doc_count":1,"key":-9223372036854775808},{"doc_count":1,"key":5},{"doc_count":1,"key":9223372036854775807}]`},
	{`{"size":0,"aggs":{"t":{"terms":{"field":"big"}}}}`, "aggregations.t.buckets",
		`[{"doc_count":1,"key":18446744073709551616}]`},
	{`{"size":0,"aggs":{"c":{"composite":{"size":2,"sources":[{"n":{"terms":{"field":"n"}}}],"after":{"n":-9223372036854775808}}}}}`, "aggregations.c",
		`{"after_key":{"n":9223372036854775807},"buckets":[{"doc_count":1,"key":{"n":5}},{"doc_count":1,"key":{"n":9223372036854775807}}]}`},
	{`{"size":0,"aggs":{"c":{"composite":{"size":2,"sources":[{"n":{"terms":{"field":"n"}}}],"after":{"n":9223372036854775807}}}}}`, "aggregations.c",
		`{"buckets":[]}`},
	{`{"size":0,"aggs":{"r":{"range":{"field":"size","keyed":true,"ranges":[{"to":0.0005},{"from":0.0005,"to":1e7},{"from":1e7,"to":12345678.5},{"from":12345678.5}]}}}}`, "aggregations.r.buckets",
		`{"*-5.0E-4":{"doc_count":1,"to":0.0005},"5.0E-4-1.0E7":{"doc_count":0,"from":0.0005,"to":10000000},"1.0E7-1.23456785E7":{"doc_count":1,"from":10000000,"to":12345678.5},"1.23456785E7-*":{"doc_count":1,"from":12345678.5}}`},
	{`{"size":0,"aggs":{"r":{"range":{"field":"size","ranges":[{"from":-0.25,"to":9999999.5}]}}}}`, "aggregations.r.buckets",
		`[{"doc_count":1,"from":-0.25,"key":"-0.25-9999999.5","to":9999999.5}]`},
}

// ends checks how numbers at the ends are written.
func ends(t *testing.T, factory subject) {
	b := newBench(t, factory)
	b.index("one", search.Settings{Types: map[string][]search.Field{"page": {{Path: "n", Kind: search.KindLong}, {Path: "size", Kind: search.KindDouble}}}}, endDocs...)
	for i, c := range endCases {
		b.named(fmt.Sprintf("body %d", i), func(b *bench) { b.body("one", c) })
	}
}
