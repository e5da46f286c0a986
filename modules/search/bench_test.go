package search_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"
)

var words = strings.Fields("stone wedge press letter forme chase page type ink paper proof galley margin column folio plate roller frame quoin bed")

func sentence(r *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(words[r.IntN(len(words))])
		b.WriteByte(' ')
	}
	return b.String()
}

// library is a server with n documents of about 600 bytes.
func library(b *testing.B, n int) *server {
	b.Helper()
	s := start(b)
	s.contentType("page", "ROLE_USER", "title:TextString", "body:Wysiwyg", "category:Choice", "n:Integer", "date:Date")
	r := rand.New(rand.NewPCG(1, 2))
	for n > 0 {
		var lines strings.Builder
		for range min(n, 5000) {
			fmt.Fprintf(&lines, `{"ouuid":"d%d","data":{"title":"%s","body":"<p>%s</p>","category":"%s","n":%d,"date":"2026-01-%02dT00:00:00+00:00"}}`+"\n",
				n, sentence(r, 6), sentence(r, 60), words[r.IntN(len(words))], n, 1+n%28)
			n--
		}
		a := s.post("/api/data/page/_bulk", lines.String()).is(200)
		if strings.Contains(string(a.body), `"success":false`) {
			b.Fatal(string(a.body[:500]))
		}
	}
	s.must(s.index.RefreshAll(b.Context()))
	return s
}

// BenchmarkRebuild reads 10,000 documents from SQLite into a new index: what a
// start does.
func BenchmarkRebuild(b *testing.B) {
	const n = 10_000
	s := library(b, n)
	b.ReportAllocs()
	b.ResetTimer()
	for b.Loop() {
		s.must(s.index.Rebuild(b.Context()))
	}
	b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "docs/s")
}

// BenchmarkRefresh stores one document over HTTP, with and without waiting for
// the index of 10,000 documents: the difference is what the index costs.
func BenchmarkRefresh(b *testing.B) {
	s := library(b, 10_000)
	for _, query := range []string{"", "?refresh=true"} {
		b.Run("store"+query, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.post("/api/data/page/index/one"+query, `{"title":"stone wedge","body":"press letter","n":1}`).is(200)
			}
		})
		b.Run("16 writers"+query, func(b *testing.B) {
			begin := time.Now()
			b.SetParallelism(8)
			b.RunParallel(func(p *testing.PB) {
				r := rand.New(rand.NewPCG(rand.Uint64(), 0))
				for p.Next() {
					a, err := s.do("admin", http.MethodPost, fmt.Sprintf("/api/data/page/index/d%d%s", 1+r.IntN(10_000), query), `{"title":"stone wedge","body":"press letter","n":1}`)
					if err != nil || a.status != 200 {
						b.Errorf("%v %v", err, a)
						return
					}
				}
			})
			b.ReportMetric(float64(b.N)/time.Since(begin).Seconds(), "writes/s")
			s.must(s.index.RefreshAll(b.Context()))
		})
	}
}

// BenchmarkSearch answers a page of ten hits with a facet over HTTP.
func BenchmarkSearch(b *testing.B) {
	s := library(b, 10_000)
	body := wrap(`{"indices":["quoin_preview"],"query":{"match":{"title":"quoin"}},"aggs":{"c":{"terms":{"field":"category"}}},"size":10}`)
	b.ReportAllocs()
	for b.Loop() {
		s.post("/api/search/search", body).is(200)
	}
}

// BenchmarkScroll reads 10,000 documents over HTTP in pages of 1,000.
func BenchmarkScroll(b *testing.B) {
	const n = 10_000
	s := library(b, n)
	b.ReportAllocs()
	b.ResetTimer()
	for b.Loop() {
		a := s.post("/api/search/init-scroll", strings.TrimSuffix(wrap(`{"indices":["quoin_preview"],"size":1000}`), "}")+`,"expire-time":"1s"}`).is(200)
		next := `{"scroll-id":"` + a.text("_scroll_id") + `","expire-time":"1s"}`
		pages := 0
		for ; !strings.Contains(string(a.body[:min(len(a.body), 300)]), `"hits":[]`); pages++ {
			a = s.post("/api/search/next-scroll", next).is(200)
		}
		if pages != n/1000 {
			b.Fatalf("%d pages", pages)
		}
	}
	b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "docs/s")
}
