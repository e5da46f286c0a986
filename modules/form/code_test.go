package form_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/testkit"
	"github.com/quoin-cms/quoin/modules/form"
)

const codes = "/api/forms/verifications"

type coded struct{ Code string }

func TestCodes(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		var first, same, other coded
		s.want(200, "POST", codes, "site", `{"value":"a@b.c"}`, &first)
		if !regexp.MustCompile(`^\d{6}$`).MatchString(first.Code) || first.Code == "000000" {
			t.Errorf("%+v", first)
		}
		s.clock.Advance(2 * time.Hour)
		s.want(200, "POST", codes, "site", `{"value":"a@b.c"}`, &same)
		s.clock.Advance(2 * time.Hour) // asking has extended it
		s.want(200, "GET", codes+"?value=a%40b.c", "site", "", &other)
		if same != first || other != first {
			t.Errorf("%v %v %v", first, same, other)
		}
		s.clock.Advance(2 * time.Hour)
		s.want(200, "GET", codes+"?value=a%40b.c", "site", "", nil)
		s.clock.Advance(3*time.Hour + time.Second)
		if text := s.want(404, "GET", codes+"?value=a%40b.c", "site", "", nil); !strings.Contains(text, "Not found!") {
			t.Error(text)
		}
		s.want(400, "GET", codes, "site", "", nil)
		s.want(400, "POST", codes, "site", `{}`, nil)
		s.want(400, "POST", codes, "site", `{"value":""}`, nil)
		s.want(400, "POST", codes, "site", `{"value":5}`, nil)
		s.want(400, "POST", codes, "site", `{`, nil)
		s.want(401, "POST", codes, "", `{"value":"x"}`, nil)
	})
}

// A code is checked without being given away, five times.
func TestCheck(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		var c, fresh coded
		s.want(404, "POST", codes+"/check", "site", `{"value":"v","code":"000001"}`, nil)
		s.want(200, "POST", codes, "site", `{"value":"v"}`, &c)
		for i := range 4 {
			if text := s.want(400, "POST", codes+"/check", "site", `{"value":"v","code":"x"}`, nil); !strings.Contains(text, "code_wrong") || !strings.Contains(text, string(rune('4'-i))) {
				t.Error(text)
			}
		}
		s.want(200, "POST", codes+"/check", "site", `{"value":"v","code":"`+c.Code+`"}`, nil)
		s.want(404, "POST", codes+"/check", "site", `{"value":"v","code":"`+c.Code+`"}`, nil)
		s.want(200, "POST", codes, "site", `{"value":"v"}`, &c)
		for range 5 {
			s.want(400, "POST", codes+"/check", "site", `{"value":"v","code":"x"}`, nil)
		}
		s.want(429, "POST", codes+"/check", "site", `{"value":"v","code":"`+c.Code+`"}`, nil)
		s.want(404, "GET", codes+"?value=v", "site", "", nil)
		s.want(200, "POST", codes, "site", `{"value":"v"}`, &fresh)
		s.want(200, "POST", codes+"/check", "site", `{"value":"v","code":"`+fresh.Code+`"}`, nil)
	})
}

// Whoever asks for the code of a value at the same moment is given the same one,
// also when it is the first.
func TestTheFirstRequestsForACode(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		const together = 6
		for i := range 30 {
			value := fmt.Sprintf("v%d", i)
			given := make([]string, together)
			var all sync.WaitGroup
			begin := make(chan struct{})
			for n := range together {
				all.Go(func() {
					<-begin
					var err error
					if given[n], err = s.Verification(auth.With(t.Context(), users()["site"]), value); err != nil {
						t.Error(err)
					}
				})
			}
			close(begin)
			all.Wait()
			if len(slices.Compact(given)) != 1 {
				t.Fatalf("%s: %v", value, given)
			}
		}
	})
}

// Fifty guesses at once get no more tries than five.
func TestGuessesInParallel(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		s.want(200, "POST", codes, "site", `{"value":"v"}`, nil)
		var wrong, locked atomic.Int64
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				status, text := 503, ""
				for status == 503 { // on a busy machine not all get a connection to the database in time
					status, text = s.do("POST", codes+"/check", "site", `{"value":"v","code":"x"}`)
				}
				switch status {
				case 400:
					wrong.Add(1)
				case 429:
					locked.Add(1)
				default:
					t.Error(text)
				}
			})
		}
		all.Wait()
		if wrong.Load() != 5 || locked.Load() != 45 {
			t.Errorf("%d tries, %d refused", wrong.Load(), locked.Load())
		}
	})
}

func TestHashedCodes(t *testing.T) {
	s := serve(t, func(c *form.Config) { c.DiscloseCodes = false })
	var c, again coded
	s.want(200, "POST", codes, "site", `{"value":"v"}`, &c)
	var value, stored string
	if err := s.db.Row(t.Context(), db.SQL("SELECT value, code FROM form_verification")).Scan(&value, &stored); err != nil || len(stored) != 64 || len(value) != 64 {
		t.Errorf("%q %q %v", value, stored, err)
	}
	s.want(403, "GET", codes+"?value=v", "site", "", nil)
	s.want(200, "POST", codes, "site", `{"value":"v"}`, &again)
	if c.Code != again.Code {
		s.want(400, "POST", codes+"/check", "site", `{"value":"v","code":"`+c.Code+`"}`, nil)
	}
	s.want(200, "POST", codes+"/check", "site", `{"value":"v","code":"`+again.Code+`"}`, nil)
}

func TestTooManyCodes(t *testing.T) {
	s := serve(t, func(c *form.Config) { c.CodeRequests, c.AddressRequests = 3, 5 })
	for range 3 {
		s.want(200, "POST", codes, "site", `{"value":"v"}`, nil)
	}
	s.want(429, "POST", codes, "site", `{"value":"v"}`, nil)
	s.want(200, "POST", codes, "site", `{"value":"w1"}`, nil)
	s.want(200, "POST", codes, "site", `{"value":"w2"}`, nil)
	s.want(429, "POST", codes, "site", `{"value":"w3"}`, nil)
	s.clock.Advance(2 * time.Minute)
	s.want(200, "POST", codes, "site", `{"value":"v"}`, nil)
}

// A crash between the bytes and the row leaves bytes that are collected.
func TestCrashBetweenBytesAndRow(t *testing.T) {
	s := serve(t, nil)
	s.submit("f", `{}`, with("a.txt", "aGVsbG8=", "5"))
	if _, err := s.db.Exec(t.Context(), db.SQL("INSERT INTO form_trash (key, created_at) VALUES ('form-lost', ?)"), -db.Micros(s.clock.Now())); err != nil {
		t.Fatal(err)
	}
	if err := s.blobs.Put(t.Context(), "form-lost", strings.NewReader("x"), 1); err != nil {
		t.Fatal(err)
	}
	if err := s.Trash(t.Context()); err != nil || s.blobsLeft() != 2 {
		t.Errorf("%v, %d blobs: the submission may still come", err, s.blobsLeft())
	}
	s.clock.Advance(2 * time.Hour)
	if err := s.Trash(t.Context()); err != nil || s.blobsLeft() != 1 || s.rows("form_trash") != 0 {
		t.Errorf("%v, %d blobs", err, s.blobsLeft())
	}
}

// While MinIO is away nothing is half stored.
func TestStorageAway(t *testing.T) {
	m := testkit.StartMinIO(t)
	s := serveOn(t, open(t, db.Config{Path: t.TempDir() + "/quoin.db"}), bucket(t, m.URL()), nil)
	one := s.submit("f", `{}`, `,"expire_date":"2026-05-05"`+with("a.txt", "aGVsbG8=", "5"))
	m.Kill()
	body := `{"form_name":"f","instance":"i","locale":"l","data":{}` + with("a.txt", "aGVsbG8=", "5") + `}`
	s.want(503, "POST", base, "site", body, nil)
	if n := s.rows("form_submission"); n != 1 {
		t.Errorf("%d submissions", n)
	}
	s.clock.Advance(48 * time.Hour)
	if got, err := s.Expire(t.Context()); err == nil || got.Submissions != 1 {
		t.Errorf("%+v %v", got, err)
	}
	s.want(404, "GET", base+"/"+one.ID, "site", "", nil)
	m.Start(t)
	if err := s.Trash(t.Context()); err != nil || s.blobsLeft() != 0 || s.rows("form_trash") != 0 {
		t.Errorf("%v, %d blobs", err, s.blobsLeft())
	}
}
