package form_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/modules/form"
)

const base = "/api/forms/submissions"

func TestSubmitAndRead(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		one := s.submit("contact", `{"email":"a@b.c","n":1.0,"o":{},"l":[{"x":null}],"é.d":"dot"}`,
			`,"label":"L","expire_date":"2026-12-31"`+with(`a \"b\".txt`, "aGVsbG8=", "5", "empty.txt", "", "0"))
		var view struct {
			Files []struct{ ID string }
		}
		if err := json.Unmarshal(one.Submission, &view); err != nil || len(view.Files) != 2 {
			t.Fatalf("%s %v", one.Submission, err)
		}
		want := fmt.Sprintf(`{"id":%q,"created":"2026-05-04T10:00:00+00:00","modified":"2026-05-04T10:00:00+00:00","name":"contact","instance":"web","locale":"fr",`+
			`"data":{"email":"a@b.c","n":1.0,"o":{},"l":[{"x":null}],"é.d":"dot"},"label":"L","processTryCounter":0,"processId":null,"processBy":null,`+
			`"expireDate":"2026-12-31T00:00:00+00:00","files":[{"id":%q,"filename":"a \"b\".txt","mimeType":"text/plain","size":"5","formField":"attachment"},`+
			`{"id":%q,"filename":"empty.txt","mimeType":"text/plain","size":"0","formField":"attachment"}]`, one.ID, view.Files[0].ID, view.Files[1].ID)
		if got := s.want(200, "GET", base+"/"+one.ID, "site", "", nil); got != want+"}" || string(one.Submission) != got {
			t.Errorf("got  %s\nwant %s}", got, want)
		}
		template := "https://x.org/{SUBMISSION_ID}/{FILE_ID}?a={FILE_ID}&b=1"
		url0 := "https://x.org/" + one.ID + "/" + view.Files[0].ID + "?a=" + view.Files[0].ID + "\\u0026b=1"
		if got := s.want(200, "GET", base+"/"+one.ID+"?fileUrl="+url.QueryEscape(template), "site", "", nil); !strings.HasPrefix(got, want+`,"file_urls":["`+url0+`",`) {
			t.Errorf("%s", got)
		}
		for property, value := range map[string]string{
			"data[email]": `"a@b.c"`, "[data][email]": `"a@b.c"`, "data.email": `"a@b.c"`, "data[n]": "1.0", "data.o": "{}", "[data][l][0][x]": "null",
			"data.l.0": `{"x":null}`, "[files][0][filename]": `"a \"b\".txt"`, "data[é.d]": `"dot"`, "data.nope": "null", "data[email][x]": "null", "data.l.01": "null",
			"data.l.-1": "null", "constructor": "null", "data[l][9]": "null",
		} {
			key, _ := json.Marshal(property)
			if got, want := s.want(200, "GET", base+"/"+one.ID+"?property="+url.QueryEscape(property), "site", "", nil), "{"+string(key)+":"+value+"}"; got != want {
				t.Errorf("%s: %s instead of %s", property, got, want)
			}
		}
		for _, bad := range []string{"[", "data[", "data]x", "data..x", ".data", "[]", "data[a]b", strings.Repeat("a.", 65) + "a"} {
			s.want(400, "GET", base+"/"+one.ID+"?property="+url.QueryEscape(bad), "site", "", nil)
		}
		res := s.send("GET", base+"/"+one.ID+"/files/"+view.Files[0].ID, "site", "")
		defer func() { _ = res.Body.Close() }()
		var body bytes.Buffer
		_, _ = body.ReadFrom(res.Body)
		if body.String() != "hello" || res.Header.Get("Content-Type") != "text/plain" || res.Header.Get("Content-Length") != "5" ||
			res.Header.Get("Content-Disposition") != `inline; filename="a \"b\".txt"` || res.Header.Get("X-Content-Type-Options") != "nosniff" ||
			!strings.Contains(res.Header.Get("Content-Security-Policy"), "sandbox") {
			t.Errorf("%q %v", body.String(), res.Header)
		}
		s.want(200, "GET", base+"/"+one.ID+"/files/"+view.Files[1].ID, "site", "", nil)
		s.want(404, "GET", base+"/"+one.ID+"/files/nope", "site", "", nil)
		s.want(404, "GET", base+"/nope", "site", "", nil)
		s.want(404, "GET", base+"/nope/files/"+view.Files[0].ID, "site", "", nil)
		s.want(403, "GET", base+"/"+one.ID, "none", "", nil)
		told := slices.DeleteFunc(slices.Clone(s.events), func(e event.Event) bool { return e.Type == "admin.form.access" })
		if len(told) != 1 || len(s.events) < 10 || told[0].Type != "form.submitted" || strings.Contains(string(s.events[0].Data), "a@b.c") {
			t.Errorf("%+v", s.events)
		}
		var log []form.Access
		s.want(200, "GET", base+"/"+one.ID+"/access", "crm", "", &log)
		if len(log) < 10 || log[0].Username != "site" || log[0].Address == "" || !slices.ContainsFunc(log, func(a form.Access) bool { return a.What == "read data[email]" }) {
			t.Errorf("%+v", log)
		}
		s.want(403, "GET", base+"/"+one.ID+"/access", "site", "", nil)
	})
}

// What clients written in PHP send, and the original takes.
func TestSubmitFromPHP(t *testing.T) {
	const file = `{"filename":"a.txt","mimeType":"text/plain","base64":"aGVsbG8=","size":%s,"form_field":"attachment"}`
	number, text := fmt.Sprintf(file, `5`), fmt.Sprintf(file, `"5"`)
	engines(t, func(t *testing.T, s *server) {
		for name, c := range map[string]struct {
			more   string
			files  int
			expire string
		}{
			"a size that is a number":     {`,"files":[` + number + `]`, 1, ""},
			"a list of files with gaps":   {`,"files":{"1":` + text + `,"4":` + number + `}`, 2, ""},
			"no files, as an object":      {`,"files":{}`, 0, ""},
			"a time as the day to expire": {`,"expire_date":"2026-12-31T23:30:00-05:00"`, 0, "2026-12-31T00:00:00+00:00"},
			"a time of a database":        {`,"expire_date":"2026-12-31 10:20:30"`, 0, "2026-12-31T00:00:00+00:00"},
			"a time without a zone":       {`,"expire_date":"2026-12-31T10:20:30"`, 0, "2026-12-31T00:00:00+00:00"},
		} {
			var view struct {
				ExpireDate string
				Files      []struct{ ID, Size string }
			}
			one := s.submit("contact", `{"email":"a@b.c"}`, c.more)
			if err := json.Unmarshal(one.Submission, &view); err != nil || len(view.Files) != c.files || view.ExpireDate != c.expire {
				t.Fatalf("%s: %s %v", name, one.Submission, err)
			}
			for _, f := range view.Files {
				if got := s.want(200, "GET", base+"/"+one.ID+"/files/"+f.ID, "site", "", nil); got != "hello" || f.Size != "5" {
					t.Errorf("%s: %+v %q", name, f, got)
				}
			}
		}
	})
}

func TestSubmitRefuses(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		full := `{"form_name":"f","instance":"i","locale":"l","data":{}`
		many := `,"files":[` + strings.Repeat(`{},`, 9999) + `{}]`
		deep := strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100)
		for body, want := range map[string]string{
			``: "", `[]`: "", `{`: "", `"x"`: "",
			`{"instance":"i","locale":"l","data":{}}`:                           "form_name",
			`{"form_name":"f","locale":"l","data":{}}`:                          "instance",
			`{"form_name":"f","instance":"i","data":{}}`:                        "locale",
			`{"form_name":"f","instance":"i","locale":"l"}`:                     "data",
			`{"form_name":"","instance":"i","locale":"l","data":{}}`:            "form_name",
			`{"form_name":1,"instance":"i","locale":"l","data":{}}`:             "form_name",
			`{"form_name":"f","instance":"i","locale":"l","data":"x"}`:          "data",
			`{"form_name":"f","instance":"i","locale":"l","data":null}`:         "data",
			`{"form_name":"f","instance":"i","locale":"l","data":` + deep + `}`: "",
			full + `,"extra":1}`:                                         "extra",
			full + `,"expire_date":"31/12/2026"}`:                        "expire_date",
			full + `,"expire_date":"2026-02-30"}`:                        "expire_date",
			full + `,"expire_date":5}`:                                   "expire_date",
			full + `,"label":5}`:                                         "label",
			full + `,"files":"x"}`:                                       "files",
			full + `,"files":{"1":5}}`:                                   "files.1",
			full + `,"expire_date":"2026-02-30T10:00:00Z"}`:              "expire_date",
			full + `,"expire_date":""}`:                                  "expire_date",
			full + `,"files":[1]}`:                                       "files[0]",
			full + many + `}`:                                            "files",
			full + with("a", "!!!!", "3") + `}`:                          "files[0].base64",
			full + with("a", "aGVsbG8", "5") + `}`:                       "files[0].base64",
			full + with("a", "aGVsbG8=", "6") + `}`:                      "files[0].size",
			full + with("a", "aGVsbG8=", "-5") + `}`:                     "files[0].size",
			full + with("a", "aGVsbG8=", "5", "", "aGVsbG8=", "5") + `}`: "files[1].filename",
			full + `,"files":[{"filename":"a","mimeType":"x","base64":"","size":"0","form_field":"f"}]}`:                        "files[0].mimeType",
			full + `,"files":[{"filename":"a","mimeType":"a/b\r\nX: y","base64":"","size":"0","form_field":"f"}]}`:              "files[0].mimeType",
			full + `,"files":[{"filename":"a","mimeType":"a/b","base64":"","size":1,"form_field":"f"}]}`:                        "files[0].size",
			full + `,"files":[{"filename":"a","mimeType":"a/b","base64":"","size":0.5,"form_field":"f"}]}`:                      "files[0].size",
			full + `,"files":[{"filename":"a","mimeType":"a/b","base64":"","size":true,"form_field":"f"}]}`:                     "files[0].size",
			full + `,"files":[{"filename":"a","mimeType":"a/b","base64":"","size":"0"}]}`:                                       "files[0]",
			full + `,"files":[{"filename":"a","mimeType":"a/b","base64":"","size":"0","form_field":"f","path":"/etc/passwd"}]}`: "files[0].path",
		} {
			if status, text := s.do("POST", base, "site", body); status != 400 && status != 413 || !strings.Contains(text, want) {
				t.Errorf("%.120s: %d %.300s (wanted %s)", body, status, text, want)
			}
		}
		s.want(401, "POST", base, "", full+"}", nil)
		if s.blobsLeft() != 0 || s.rows("form_submission") != 0 || s.rows("form_trash") != 0 {
			t.Error("something was left behind")
		}
	})
}

// What has expired is gone at once for readers, and with its files when the
// expiry runs.
func TestExpiry(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		files := with("a.txt", "aGVsbG8=", "5", "b.txt", "aGVsbG8=", "5")
		old := s.submit("f", `{"a":1}`, `,"expire_date":"2026-05-05"`+files)
		kept := s.submit("f", `{"a":2}`, `,"expire_date":"2026-06-05"`+files)
		forever := s.submit("f", `{"a":3}`, `,"expire_date":null`)
		s.want(200, "POST", "/api/forms/verifications", "site", `{"value":"x"}`, nil)
		s.clock.Advance(15 * time.Hour)
		s.want(404, "GET", base+"/"+old.ID, "site", "", nil)
		if n := s.blobsLeft(); n != 4 {
			t.Errorf("%d blobs", n)
		}
		got, err := s.Expire(t.Context())
		if err != nil || got.Submissions != 1 || got.Files != 2 || got.Codes != 1 {
			t.Errorf("%+v %v", got, err)
		}
		s.want(200, "GET", base+"/"+kept.ID, "site", "", nil)
		s.want(200, "GET", base+"/"+forever.ID, "site", "", nil)
		if s.blobsLeft() != 2 || s.rows("form_submission") != 2 || s.rows("form_file") != 2 || s.rows("form_trash") != 0 || s.rows("form_verification") != 0 {
			t.Errorf("%d blobs, %d rows, %d files", s.blobsLeft(), s.rows("form_submission"), s.rows("form_file"))
		}
		if got, err := s.Expire(t.Context()); err != nil || got != (form.Expired{}) {
			t.Errorf("%+v %v", got, err)
		}
		if orphans, err := s.Orphans(t.Context()); err != nil || len(orphans) != 0 {
			t.Errorf("%v %v", orphans, err)
		}
	})
}

// TestTheFirstDay: the day that a program sends which has no date is one that has
// come, and not none.
func TestTheFirstDay(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		one := s.submit("f", `{}`, `,"expire_date":"1970-01-01"`)
		if !strings.Contains(string(one.Submission), `"expireDate":"1970-01-01T00:00:00+00:00"`) {
			t.Errorf("%s", one.Submission)
		}
		s.want(404, "GET", base+"/"+one.ID, "site", "", nil)
		if got, err := s.Expire(t.Context()); err != nil || got.Submissions != 1 {
			t.Errorf("%+v %v", got, err)
		}
	})
}

func TestRetention(t *testing.T) {
	s := serve(t, func(c *form.Config) { c.Retention = time.Hour })
	one := s.submit("f", `{}`, "")
	if !strings.Contains(string(one.Submission), `"expireDate":"2026-05-04T11:00:00+00:00"`) {
		t.Errorf("%s", one.Submission)
	}
	s.clock.Advance(2 * time.Hour)
	s.want(404, "GET", base+"/"+one.ID, "site", "", nil)
}

func TestProcessing(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		first := s.submit("f", `{"a":1}`, with("a.txt", "aGVsbG8=", "5"))
		second := s.submit("f", `{"a":2}`, "")
		s.submit("other", `{}`, "")
		type claim struct {
			Submission struct {
				ID, ProcessID, ProcessBy string
				ProcessTryCounter        int
			}
		}
		next := func() (c claim) {
			t.Helper()
			s.want(200, "POST", base+"/claim", "crm", `{"form_name":"f"}`, &c)
			return c
		}
		a, b := next(), next()
		if a.Submission.ID != first.ID || b.Submission.ID != second.ID || a.Submission.ProcessBy != "crm" || a.Submission.ProcessTryCounter != 1 {
			t.Errorf("%+v %+v", a, b)
		}
		if c := next(); c.Submission.ID != "" {
			t.Errorf("%+v", c)
		}
		s.want(409, "POST", base+"/"+first.ID+"/claim", "crm", "", nil)
		s.want(409, "POST", base+"/"+first.ID+"/complete", "crm", `{"processId":"x"}`, nil)
		s.want(400, "POST", base+"/"+first.ID+"/complete", "crm", `{"processId":""}`, nil)
		s.want(404, "POST", base+"/nope/complete", "crm", `{"processId":"x"}`, nil)
		s.want(403, "POST", base+"/claim", "site", `{"form_name":"f"}`, nil)
		s.want(200, "POST", base+"/"+second.ID+"/fail", "crm", `{"processId":"`+b.Submission.ProcessID+`"}`, nil)
		if b = next(); b.Submission.ID != second.ID || b.Submission.ProcessTryCounter != 2 {
			t.Errorf("%+v", b)
		}
		s.clock.Advance(16 * time.Minute) // the claims are over
		c := next()
		if c.Submission.ID != first.ID {
			t.Errorf("%+v", c)
		}
		s.want(409, "POST", base+"/"+first.ID+"/complete", "crm", `{"processId":"`+a.Submission.ProcessID+`"}`, nil)
		s.want(200, "POST", base+"/"+first.ID+"/complete", "crm", `{"processId":"`+c.Submission.ProcessID+`"}`, nil)
		if got := s.want(200, "GET", base+"/"+first.ID, "site", "", nil); !strings.Contains(got, `"data":null`) || strings.Contains(got, "files") || !strings.Contains(got, `"processTryCounter":2`) {
			t.Error(got)
		}
		s.want(200, "POST", base+"/"+second.ID+"/claim", "crm", "", &b)
		s.want(200, "POST", base+"/"+second.ID+"/complete", "crm", `{"processId":"`+b.Submission.ProcessID+`","keep":true}`, nil)
		if got := s.want(200, "GET", base+"/"+second.ID, "site", "", nil); !strings.Contains(got, `"data":{"a":2}`) {
			t.Error(got)
		}
		if err := s.Trash(t.Context()); err != nil || s.blobsLeft() != 0 {
			t.Errorf("%v, %d blobs", err, s.blobsLeft())
		}
		s.want(200, "DELETE", base+"/"+second.ID, "crm", "", nil)
		s.want(404, "DELETE", base+"/"+second.ID, "crm", "", nil)
		s.want(403, "DELETE", base+"/"+first.ID, "site", "", nil)
	})
}

func TestListAndExport(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		s.submit("f", `{"name":"=cmd|' /C calc'!A0","n":-1.5,"o":{"a":[1]}}`, with("a.txt", "aGVsbG8=", "5"))
		s.submit("f", `{"email":"é@x","name":"-3"}`, "")
		s.submit("g", `["a list"]`, "")
		var page struct {
			Submissions []struct{ Name string }
			Next        *int64
		}
		s.want(200, "GET", base+"?limit=2", "crm", "", &page)
		if len(page.Submissions) != 2 || page.Next == nil {
			t.Fatalf("%+v", page)
		}
		s.want(200, "GET", fmt.Sprintf("%s?limit=2&after=%d", base, *page.Next), "crm", "", &page)
		if len(page.Submissions) != 1 || page.Submissions[0].Name != "g" || page.Next != nil {
			t.Errorf("%+v", page)
		}
		s.want(200, "GET", base+"?form_name=f&since=2026-05-04T09:00:00Z&until=2026-05-05T09:00:00Z&processed=no", "crm", "", &page)
		if len(page.Submissions) != 2 {
			t.Errorf("%+v", page)
		}
		s.want(403, "GET", base, "site", "", nil)
		s.want(400, "GET", base+"?limit=501", "crm", "", nil)
		s.want(400, "GET", base+"?processed=maybe", "crm", "", nil)
		for _, path := range []string{"?since=tomorrow", "?until=2026-02-31", "/export?since=2026"} {
			if told := s.want(400, "GET", base+path, "crm", "", nil); !strings.Contains(told, "a date and time such as 2026-01-31T10:00:00Z, or a day such as 2026-01-31") {
				t.Errorf("%s: %s", path, told)
			}
		}
		s.want(200, "GET", base+"?form_name=f&since=2026-05-04&until=2026-05-05", "crm", "", &page)
		if len(page.Submissions) == 0 {
			t.Errorf("%+v", page)
		}
		s.want(400, "GET", base+"/export?format=pdf", "crm", "", nil)
		s.want(403, "GET", base+"/export", "site", "", nil)

		text := s.want(200, "GET", base+"/export", "crm", "", nil)
		rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, "\ufeff"))).ReadAll()
		if err != nil || len(rows) != 4 || !strings.HasPrefix(text, "\ufeffid,created,") || !strings.Contains(text, "\r\n") {
			t.Fatalf("%v %q", err, text)
		}
		if !slices.Equal(rows[0][10:], []string{"email", "n", "name", "o"}) || !slices.Equal(rows[1][9:], []string{"a.txt", "", "-1.5", "'=cmd|' /C calc'!A0", `{"a":[1]}`}) ||
			!slices.Equal(rows[2][10:], []string{"é@x", "", "-3", ""}) {
			t.Errorf("%q", rows)
		}
		text = s.want(200, "GET", base+"/export?format=xlsx&form_name=f", "crm", "", nil)
		z, err := zip.NewReader(strings.NewReader(text), int64(len(text)))
		if err != nil {
			t.Fatal(err)
		}
		f, err := z.Open("xl/worksheets/sheet1.xml")
		if err != nil {
			t.Fatal(err)
		}
		var sheet bytes.Buffer
		_, _ = sheet.ReadFrom(f)
		if got := sheet.String(); strings.Count(got, "<row") != 3 || !strings.Contains(got, "=cmd|&#39; /C calc&#39;!A0") || !strings.HasSuffix(got, "</sheetData></worksheet>") {
			t.Error(got)
		}
	})
}

// Everything about one value is given out, and goes away.
func TestSubject(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		s.submit("f", `{"email":"Jane@Example.org","deep":[{"x":"y"}]}`, with("a.txt", "aGVsbG8=", "5"))
		s.submit("g", `{"people":[{"mail":"jane@example.org "}]}`, "")
		s.submit("g", `{"mail":"not-jane@example.org","text":"ask jane@example.org"}`, "")
		s.want(200, "POST", "/api/forms/verifications", "site", `{"value":"jane@example.org"}`, nil)
		ctx := auth.With(t.Context(), users()["crm"])
		var out bytes.Buffer
		if n, err := s.ExportSubject(ctx, "jane@example.org", &out); err != nil || n != 2 || strings.Count(out.String(), "\n") != 2 || !strings.Contains(out.String(), "a.txt") {
			t.Errorf("%d %v %s", n, err, out.String())
		}
		dry, err := s.EraseSubject(ctx, "jane@example.org", true)
		if err != nil || len(dry.Submissions) != 2 || dry.Files != 1 || s.rows("form_submission") != 3 {
			t.Errorf("%+v %v", dry, err)
		}
		done, err := s.EraseSubject(ctx, "jane@example.org", false)
		if err != nil || len(done.Submissions) != 2 || done.Files != 1 || done.Codes != 1 || s.rows("form_submission") != 1 || s.blobsLeft() != 0 {
			t.Errorf("%+v %v", done, err)
		}
		s.submit("h", `{"phone":3225551234,"more":["x", 42 ]}`, "")
		s.submit("h", `{"phone":32255512345,"text":"3225551234 or so"}`, "")
		for _, number := range []string{"3225551234", "42"} {
			if found, err := s.EraseSubject(ctx, number, true); err != nil || len(found.Submissions) != 1 {
				t.Errorf("%s: %+v %v", number, found, err)
			}
		}
		if _, err := s.ExportSubject(auth.With(t.Context(), users()["site"]), "x", &out); err == nil {
			t.Error("without the role")
		}
		if _, err := s.EraseSubject(ctx, " ", false); err == nil {
			t.Error("an empty value erases")
		}
	})
}

func FuzzParsePath(f *testing.F) {
	for _, s := range []string{"data[email]", "[data][email]", "data.email", "[", "a.b[c].d", "..", "[a]]"} {
		f.Add(s)
	}
	doc := []byte(`{"data":{"email":"x","l":[1,{"a":2}]},"files":[]}`)
	f.Fuzz(func(t *testing.T, path string) {
		steps, err := form.ParsePath(path)
		if err == nil && !json.Valid(form.LookUp(doc, steps)) {
			t.Errorf("%q gives no JSON", path)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"form_name":"f","instance":"i","locale":"l","data":{"a":[1]},"expire_date":"2026-01-01"` + with("a", "aGVsbG8=", "5") + `}`))
	f.Add([]byte(`{}`))
	s := serve(f, nil)
	f.Fuzz(func(t *testing.T, body []byte) {
		sub, err := s.Parse(body)
		if err == nil && (sub.Name == "" || sub.Data == nil || !json.Valid(sub.Data)) {
			t.Errorf("%q passes: %+v", body, sub)
		}
	})
}

func FuzzHarmless(f *testing.F) {
	for _, s := range []string{"=1", "+1", "-1", "@x", "-1e5", "+inf", "\t=1", "-0x1p4"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got := form.Harmless(s); got != "" && strings.ContainsRune("=@\t\r", rune(got[0])) {
			t.Errorf("%q", got)
		}
	})
}

// TestExportOfWhoIsLockedOut: somebody who reads slowly does not go on reading.
func TestExportOfWhoIsLockedOut(t *testing.T) {
	s := serve(t, nil)
	s.submit("contact", `{"email":"a@b.c"}`, "")
	out := problem.New(problem.Unauthenticated, "Authentication failed")
	ctx := auth.WithAgain(auth.With(t.Context(), users()["crm"]), func(context.Context) (*auth.Identity, error) { return nil, out })
	var b bytes.Buffer
	if n, err := s.ExportSubject(ctx, "a@b.c", &b); !problem.Is(err, problem.Unauthenticated) || n != 0 || b.Len() > 0 {
		t.Errorf("%d %q %v", n, b.String(), err)
	}
}
