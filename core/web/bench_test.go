package web_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/quoin-cms/quoin/core/web"
)

// sink is a connection that costs nothing.
type sink struct{ header http.Header }

func (s *sink) Header() http.Header         { return s.header }
func (s *sink) Write(b []byte) (int, error) { return len(b), nil }
func (s *sink) WriteHeader(int)             {}

func bench(b *testing.B, h http.Handler) {
	r, err := http.NewRequestWithContext(b.Context(), "GET", "/api/data/page/0a1b2c3d", http.NoBody)
	if err != nil {
		b.Fatal(err)
	}
	r.RemoteAddr = "127.0.0.1:5555"
	r.Header.Set("X-Auth-Token", "api")
	b.ReportAllocs()
	for b.Loop() {
		h.ServeHTTP(&sink{header: http.Header{}}, r)
	}
}

// BenchmarkOperation is a request through everything: id, log line (not
// written), token, roles, parameters, answer of ready bytes.
func BenchmarkOperation(b *testing.B) {
	body := []byte(`{"success":true}`)
	router, err := web.New(web.Options{Log: discard(), Authenticator: people(), Operations: []web.Operation{
		web.Op(web.Operation{ID: "get", Method: "GET", Path: "/api/data/{type}/{ouuid}"}, func(_ context.Context, _ *struct {
			Type  string `path:"type"`
			OUUID string `path:"ouuid"`
		}) (*web.Raw, error) {
			return &web.Raw{ContentType: "application/json", ETag: `"1"`, Body: body}, nil
		}),
	}})
	if err != nil {
		b.Fatal(err)
	}
	bench(b, router)
}

// BenchmarkBareHandler is what net/http alone costs for the same answer.
func BenchmarkBareHandler(b *testing.B) {
	body := []byte(`{"success":true}`)
	mux := http.NewServeMux()
	who := people()
	mux.HandleFunc("GET /api/data/{type}/{ouuid}", func(w http.ResponseWriter, r *http.Request) {
		if _, err := who.Authenticate(r.Context(), r.Header.Get("X-Auth-Token")); err != nil {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("ETag", `"1"`)
		_, _ = w.Write(body)
	})
	bench(b, mux)
}
