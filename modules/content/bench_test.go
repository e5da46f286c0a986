package content_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/modules/content"
)

// benchType and benchDocument are a news item of usual size (1.4 KB).
var benchType = export(`{"name":"news","environment":"preview","usage":{"label":"title"},"fields":[
	{"name":"title","type":"text","required":true},{"name":"date","type":"date","format":"yyyy-MM-dd"},{"name":"rank","type":"integer"},
	{"name":"category","type":"choice","choices":["a","b","c"]},{"name":"tags","type":"choice","multiple":true},
	{"name":"locales","type":"multiplexed","values":["en","fr"],"fields":[{"name":"title","type":"text"},{"name":"body","type":"wysiwyg"}]},
	{"name":"blocks","type":"collection","fields":[{"name":"kind","type":"text"},{"name":"text","type":"text"}]}]}`)

func benchDocument(n int) []byte {
	words := strings.Repeat("the cornerstone of a house and the wedge that locks pages ", 8)
	return fmt.Appendf(nil, `{"title":"News %d","date":"2026-05-04","rank":%d,"category":"b","tags":["one","two","three"],`+
		`"en":{"title":"News \u00e9 %d","body":"<p>%s<\/p>"},"fr":{"title":"Nouvelles é %d","body":"<p>%s</p>"},`+
		`"blocks":[{"kind":"quote","text":"a"},{"kind":"image","text":"b"},{"kind":"link","text":"c"}]}`, n, n, n, words, n, words)
}

func author(ctx context.Context) context.Context {
	return auth.With(ctx, auth.New(auth.Identity{Username: "author", Granted: []string{auth.RolePublisher, auth.RoleAPI}}))
}

// clients is how many requests are under way at a time.
func clients(b *testing.B) {
	b.SetParallelism(8) // times two processors
	b.ReportAllocs()
	b.ResetTimer()
}

func benchServer(b *testing.B) *server {
	s := serve(b, nil)
	s.put("content-type", benchType)
	s.events()
	return s
}

// seed stores documents and gives their ouuids.
func (s *server) seed(b *testing.B, n int) []string {
	ids := make([]string, n)
	var lines bytes.Buffer
	for i := range ids {
		ids[i] = fmt.Sprintf("01990000-0000-7000-8000-%012x", i)
		fmt.Fprintf(&lines, `{"ouuid":"%s","data":%s}`+"\n", ids[i], benchDocument(i))
	}
	s.call("publisher", http.MethodPost, "/api/data/news/_bulk", lines.Bytes()).is(200)
	if n := s.count("SELECT count(*) FROM content_publication"); n != len(ids) {
		b.Fatalf("%d documents", n)
	}
	return ids
}

func BenchmarkAnswer(b *testing.B) {
	s := benchServer(b)
	ids := s.seed(b, 1)
	d, err := s.Service.Get(author(b.Context()), "news", ids[0])
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.SetBytes(int64(len(d.Raw)))
	for b.Loop() {
		if len(d.Answer()) < len(d.Raw) {
			b.Fatal("short")
		}
	}
}

func BenchmarkSeal(b *testing.B) {
	s, doc := benchServer(b), benchDocument(1)
	ctx := author(b.Context())
	b.ReportAllocs()
	b.SetBytes(int64(len(doc)))
	for b.Loop() {
		if _, err := s.Seal(ctx, make([]byte, 0, len(doc)+256), "news", doc); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkMergePath is the work of an update before the database: checking
// the body and merging it into what is stored.
func BenchmarkMergePath(b *testing.B) {
	s, doc := benchServer(b), benchDocument(1)
	ctx := author(b.Context())
	stored, err := s.Seal(ctx, nil, "news", doc)
	if err != nil {
		b.Fatal(err)
	}
	patch := []byte(`{"title":"Another","rank":7,"en":{"title":"x","body":"y"}}`)
	b.ReportAllocs()
	b.SetBytes(int64(len(stored) + len(patch)))
	for b.Loop() {
		if _, err := s.Compose(ctx, "news", stored, patch); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkIndex creates documents on SQLite with group commit, sixteen at a
// time, without HTTP.
func BenchmarkIndex(b *testing.B) {
	s, doc := benchServer(b), benchDocument(1)
	ctx := author(b.Context())
	clients(b)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if o, err := s.Service.Index(ctx, content.Write{Type: "news", Raw: doc}); err != nil || !o.Ok() {
				b.Error(err, o)
			}
		}
	})
}

// BenchmarkUpdate changes one of 1,000 documents, sixteen at a time.
func BenchmarkUpdate(b *testing.B) {
	s := benchServer(b)
	ids := s.seed(b, 1000)
	ctx := author(b.Context())
	var n atomic.Int64
	clients(b)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			i := n.Add(1)
			o, err := s.Service.Index(ctx, content.Write{Type: "news", OUUID: ids[i%1000], Raw: fmt.Appendf(nil, `{"rank":%d}`, i), Merge: true})
			if err != nil || !o.Ok() {
				b.Error(err, o)
			}
		}
	})
}

// BenchmarkGet reads one of 1,000 documents, sixteen at a time.
func BenchmarkGet(b *testing.B) {
	s := benchServer(b)
	ids := s.seed(b, 1000)
	ctx := author(b.Context())
	var n atomic.Int64
	clients(b)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			d, err := s.Service.Get(ctx, "news", ids[n.Add(1)%1000])
			if err != nil {
				b.Error(err)
				return
			}
			d.Answer()
		}
	})
}

// sink is an answer that nobody reads.
type sink struct {
	header http.Header
	status int
}

func (w *sink) Header() http.Header         { return w.header }
func (w *sink) Write(p []byte) (int, error) { return len(p), nil }
func (w *sink) WriteHeader(status int)      { w.status = status }

// through sends a request through the whole HTTP layer, without a network.
func (s *server) through(b *testing.B, method, path string, body []byte) {
	r := httptest.NewRequest(method, path, io.NopCloser(bytes.NewReader(body)))
	r.ContentLength = int64(len(body))
	r.Header.Set("X-Auth-Token", "publisher")
	r.Header.Set("Content-Type", "application/json")
	w := &sink{header: http.Header{}}
	s.handler.ServeHTTP(w, r)
	if w.status != 200 {
		b.Errorf("status %d", w.status)
	}
}

func BenchmarkGetThroughHTTP(b *testing.B) {
	s := benchServer(b)
	ids := s.seed(b, 1000)
	var n atomic.Int64
	clients(b)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			s.through(b, http.MethodGet, "/api/data/news/"+ids[n.Add(1)%1000], nil)
		}
	})
}

func BenchmarkIndexThroughHTTP(b *testing.B) {
	s, doc := benchServer(b), benchDocument(1)
	clients(b)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			s.through(b, http.MethodPost, "/api/data/news/index", doc)
		}
	})
}
