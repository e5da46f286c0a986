package web_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/telemetry"
	"github.com/quoin-cms/quoin/core/web"
)

func TestEveryKindHasTheWholeForm(t *testing.T) {
	var ops []web.Operation
	for k := problem.Internal; k <= problem.Unsupported; k++ {
		ops = append(ops, fails("/"+k.Name(), func() error {
			return fmt.Errorf("around: %w", problem.Wrap(errors.New("secret"), k, "a sentence").WithCode("finer"))
		}))
	}
	s := serve(t, ops...)
	for k := problem.Internal; k <= problem.Unsupported; k++ {
		f := s.send("GET", "/"+k.Name(), "").problem(t, k.Status())
		if f.Type != "urn:quoin:problem:"+k.Name() || f.Title != k.Title() || f.Detail != "a sentence" || f.Code != "finer" || f.Messages[0] != "a sentence" || f.Message != "a sentence" {
			t.Errorf("%s: %+v", k.Name(), f)
		}
	}
}

func TestFindingsHaveTheirPath(t *testing.T) {
	s := serve(t,
		fails("/one", func() error { return problem.Field(problem.Invalid, "fr.blocks[2].title", "must be a text") }),
		fails("/many", func() error {
			p := problem.New(problem.Unprocessable, "the document breaks its schema")
			p.Fields = []problem.FieldError{{Path: "a", Code: "required", Message: "is missing"}, {Message: "as a whole"}}
			return p
		}))
	f := s.send("GET", "/one", "").problem(t, 400)
	if len(f.Messages) != 1 || f.Messages[0] != "fr.blocks[2].title: must be a text" || f.Fields[0].Path != "fr.blocks[2].title" {
		t.Errorf("%+v", f)
	}
	f = s.send("GET", "/many", "").problem(t, 422)
	if len(f.Messages) != 3 || f.Messages[1] != "a: is missing" || f.Messages[2] != "as a whole" || f.Fields[0].Code != "required" {
		t.Errorf("%+v", f)
	}
}

func TestRetryAfterIsWholeSeconds(t *testing.T) {
	waits := map[string]time.Duration{"1": time.Millisecond, "2": 1001 * time.Millisecond, "60": time.Minute}
	for want, d := range waits {
		s := serve(t, fails("/busy", func() error {
			p := problem.New(problem.TooManyRequests, "slowly")
			p.RetryAfter = d
			return p
		}))
		a := s.send("GET", "/busy", "")
		a.problem(t, 429)
		if got := a.Header.Get("Retry-After"); got != want {
			t.Errorf("%s: Retry-After %q, want %q", d, got, want)
		}
	}
}

func TestFailOutsideOfARouter(t *testing.T) {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	web.Fail(w, r.WithContext(telemetry.WithRequestID(r.Context(), "r1")), problem.New(problem.Unavailable, "starting"))
	result := w.Result()
	result.Header.Set("X-Request-Id", "r1")
	answer{result, w.Body.String()}.problem(t, 503)
}
