package testkit_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/testkit"
)

// recorder stands in for the test that is told to fail or skip.
type recorder struct {
	testing.TB
	outcome string
}

type stopped struct{}

func (r *recorder) Helper()                        {}
func (r *recorder) Errorf(format string, a ...any) { r.outcome = "error: " + fmt.Sprintf(format, a...) }
func (r *recorder) Fatalf(format string, a ...any) { r.stop("fatal: " + fmt.Sprintf(format, a...)) }
func (r *recorder) Skipf(format string, a ...any)  { r.stop("skip: " + fmt.Sprintf(format, a...)) }
func (r *recorder) stop(outcome string)            { r.outcome = outcome; panic(stopped{}) }

// outcome runs fn with a recorder and gives what it told the test.
func outcome(fn func(testing.TB)) string {
	r := &recorder{}
	func() {
		defer func() {
			if cause := recover(); cause != nil && cause != any(stopped{}) {
				panic(cause)
			}
		}()
		fn(r)
	}()
	return r.outcome
}

func TestMissingServicesAreLoud(t *testing.T) {
	t.Setenv("QUOIN_TEST_DATA", "")
	data := func(t testing.TB) { testkit.Data(t) }
	t.Setenv("QUOIN_TEST_REQUIRE_SERVICES", "")
	if got := outcome(data); !strings.HasPrefix(got, "skip: SKIPPED: QUOIN_TEST_DATA") {
		t.Errorf("got %q", got)
	}
	t.Setenv("QUOIN_TEST_REQUIRE_SERVICES", "1")
	if got := outcome(data); !strings.HasPrefix(got, "fatal: QUOIN_TEST_REQUIRE_SERVICES=1, but QUOIN_TEST_DATA") {
		t.Errorf("got %q", got)
	}
	t.Setenv("QUOIN_TEST_DATA", filepath.Join(t.TempDir(), "none"))
	if got := outcome(data); !strings.Contains(got, "is not a folder") {
		t.Errorf("got %q", got)
	}
	folder := t.TempDir()
	t.Setenv("QUOIN_TEST_DATA", folder)
	if got := testkit.Data(t); got != folder {
		t.Errorf("got %q", got)
	}
}

func TestGolden(t *testing.T) {
	path := filepath.Join(t.TempDir(), "golden")
	if err := os.WriteFile(path, []byte("a\nb\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, got, want string }{
		{path, "a\nb\n", ""},
		{path, "a\nc\n", "line 2\n  in the file: \"b\"\n  made now:    \"c\""},
		{path, "a\nb\n\nd", "line 4\n  in the file: (ends before)\n  made now:    \"d\""},
		{path, "a\nb", "made now:    (ends before)"},
		{path + "x", "", "make generate"},
	} {
		got := outcome(func(t testing.TB) { testkit.Golden(t, c.path, []byte(c.got)) })
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%q: got %s", c.got, got)
		}
	}
}

func TestEventually(t *testing.T) {
	calls := 0
	testkit.Eventually(t, func() bool { calls++; return calls == 3 })
	if calls != 3 {
		t.Errorf("asked %d times", calls)
	}
}

func TestClockMovesOnlyWhenMoved(t *testing.T) {
	start := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	clock := testkit.NewClock(start)
	soon, later, past := clock.After(time.Second), clock.After(time.Minute), clock.After(0)
	if got := <-past; got != start || clock.Waiting() != 2 {
		t.Errorf("%s, %d waiting", got, clock.Waiting())
	}
	clock.Advance(time.Second)
	if got := <-soon; got != start.Add(time.Second) || clock.Now() != got || clock.Waiting() != 1 {
		t.Errorf("%s, %d waiting", got, clock.Waiting())
	}
	select {
	case <-later:
		t.Error("fired too early")
	default:
	}
	clock.Advance(time.Hour)
	<-later
}
