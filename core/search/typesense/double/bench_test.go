package double_test

import (
	"fmt"
	"strings"
	"testing"
)

// loaded gives a double with n documents and as many rows.
func loaded(b *testing.B, n int) client {
	c := start(b, false)
	c.create("c", small+`,{"name":"t","type":"string[]","optional":true}`)
	c.create("r", small+`,{"name":"_root","type":"string","facet":true,"reference":"c.id"}`)
	fill(c, n)
	return c
}

func fill(c client, n int) {
	var docs, rows []string
	for i := range n {
		docs = append(docs, fmt.Sprintf(`{"id":"d%d","k_a":["v%d","w%d"],"n_a":[%d],"s":%d,"t":["word%d word%d common"],"_src":"{\"a\":%d}"}`, i, i%100, i, i, i, i%1000, i%7, i))
		rows = append(rows, fmt.Sprintf(`{"id":"d%d/x","_root":"d%d","k_b":["v%d"]}`, i, i, i%50))
	}
	c.load("c", docs...)
	c.load("r", rows...)
}

func BenchmarkImport20000(b *testing.B) {
	b.ReportAllocs()
	c := loaded(b, 0)
	for b.Loop() {
		fill(c, 20000)
	}
}

func BenchmarkSearch20000(b *testing.B) {
	c := loaded(b, 20000)
	for name, params := range map[string]map[string]any{
		"term":   {"filter_by": "k_a:=v5", "per_page": 10},
		"range":  {"filter_by": "n_a:[1000..15000]", "per_page": 10},
		"not":    {"filter_by": "(t:!word3 || k_a:!=v5)", "per_page": 10},
		"join":   {"filter_by": "$r(k_b:=v7)", "per_page": 10},
		"prefix": {"filter_by": "k_a:=w*", "per_page": 10, "max_filter_by_candidates": 100000},
		"sort":   {"sort_by": "s:desc", "per_page": 10},
		"facet":  {"facet_by": "k_a", "facet_strategy": "exhaustive", "max_facet_values": 100, "per_page": 0},
		"ids":    {"filter_by": "id:=[" + strings.Repeat("`d77`,", 10000) + "`d1`]", "per_page": 10},
		"page":   {"filter_by": "", "per_page": 250, "offset": 10000},
		"fuzzy":  {"q": "word77", "query_by": "t", "num_typos": 2, "min_len_1typo": 1, "min_len_2typo": 1, "typo_tokens_threshold": 1000000, "exhaustive_search": true},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.search(params)
			}
		})
	}
}
