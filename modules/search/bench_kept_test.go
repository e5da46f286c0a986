package search_test

import (
	"testing"
	"time"
)

// BenchmarkRestart starts a server on the packages and the files of their
// indexes, until the first search is answered.
func BenchmarkRestart(b *testing.B) {
	s, documents := imported(b, b, packageLines(b))
	s.stop()
	var took time.Duration
	for b.Loop() {
		s = assemble(b, s.vars...)
		begin := time.Now()
		s.must(s.app.Start(b.Context()))
		s.must(s.index.RefreshAll(b.Context()))
		took += time.Since(begin)
		s.post("/api/search/search", wrap(`{"size":1}`)).is(200)
		if n := s.index.Stats().Builds; n != 0 {
			b.Fatalf("%d builds", n)
		}
		s.stop()
	}
	b.ReportMetric(float64(took.Microseconds())/float64(b.N)/1000, "searchable-ms")
	b.ReportMetric(float64(documents), "docs")
}
