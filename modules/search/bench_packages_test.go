package search_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/rawjson"
)

// packageLines gives the lines of a bulk import per content type: all Debian
// packages, to each a date, a field "rank" that is a number in packages and a
// string in libraries, and one to four nested parts, each with up to two nested
// marks. What is added depends on the identifier alone.
func packageLines(b *testing.B) map[string]*bytes.Buffer {
	b.Helper()
	dir := os.Getenv("QUOIN_TEST_DATA")
	if dir == "" {
		b.Skip("NOT MEASURED: QUOIN_TEST_DATA names no folder of sample data")
	}
	f, err := os.Open(filepath.Join(dir, "debian-packages.ndjson.gz"))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		b.Fatal(err)
	}
	out := map[string]*bytes.Buffer{"package": {}, "library": {}}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		id, _ := rawjson.Get(lines.Bytes(), "ouuid")
		section, _ := rawjson.Get(lines.Bytes(), "section")
		hash := fnv.New64a()
		_, _ = hash.Write(id)
		r := rand.New(rand.NewPCG(hash.Sum64(), 1))
		typ, rank := "package", fmt.Sprint(r.IntN(1000))
		if strings.HasPrefix(string(section), `"lib`) {
			typ, rank = "library", `"r`+rank+`"`
		}
		date := time.Date(2015, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(r.IntN(10*365*24*60)) * time.Minute)
		_, rest, _ := bytes.Cut(bytes.TrimSuffix(lines.Bytes(), []byte("}")), []byte(","))
		fmt.Fprintf(out[typ], `{"ouuid":%s,"data":{%s,"date":"%s","rank":%s,"parts":[%s]}}`+"\n",
			id, rest, date.Format("2006-01-02T15:04:05-07:00"), rank, partsOf(r))
	}
	return out
}

func partsOf(r *rand.Rand) string {
	var parts []string
	for range 1 + r.IntN(4) {
		var marks []string
		for range r.IntN(3) {
			marks = append(marks, fmt.Sprintf(`{"label":"label%d","score":%d}`, r.IntN(40), r.IntN(10)))
		}
		parts = append(parts, fmt.Sprintf(`{"name":"part%d","weight":%d,"marks":[%s]}`, r.IntN(60), r.IntN(100), strings.Join(marks, ",")))
	}
	return strings.Join(parts, ",")
}

// packageTypes stores the two content types.
func packageTypes(s *server) {
	field := func(name, class, mapping string, children ...string) string {
		return fmt.Sprintf(`{"class":"EMS\\CoreBundle\\Entity\\FieldType","arguments":[],"properties":{"type":"EMS\\CoreBundle\\Form\\DataField\\%sFieldType","name":"%s","options":{"mappingOptions":%s},"children":[%s]},"replaced":[]}`,
			class, name, mapping, strings.Join(children, ","))
	}
	const keyword = `{"type":"keyword"}`
	for typ, rank := range map[string]string{"package": field("rank", "Integer", "{}"), "library": field("rank", "TextString", keyword)} {
		var fields []string
		for _, name := range []string{"package", "version", "source", "section", "priority", "architecture", "homepage"} {
			fields = append(fields, field(name, "TextString", keyword))
		}
		for _, name := range []string{"tags", "depends"} {
			fields = append(fields, strings.Replace(field(name, "Choice", keyword), `"options":{`, `"options":{"displayOptions":{"multiple":true},`, 1))
		}
		fields = append(fields, rank, field("multi_arch", "Checkbox", "{}"),
			field("summary", "TextString", `{"analyzer":"standard"}`), field("date", "DateTime", "{}"),
			field("size", "Integer", "{}"), field("installed_size", "Integer", "{}"),
			field("parts", "Collection", "{}", field("name", "TextString", keyword), field("weight", "Integer", "{}"),
				field("marks", "Collection", "{}", field("label", "TextString", keyword), field("score", "Integer", "{}"))))
		s.post("/api/admin/content-type/"+typ, `{"class":"EMS\\CoreBundle\\Entity\\ContentType","arguments":[],"properties":{"name":"`+typ+
			`","singularName":"`+typ+`","pluralName":"`+typ+`","environment":"preview","roles":{"view":"ROLE_USER"},"fieldType":`+
			field("source", "Container", "{}", fields...)+`},"replaced":[]}`).is(200)
	}
}

// packageQueries are the typical queries.
var packageQueries = []struct{ name, object string }{
	{"TextFilterThreeFacets", `"query":{"bool":{"must":{"match":{"summary":"library development files"}},"filter":{"term":{"priority":"optional"}}}},"aggs":{"s":{"terms":{"field":"section"}},"p":{"terms":{"field":"priority"}},"t":{"terms":{"field":"tags"}}}`},
	{"NestedTwoConditions", `"query":{"nested":{"path":"parts","query":{"bool":{"must":[{"term":{"parts.name":"part7"}},{"range":{"parts.weight":{"gte":50}}}]}}}}`},
	{"Prefix", `"query":{"prefix":{"package":"libx"}}`},
	{"WildcardInFront", `"query":{"wildcard":{"package":"*-dev"}}`},
	{"WildcardInside", `"query":{"wildcard":{"package":"*o?t*n*"}}`},
	{"Regexp", `"query":{"regexp":{"package":"python3-[a-c].*"}}`},
	{"RegexpInFront", `"query":{"regexp":{"package":".*(perl|ruby)[0-9.]*-(doc|dev)"}}`},
	{"Fuzzy", `"query":{"match":{"summary":{"query":"librery editer","fuzziness":"AUTO"}}}`},
	{"Phrase", `"query":{"match_phrase":{"summary":"development files for"}}`},
	{"SortTwoKeys", `"sort":[{"section":"asc"},{"size":"desc"}]`},
	{"PageAt10000SortTwoKeys", `"from":10000,"sort":[{"section":"asc"},{"size":"desc"}]`},
	{"TermsAvgAndDateHistogram", `"size":0,"aggs":{"s":{"terms":{"field":"section"},"aggs":{"a":{"avg":{"field":"size"}}}},"h":{"date_histogram":{"field":"date","calendar_interval":"month"}}}`},
	{"NestedTermsReverse", `"size":0,"query":{"term":{"section":"python"}},"aggs":{"n":{"nested":{"path":"parts"},"aggs":{"t":{"terms":{"field":"parts.name"},"aggs":{"w":{"avg":{"field":"parts.weight"}},"r":{"reverse_nested":{},"aggs":{"s":{"terms":{"field":"architecture"}}}}}}}}}`},
	{"CompositeAllSections", `"size":0,"aggs":{"c":{"composite":{"size":100,"sources":[{"s":{"terms":{"field":"section"}}},{"d":{"date_histogram":{"field":"date","calendar_interval":"year"}}}]}}}`},
	{"TermsTopHits", `"size":0,"query":{"match":{"summary":"library"}},"aggs":{"s":{"terms":{"field":"section"},"aggs":{"h":{"top_hits":{"size":1,"_source":["package"]}}}}}`},
}

// BenchmarkPackages imports the packages over HTTP and answers typical queries
// over all of them, with the time of the median and of the slowest hundredth.
func BenchmarkPackages(b *testing.B) {
	lines, outer := packageLines(b), b
	var s *server
	documents := 0
	b.Run("Import", func(b *testing.B) {
		for b.Loop() {
			s, documents = imported(b, outer, lines)
		}
	})
	if s == nil {
		b.Fatal("nothing was imported")
	}
	const head = `{"indices":["quoin_preview"],`
	for _, q := range packageQueries {
		b.Run(q.name, func(b *testing.B) {
			s.TB = b
			percentiles(b, func() { s.post("/api/search/search", wrap(head+q.object+"}")).is(200) })
		})
	}
	b.Run("CountBool", func(b *testing.B) {
		s.TB = b
		body := wrap(head + `"query":{"bool":{"must":[{"term":{"section":"python"}}],"must_not":[{"term":{"architecture":"all"}}]}}}`)
		percentiles(b, func() { s.post("/api/search/count", body).is(200) })
	})
	b.Run("ScrollEverything", func(b *testing.B) {
		s.TB = b
		for b.Loop() {
			a := s.post("/api/search/init-scroll", strings.TrimSuffix(wrap(head+`"size":1000}`), "}")+`,"expire-time":"10s"}`).is(200)
			next := `{"scroll-id":"` + a.text("_scroll_id") + `","expire-time":"10s"}`
			for !bytes.Contains(a.body[:min(len(a.body), 300)], []byte(`"hits":[]`)) {
				a = s.post("/api/search/next-scroll", next).is(200)
			}
		}
		b.ReportMetric(float64(documents*b.N)/b.Elapsed().Seconds(), "docs/s")
	})
	b.Run("ReadersAndWriters", func(b *testing.B) {
		s.TB = b
		mixed(b, s, wrap(head+packageQueries[0].object+"}"))
	})
	for _, query := range []string{"", "?refresh=true"} {
		b.Run("Create16Writers"+query, func(b *testing.B) {
			s.TB = b
			creating(b, s, query)
		})
	}
}

// imported is a server with all packages, which are searchable. It lives as
// long as outer.
func imported(b, outer *testing.B, lines map[string]*bytes.Buffer) (s *server, documents int) {
	b.StopTimer()
	before := heapBytes()
	data := outer.TempDir()
	s = start(outer, "QUOIN_SERVER__DATA="+data)
	s.TB = b
	packageTypes(s)
	b.StartTimer()
	begin, bulk := time.Now(), time.Duration(0)
	for typ, text := range lines {
		documents += bytes.Count(text.Bytes(), []byte("\n"))
		a := s.post("/api/data/"+typ+"/_bulk", text.String()).is(200)
		if i := bytes.Index(a.body, []byte(`"success":false`)); i >= 0 {
			b.Fatal(string(a.body[i:min(len(a.body), i+500)]))
		}
	}
	bulk = time.Since(begin)
	s.must(s.index.RefreshAll(b.Context()))
	b.ReportMetric(float64(documents)/time.Since(begin).Seconds(), "docs/s")
	b.ReportMetric((time.Since(begin) - bulk).Seconds(), "s-refresh-behind")
	b.StopTimer()
	b.ReportMetric(float64(heapBytes()-before)/float64(documents), "heap-B/doc")
	for part, size := range sizes(b, data) {
		b.ReportMetric(float64(size)/float64(documents), part+"-B/doc")
	}
	b.StartTimer()
	return s, documents
}

// sizes gives the bytes of files under a folder: those of the index, and the
// others.
func sizes(b *testing.B, dir string) map[string]int64 {
	out := map[string]int64{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) { // it was there for a moment
			return nil
		}
		if err != nil {
			return err
		}
		if part := "database"; strings.Contains(path[len(dir):], "search") {
			out["index"] += info.Size()
		} else {
			out[part] += info.Size()
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return out
}

func heapBytes() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// percentiles measures every call of f, after some to warm up.
func percentiles(b *testing.B, f func()) {
	for range 5 {
		f()
	}
	b.ReportAllocs()
	b.ResetTimer()
	var times []time.Duration
	for b.Loop() {
		begin := time.Now()
		f()
		times = append(times, time.Since(begin))
	}
	report(b, "", times)
}

func report(b *testing.B, prefix string, times []time.Duration) {
	if len(times) == 0 {
		return
	}
	slices.Sort(times)
	ms := func(i int) float64 { return float64(times[i].Microseconds()) / 1000 }
	b.ReportMetric(ms(len(times)/2), prefix+"p50-ms")
	b.ReportMetric(ms(len(times)*99/100), prefix+"p99-ms")
}

// readers runs n readers until done and gives the times of their requests.
func readers(b *testing.B, s *server, n int, body string, done <-chan struct{}) []time.Duration {
	var mu sync.Mutex
	var all []time.Duration
	var group sync.WaitGroup
	for range n {
		group.Go(func() {
			var times []time.Duration
			for {
				select {
				case <-done:
					mu.Lock()
					all = append(all, times...)
					mu.Unlock()
					return
				default:
				}
				begin := time.Now()
				a, err := s.do("admin", http.MethodPost, "/api/search/search", body)
				if err != nil || a.status != 200 {
					b.Errorf("%v %v", err, a)
					return
				}
				times = append(times, time.Since(begin))
			}
		})
	}
	group.Wait()
	return all
}

// mixed measures two readers alone, then beside two writers who replace
// documents.
func mixed(b *testing.B, s *server, body string) {
	const span = 3 * time.Second
	for b.Loop() {
		alone := make(chan struct{})
		time.AfterFunc(span, func() { close(alone) })
		report(b, "alone-", readers(b, s, 2, body, alone))
		done := make(chan struct{})
		time.AfterFunc(span, func() { close(done) })
		var writers sync.WaitGroup
		var writes [2]int
		for w := range writes {
			writers.Go(func() {
				for {
					select {
					case <-done:
						return
					default:
					}
					path := fmt.Sprintf("/api/data/package/index/bench-%d", writes[w]%500+w*500)
					a, err := s.do("admin", http.MethodPost, path, createBody)
					if err != nil || a.status != 200 {
						b.Errorf("%v %v", err, a)
						return
					}
					writes[w]++
				}
			})
		}
		report(b, "beside-", readers(b, s, 2, body, done))
		writers.Wait()
		b.ReportMetric(float64(writes[0]+writes[1])/span.Seconds(), "writes/s")
	}
}

const createBody = `{"package":"bench","section":"misc","priority":"optional","architecture":"all","summary":"library development files for the bench","size":1,"tags":["a","b"],"date":"2024-05-06T07:08:09+00:00","parts":[{"name":"part7","weight":60}]}`

// creating stores new documents with 16 writers.
func creating(b *testing.B, s *server, query string) {
	begin := time.Now()
	b.SetParallelism(max(16/runtime.GOMAXPROCS(0), 1))
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			a, err := s.do("admin", http.MethodPost, "/api/data/package/create"+query, createBody)
			if err != nil || a.status != 200 && a.status != 201 {
				b.Errorf("%v %v", err, a)
				return
			}
		}
	})
	b.ReportMetric(float64(b.N)/time.Since(begin).Seconds(), "writes/s")
	s.must(s.index.RefreshAll(b.Context()))
}
