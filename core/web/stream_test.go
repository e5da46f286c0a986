package web_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/quoin-cms/quoin/core/web"
)

func TestStreamingBothWays(t *testing.T) {
	s := serve(t, web.Op(web.Operation{ID: "echo", Method: "POST", Path: "/api/echo", MaxBody: -1},
		func(context.Context, *web.None) (*web.Stream, error) {
			return web.Streaming("application/x-ndjson", func(_ context.Context, r io.Reader, w io.Writer, flush func()) {
				for lines := bufio.NewScanner(r); lines.Scan(); {
					_, _ = io.WriteString(w, "got "+lines.Text()+"\n")
					flush()
				}
			}), nil
		}))
	body, pipe := io.Pipe()
	req, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+"/api/echo", body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Auth-Token", "api")
	go func() { _, _ = io.WriteString(pipe, "one\n") }()
	resp, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "application/x-ndjson" {
		t.Errorf("%d %v", resp.StatusCode, resp.Header)
	}
	answers := bufio.NewReader(resp.Body)
	for _, line := range []string{"one", "two", "three"} {
		if line != "one" { // each is only sent once the one before is answered
			_, _ = io.WriteString(pipe, line+"\n")
		}
		if got, err := answers.ReadString('\n'); err != nil || got != "got "+line+"\n" {
			t.Fatalf("%q %v", got, err)
		}
	}
	_ = pipe.Close()
	if rest, err := io.ReadAll(answers); len(rest) > 0 || err != nil {
		t.Errorf("%q %v", rest, err)
	}
}

// TestHalfAnAnswerIsCutOff: nobody takes what was written before an error, or a
// panic, for the whole.
func TestHalfAnAnswerIsCutOff(t *testing.T) {
	for name, end := range map[string]func() error{
		"whole": func() error { return nil },
		"error": func() error { return errors.New("the database is gone") },
		"panic": func() error { panic("at the disco") },
	} {
		s := serve(t, web.Op(web.Operation{ID: "table", Method: "GET", Path: "/table", Public: true}, func(context.Context, *web.None) (*web.Stream, error) {
			return web.Direct(func(w http.ResponseWriter, _ *http.Request) error {
				_, err := io.WriteString(w, "one\n")
				if err = errors.Join(err, http.NewResponseController(w).Flush()); err != nil {
					t.Error(err)
				}
				return end()
			}), nil
		}))
		status, body, err := s.begun("/table")
		if whole := name == "whole"; status != 200 || whole != (err == nil) || whole && body != "one\n" {
			t.Errorf("%s: %d %q %v", name, status, body, err)
		}
		if lines := s.lines(); len(lines) != 1 || (lines[0]["error"] == nil) != (name == "whole") {
			t.Errorf("%s: %s", name, s.log)
		}
	}
}

// sender is a connection that sends files by itself.
type sender struct {
	*httptest.ResponseRecorder
	sent int64
}

func (s *sender) ReadFrom(r io.Reader) (int64, error) {
	if _, isFile := r.(syscall.Conn); !isFile {
		return 0, io.ErrUnexpectedEOF
	}
	n, err := io.Copy(io.Discard, r)
	s.sent += n
	return n, err
}

func TestFilesAreStillSentByTheKernel(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte(strings.Repeat("x", 100_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	router, err := web.New(web.Options{Log: discard(), Operations: []web.Operation{
		web.Op(web.Operation{ID: "file", Method: "GET", Path: "/file", Public: true}, func(context.Context, *web.None) (*web.Stream, error) {
			return web.Streaming("text/plain", func(_ context.Context, _ io.Reader, w io.Writer, _ func()) {
				f, err := os.Open(name)
				if err != nil {
					t.Error(err)
					return
				}
				defer func() { _ = f.Close() }()
				if _, err := io.Copy(w, f); err != nil {
					t.Error(err)
				}
			}), nil
		}),
	}})
	if err != nil {
		t.Fatal(err)
	}
	w := &sender{ResponseRecorder: httptest.NewRecorder()}
	router.ServeHTTP(w, httptest.NewRequest("GET", "/file", nil))
	if w.sent != 100_000 {
		t.Errorf("%d bytes went past the answer's own buffer", w.sent)
	}
}
