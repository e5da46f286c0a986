package webtest_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/telemetry"
	"github.com/quoin-cms/quoin/core/web"
	"github.com/quoin-cms/quoin/core/web/webtest"
)

type named struct {
	Name string `json:"name"`
}

// failures keeps what a test is told.
type failures struct {
	testing.TB
	texts []string
	after []func()
}

func (f *failures) Errorf(format string, args ...any) {
	f.texts = append(f.texts, fmt.Sprintf(format, args...))
}
func (f *failures) Cleanup(fn func()) { f.after = append(f.after, fn) }

func TestAnAnswerThatIsNotInTheDocument(t *testing.T) {
	for name, c := range map[string]struct {
		write func(http.ResponseWriter)
		says  string
	}{
		"right":            {send(200, "application/json", `{"name":"x"}`), ""},
		"not changed":      {send(304, "", ""), ""},
		"another status":   {send(418, "application/json", `{}`), "does not tell of status 418"},
		"another type":     {send(200, "text/plain", `x`), `does not tell of "text/plain"`},
		"no JSON":          {send(200, "application/json", `{`), "says application/json, but"},
		"a missing member": {send(200, "application/json", `{}`), "missing property 'name'"},
		"a member more":    {send(200, "application/json", `{"name":"x","more":1}`), "additional properties 'more' not allowed"},
		"another kind":     {send(200, "application/json", `{"name":1}`), "got number, want string"},
	} {
		t.Run(name, func(t *testing.T) {
			router, err := web.New(web.Options{Log: telemetry.Discard(), Operations: []web.Operation{web.Op(web.Operation{
				ID: "x", Method: "GET", Path: "/api/x/{id}", Also: []string{"/api/old/{id}"}, Public: true, Answers: web.Media{Of: named{}},
			}, func(context.Context, *struct {
				ID string `path:"id"`
			}) (*web.Stream, error) {
				return web.Direct(func(w http.ResponseWriter, _ *http.Request) error { c.write(w); return nil }), nil
			})}})
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range []string{"/api/x/1", "/api/old/1", "/json/x/1"} {
				f := &failures{TB: t}
				webtest.Checked(f, router).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", path, nil))
				got := strings.Join(f.texts, "\n")
				if (c.says == "") != (got == "") || !strings.Contains(got, c.says) {
					t.Errorf("%s: %q, want %q", path, got, c.says)
				}
			}
		})
	}
}

func send(status int, kind, body string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		if kind != "" {
			w.Header().Set("Content-Type", kind)
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

func TestWhatIsNoDocument(t *testing.T) {
	if _, err := webtest.Read([]byte(`[]`)); err == nil {
		t.Error("no error")
	}
}
