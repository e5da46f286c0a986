package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/quoin-cms/quoin/sdk/client"
)

func TestTheAddressIsChecked(t *testing.T) {
	for base, says := range map[string]string{
		"":                        "must begin with http",
		"127.0.0.1:8080":          "no URL",
		"localhost:8080":          "must begin with http",
		"ftp://example.org":       "must begin with http",
		"http://":                 "must begin with http",
		"http://a:secret@b":       "no user name",
		"ftp://a:secret@b":        "must begin",
		"http://b/?x=1":           "no ?",
		"http://b/#x":             "no ?",
		"http://b:notaport/x":     "no URL",
		"http://example.org":      "",
		"https://example.org/cms": "",
		"http://[::1]:8080/":      "",
	} {
		_, err := client.New(base)
		if (err == nil) != (says == "") || err != nil && (!strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%q: %v", base, err)
		}
	}
}

// transport answers calls without a network, so that time can be had for
// nothing.
type transport func(n int, r *http.Request) (*http.Response, error)

// counted counts calls.
type counted struct {
	fn   transport
	n    int
	most int // of them; 0: any number
}

// RoundTrip implements http.RoundTripper.
func (c *counted) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_, _ = io.Copy(io.Discard, r.Body)
	}
	if c.n++; c.most > 0 && c.n > c.most {
		return nil, errBroken
	}
	return c.fn(c.n, r)
}

// over gives a client that calls fn.
func over(t *testing.T, fn transport, options ...client.Option) (*client.Client, *counted) {
	t.Helper()
	calls := &counted{fn: fn}
	c, err := client.New("http://server", append([]client.Option{client.WithHTTPClient(&http.Client{Transport: calls})}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	return c, calls
}

func answer(status int, body string, headers ...string) (*http.Response, error) {
	h := http.Header{}
	for i := 0; i < len(headers); i += 2 {
		h.Set(headers[i], headers[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body))}, nil
}

var errBroken = errors.New("connection reset")

func TestCallsAreTriedAgainWhenThatCanHelp(t *testing.T) {
	read := func(ctx context.Context, c *client.Client) error { return c.Users.Test(ctx) }
	submit := func(ctx context.Context, c *client.Client) error {
		_, err := c.Forms.Submit(ctx, client.NewSubmission{})
		return err
	}
	conditional := func(ctx context.Context, c *client.Client) error {
		_, err := c.Documents("page").Put(ctx, "1", []byte("{}"), client.IfMatch("1"))
		return err
	}
	put := func(ctx context.Context, c *client.Client) error {
		_, err := c.Documents("page").Put(ctx, "1", []byte("{}"))
		return err
	}
	always := func(status int, headers ...string) transport {
		return func(int, *http.Request) (*http.Response, error) { return answer(status, "{}", headers...) }
	}
	afterFirst := func(bad func() (*http.Response, error)) transport {
		return func(n int, _ *http.Request) (*http.Response, error) {
			if n == 1 {
				return bad()
			}
			return answer(200, `{"success":true}`)
		}
	}
	busy := func() (*http.Response, error) { return answer(503, "{}", "Retry-After", "20") }
	for name, c := range map[string]struct {
		call        func(context.Context, *client.Client) error
		transport   transport
		limit       time.Duration
		calls       int
		least, most time.Duration
		ok          bool
	}{
		"busy for a moment":               {read, afterFirst(busy), 0, 2, 20 * time.Second, 21 * time.Second, true},
		"a write that may be repeated":    {put, afterFirst(busy), 0, 2, 20 * time.Second, 21 * time.Second, true},
		"a write that may not":            {submit, afterFirst(busy), 0, 1, 0, 0, false},
		"a write of a certain state":      {conditional, afterFirst(busy), 0, 1, 0, 0, false},
		"busy for ever":                   {read, always(503), 0, 5, time.Second, 10 * time.Second, false},
		"busy for too long":               {read, always(503, "Retry-After", "120"), 0, 1, 0, 0, false},
		"busy beyond the caller's time":   {read, always(429, "Retry-After", "20"), 5 * time.Second, 1, 0, 0, false},
		"throttled":                       {read, always(429), 0, 5, time.Second, 10 * time.Second, false},
		"refused":                         {read, always(403), 0, 1, 0, 0, false},
		"broken":                          {read, always(500), 0, 1, 0, 0, false},
		"a server that was never there":   {read, func(int, *http.Request) (*http.Response, error) { return nil, errBroken }, 0, 1, 0, 0, false},
		"no JSON":                         {read, func(int, *http.Request) (*http.Response, error) { return answer(200, "<html>") }, 0, 1, 0, 0, false},
		"a connection that breaks once":   {read, afterSecond(errBroken), 0, 3, 100 * time.Millisecond, 10 * time.Second, true},
		"a date in place of some seconds": {read, afterFirst(dated), 0, 2, 9 * time.Second, 12 * time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cl, calls := over(t, c.transport)
				ctx := t.Context()
				if c.limit > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, c.limit)
					defer cancel()
				}
				begin := time.Now()
				err := c.call(ctx, cl)
				took := time.Since(begin)
				if (err == nil) != c.ok || calls.n != c.calls || took < c.least || took > c.most {
					t.Errorf("%v after %d calls and %s", err, calls.n, took)
				}
			})
		})
	}
}

// dated is busy, and says until when.
func dated() (*http.Response, error) {
	return answer(503, "{}", "Retry-After", time.Now().Add(11*time.Second).UTC().Format(http.TimeFormat))
}

// afterSecond answers busy, breaks, and answers.
func afterSecond(broken error) transport {
	return func(n int, _ *http.Request) (*http.Response, error) {
		switch n {
		case 1:
			return answer(503, "{}")
		case 2:
			return nil, broken
		}
		return answer(200, "{}")
	}
}

func TestTheCallerMayLeaveWhileACallWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := over(t, func(int, *http.Request) (*http.Response, error) { return answer(503, "{}", "Retry-After", "30") })
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(3*time.Second, cancel)
		begin := time.Now()
		if err := c.Users.Test(ctx); client.Status(err) != 503 || time.Since(begin) != 3*time.Second {
			t.Errorf("%v after %s", err, time.Since(begin))
		}
	})
}

func TestASilentServerIsNotWaitedForForever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, calls := over(t, func(_ int, r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}, client.WithTimeout(7*time.Second))
		begin := time.Now()
		err := c.Users.Test(t.Context())
		if err == nil || !strings.Contains(err.Error(), "has not answered in time") || time.Since(begin) != 7*time.Second || calls.n != 1 {
			t.Errorf("%v after %s", err, time.Since(begin))
		}
	})
}

func TestErrorsTellWhatTheServerSays(t *testing.T) {
	problem := `{"success":false,"acknowledged":true,"error":["label: is missing"],"type":"urn:quoin:problem:unprocessable","status":422,` +
		`"detail":"the document is wrong","code":"bad","instance":"r7","errors":[{"path":"fr.blocks[2].title","message":"is missing"}]}`
	for name, c := range map[string]struct {
		status int
		body   string
		want   client.Error
	}{
		"problem":        {422, problem, client.Error{Kind: "unprocessable", Code: "bad", Detail: "the document is wrong", RequestID: "r7"}},
		"one string":     {401, `{"error":"Authentication failed"}`, client.Error{Detail: "Authentication failed"}},
		"a message":      {400, `{"message":"Not found!"}`, client.Error{Detail: "Not found!"}},
		"no JSON":        {502, "<html>Bad \xff Gateway</html>", client.Error{Detail: "<html>Bad ? Gateway</html>"}},
		"nothing":        {404, "", client.Error{Detail: "Not Found"}},
		"an empty array": {500, "[]", client.Error{Detail: "[]"}},
	} {
		t.Run(name, func(t *testing.T) {
			c2, _ := over(t, func(int, *http.Request) (*http.Response, error) { return answer(c.status, c.body) }, client.WithRetries(0))
			err := c2.Users.Test(t.Context())
			var e *client.Error
			if !errors.As(err, &e) {
				t.Fatal(err)
			}
			if e.Status != c.status || e.Kind != c.want.Kind || e.Code != c.want.Code || e.Detail != c.want.Detail || e.RequestID != c.want.RequestID {
				t.Errorf("%+v", e)
			}
			if name == "problem" && (len(e.Fields) != 1 || e.Fields[0].Path != "fr.blocks[2].title" || !strings.Contains(e.Error(), "label: is missing")) {
				t.Errorf("%+v", e)
			}
		})
	}
}

// A redirect must not take the token anywhere.
func TestRedirectsAreNotFollowed(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("the token went to %s", r.Host) }))
	defer elsewhere.Close()
	server := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusFound))
	defer server.Close()
	c, err := client.New(server.URL, client.WithToken("secret"))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Users.Test(t.Context()); client.Status(err) != http.StatusFound || !strings.Contains(err.Error(), elsewhere.URL) {
		t.Error(err)
	}
}

func TestAnswersAreBounded(t *testing.T) {
	c, calls := over(t, func(int, *http.Request) (*http.Response, error) { return answer(200, `"`+strings.Repeat("x", 100)+`"`) }, client.WithAnswerLimit(50))
	if err := c.Users.Test(t.Context()); err == nil || !strings.Contains(err.Error(), "larger than 50 bytes") || calls.n != 1 {
		t.Error(err)
	}
}

// work lets a worker do one job, and gives what it told the server on the way to
// each path.
func work(t *testing.T, do func(output io.Writer), busy func(path string, n int) bool) map[string][]string {
	t.Helper()
	told := map[string][]string{}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c, _ := over(t, func(_ int, r *http.Request) (*http.Response, error) {
		if r.URL.Path == "/api/admin/next-job/tag" {
			if len(told) == 0 {
				told["next"] = []string{""}
				return answer(200, `{"success":true,"job_id":"7","command":"x"}`, "X-Job-Claim", "c", "X-Job-Lease", "60")
			}
			cancel()
			return answer(200, `{"success":true}`)
		}
		var m struct{ Message string }
		body, err := r.GetBody()
		if err == nil {
			err = json.NewDecoder(body).Decode(&m)
		}
		if err != nil {
			t.Error(err)
		}
		verb := strings.Split(r.URL.Path, "/")[3]
		told[verb] = append(told[verb], m.Message)
		if busy(verb, len(told[verb])) {
			return answer(503, "{}")
		}
		return answer(200, `{"success":true}`)
	})
	err := c.Jobs.Work(ctx, "tag", func(_ context.Context, _ *client.Claim, output io.Writer) error {
		do(output)
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	return told
}

// A job that is done would be done again if the server did not hear of it.
func TestAWorkerTellsTheEndOfAJobUntilItIsHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := work(t, func(io.Writer) {}, func(_ string, n int) bool { return n <= 8 })
		if n := len(told["job-completed"]); n != 9 || len(told["job-failed"]) != 0 {
			t.Errorf("it was told %d times: %v", n, told)
		}
	})
}

// A pipe cuts what a program writes where it likes.
func TestAWorkerSendsWholeCharacters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := work(t, func(output io.Writer) {
			for _, piece := range []string{"caf\xc3", "\xa9 \xf0", "\x9f", "\x98\x80", "\xff!", "\xe2\x82"} {
				if n, err := io.WriteString(output, piece); err != nil || n != len(piece) {
					t.Errorf("%q: %d, %v", piece, n, err)
				}
			}
		}, func(string, int) bool { return false })
		if text := strings.Join(told["job-write"], ""); text != "café 😀\ufffd!\ufffd" && text != "café 😀\ufffd!\ufffd\ufffd" {
			t.Errorf("%q", text)
		}
	})
}

// What a server says about an upload may make no sense.
func TestAnUploadThatGoesNowhereEnds(t *testing.T) {
	for _, uploaded := range []string{"99", "-1", "0", "2", "4"} {
		t.Run(uploaded, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, calls := over(t, func(int, *http.Request) (*http.Response, error) {
					return answer(200, `{"success":true,"available":false,"uploaded":`+uploaded+`}`)
				})
				calls.most = 100
				sent, err := c.Files.Upload(t.Context(), strings.NewReader("four"), client.Upload{Hash: "h"})
				if err == nil || !strings.Contains(err.Error(), "the server") || calls.n >= calls.most {
					t.Errorf("%+v, %v after %d calls", sent, err, calls.n)
				}
			})
		})
	}
}

// The greatest limit is one, and not none at all.
func TestAnAnswerMayBeAsLargeAsCanBe(t *testing.T) {
	c, _ := over(t, func(int, *http.Request) (*http.Response, error) { return answer(200, "{}") }, client.WithAnswerLimit(math.MaxInt64))
	if err := c.Users.Test(t.Context()); err != nil {
		t.Error(err)
	}
}

// A name cannot leave its place in the path.
func TestNamesStayInTheirPlace(t *testing.T) {
	for name, path := range map[string]string{"a/b": "/api/data/page/a%2Fb", "ü?x=1#y": "/api/data/page/%C3%BC%3Fx=1%23y", "": "", ".": "", "..": ""} {
		asked := ""
		c, _ := over(t, func(_ int, r *http.Request) (*http.Response, error) {
			asked = r.URL.EscapedPath()
			return answer(200, "{}")
		})
		if _, err := c.Documents("page").Get(t.Context(), name); asked != path || (err == nil) != (path != "") {
			t.Errorf("%q: %q, %v", name, asked, err)
		}
	}
}

func TestWhoCalls(t *testing.T) {
	c, _ := over(t, func(_ int, r *http.Request) (*http.Response, error) {
		if r.Header.Get("X-Auth-Token") != "two" || r.Header.Get("User-Agent") != "shop/1.2" {
			t.Errorf("%v", r.Header)
		}
		return answer(200, "{}")
	}, client.WithToken("one"), client.WithUserAgent("shop/1.2"))
	if err := c.WithToken("two").Users.Test(t.Context()); err != nil {
		t.Error(err)
	}
}

// FuzzAnswers gives the client whatever a server may answer.
func FuzzAnswers(f *testing.F) {
	f.Add(200, `{"hits":{"hits":[{}]}}`, "bytes 1-2/3", "attachment; filename=x")
	f.Add(206, "event: output\nid: 9\ndata: \"x\"\n\nevent: end\ndata: {}\n\n", "bytes */x", "")
	f.Add(503, `{"error":{"a":[]}}`, "", "")
	f.Add(200, `{"success":false,"error":"x","revision_id":-1,"date":"x","_scroll_id":null}`, "bytes 9223372036854775808-/-1", ";;")
	f.Fuzz(func(t *testing.T, status int, body, span, disposition string) {
		c, _ := over(t, func(int, *http.Request) (*http.Response, error) {
			return answer(200+((status%400)+400)%400, body, "Content-Range", span, "Content-Disposition", disposition, "X-Job-Offset", span, "Retry-After", span)
		}, client.WithRetries(0))
		for name, call := range everyCall(t.Context(), c) {
			if name != "Jobs.Work" && !strings.HasPrefix(name, "Claim.") && name != "Search.Scroll" && name != "Client.Audit" && name != "Forms.List" {
				_ = call()
			}
		}
	})
}
