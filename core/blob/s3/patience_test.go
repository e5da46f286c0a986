package s3_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/blob"
	"github.com/quoin-cms/quoin/core/blob/s3"
)

// TestAServerThatHangs is about one that takes connections and says nothing, or
// not enough: nothing must wait for ever, and whoever asked must not be blamed.
func TestAServerThatHangs(t *testing.T) {
	const key = "05ba86d21a4517ad9dcdfb1ddc8831fe525ceb30"
	for _, c := range []struct {
		name  string
		hangs func(w http.ResponseWriter, over chan struct{})
		ask   func(t *testing.T, s *s3.Store) error
	}{
		{
			"before the answer",
			func(_ http.ResponseWriter, over chan struct{}) { <-over },
			func(t *testing.T, s *s3.Store) error {
				_, err := s.Stat(t.Context(), key)
				return err
			},
		},
		{
			"in the answer",
			func(w http.ResponseWriter, over chan struct{}) {
				w.Header().Set("Content-Length", "100")
				w.Header().Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
				_, _ = io.WriteString(w, "half of it")
				_ = http.NewResponseController(w).Flush()
				<-over
			},
			func(t *testing.T, s *s3.Store) error {
				r, err := s.Get(t.Context(), key, 0, -1)
				if err != nil {
					return err
				}
				got, err := io.ReadAll(r)
				if string(got) != "half of it" {
					t.Errorf("read %q", got)
				}
				return errors.Join(err, r.Close())
			},
		},
		{
			"before it has taken the body",
			func(_ http.ResponseWriter, over chan struct{}) { <-over },
			func(t *testing.T, s *s3.Store) error {
				const size = 64 << 20 // more than any buffer on the way
				_, err := s.Append(t.Context(), "stage", 0, io.LimitReader(zeros{}, size), size, true)
				return err
			},
		},
		{
			"behind the body",
			func(_ http.ResponseWriter, over chan struct{}) { <-over },
			func(t *testing.T, s *s3.Store) error {
				_, err := s.Append(t.Context(), "stage", 0, strings.NewReader("x"), 1, true)
				return err
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			over := make(chan struct{})
			var asked atomic.Bool
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				asked.Store(true)
				c.hangs(w, over)
			}))
			t.Cleanup(server.Close)
			t.Cleanup(func() { close(over) })
			s, err := s3.OpenImpatient(s3.Config{Endpoint: strings.TrimPrefix(server.URL, "http://"), Bucket: "bucket", Key: "key", Secret: "secret", Region: "x"}, time.Second)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.ask(t, s); !errors.Is(err, blob.ErrUnavailable) || !asked.Load() {
				t.Errorf("asked %v: %v", asked.Load(), err)
			}
		})
	}
}

// zeros has no end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
