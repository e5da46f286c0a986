package file_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/modules/file"
)

func TestServing(t *testing.T) {
	places(t, func(t *testing.T, s *server) {
		s.TB = t
		data := random(3<<20, 1)
		st := s.post("a b.bin", "application/x-thing", data)
		path := "/api/file/" + st.Hash
		a := s.get(path).is(200)
		for name, want := range map[string]string{
			"Content-Type": "application/x-thing", "Content-Disposition": `attachment; filename="a b.bin"`, "Etag": `"` + st.Hash + `"`,
			"Cache-Control": "private, max-age=31536000, immutable", "Accept-Ranges": "bytes", "Content-Length": "3145728", "X-Content-Type-Options": "nosniff",
			"X-Robots-Tag": "noindex", "Last-Modified": "Mon, 04 May 2026 10:00:00 GMT",
			"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; media-src 'self'; sandbox",
		} {
			if got := a.header.Get(name); got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
		if !bytes.Equal(a.body, data) {
			t.Error("other bytes came back")
		}
		head := s.call("ada", http.MethodHead, path, nil).is(200)
		if head.header.Get("Content-Length") != "3145728" || len(head.body) != 0 || head.header.Get("Etag") != a.header.Get("Etag") {
			t.Errorf("%v", head.header)
		}
		for _, c := range []struct {
			headers string
			status  int
			want    []byte
		}{
			{"Range: bytes=0-9", 206, data[:10]},
			{"Range: bytes=1000000-", 206, data[1000000:]},
			{"Range: bytes=-7", 206, data[len(data)-7:]},
			{"Range: bytes=5-4", 416, nil},
			{"Range: bytes=3145728-", 416, nil},
			{"Range: bytes=3145720-9999999999999999", 206, data[3145720:]},
			{"Range: lines=1-2", 416, nil},
			{"Range: bytes=0-9; If-Range: \"" + st.Hash + "\"", 206, data[:10]},
			{"Range: bytes=0-9; If-Range: \"other\"", 200, data},
			{"If-None-Match: \"" + st.Hash + "\"", 304, nil},
			{"If-None-Match: W/\"" + st.Hash + "\"", 304, nil},
			{"If-None-Match: \"other\", *", 304, nil},
			{"If-None-Match: \"other\"", 200, data},
			{"If-Match: \"other\"", 412, nil},
			{"If-Match: \"" + st.Hash + "\"", 200, data},
			{"If-Modified-Since: Mon, 04 May 2026 10:00:00 GMT", 304, nil},
			{"If-Unmodified-Since: Mon, 04 May 2020 10:00:00 GMT", 412, nil},
			{"Range: bytes=" + strings.Repeat("0-0,", 200) + "0-0", 200, data},
		} {
			var headers []string
			for h := range strings.SplitSeq(c.headers, "; ") {
				name, value, _ := strings.Cut(h, ": ")
				headers = append(headers, name, value)
			}
			if a := s.get(path, headers...); a.status != c.status || c.want != nil && !bytes.Equal(a.body, c.want) {
				t.Errorf("%.80s: %d with %d bytes", c.headers, a.status, len(a.body))
			}
		}
		if a := s.get(path, "Range", "bytes=0-1,5-6").is(206); !strings.HasPrefix(a.header.Get("Content-Type"), "multipart/byteranges") {
			t.Errorf("%v", a.header)
		}
		for _, unknown := range []string{strings.Repeat("0", 40), "..%2f..%2fetc%2fpasswd", "x", st.Hash + "00", strings.Repeat("a", 5000)} {
			for _, folder := range []string{"/api/file/", "/api/file/view/", "/api/file/info/", "/data/file/", "/data/file/view/"} {
				s.get(folder + unknown).is(404)
			}
		}
		s.get("/api/file/" + strings.ToUpper(st.Hash)).is(200)
	})
}

const svg = `<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`

func TestWhatIsShown(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	png := "\x89PNG\r\n\x1a\n0000"
	html := "<!DOCTYPE html><script>alert(1)</script>"
	for i, c := range []struct{ data, typ, query, wantType, want, policy string }{
		{png, "image/png", "", "image/png", "inline", "sandbox"},
		{html, "text/html", "", "text/html", "attachment", "sandbox"},
		{html, "image/png", "", "application/octet-stream", "attachment", "sandbox"},
		{html, "image/png", "?type=text/html", "text/html", "attachment", "sandbox"},
		{png, "image/png", "?type=text/html", "text/html", "attachment", "sandbox"},
		{html, "application/pdf", "", "application/octet-stream", "attachment", "sandbox"},
		{html, "text/plain", "", "text/plain", "inline", "sandbox"},
		{html, "image/svg+xml", "", "application/octet-stream", "attachment", "sandbox"},
		{"\n\n  \n<b onclick=x><html>", "video/mp4", "", "application/octet-stream", "attachment", "sandbox"},
		{svg, "image/svg+xml", "", "image/svg+xml", "inline", "sandbox"},
		{svg, "image/png", "", "application/octet-stream", "attachment", "sandbox"},
		{svg, "text/xml", "", "text/xml", "attachment", "sandbox"},
		{svg, "application/xhtml+xml", "", "application/xhtml+xml", "attachment", "sandbox"},
		{"%PDF-1.7", "application/pdf", "", "application/pdf", "inline", "form-action 'none'"},
		{"%PDF-1.7", "application/pdf", "?type=%00%0d%0ax:y", "", "", ""},
		{"alert(1)", "text/javascript", "", "text/javascript", "attachment", "sandbox"},
		{"hello", "text/plain; charset=utf-8; x=y", "", "text/plain; charset=utf-8", "inline", "sandbox"},
		{"hello", "", "", "application/octet-stream", "attachment", "sandbox"},
		{"hello", "nonsense", "", "application/octet-stream", "attachment", "sandbox"},
		{"\x00\x01", "application/octet-stream", "?type=image/png", "image/png", "inline", "sandbox"},
	} {
		st := s.post("x", c.typ, fmt.Appendf(nil, "%s%d", c.data, i))
		a := s.get("/data/file/view/" + st.Hash + c.query)
		if c.wantType == "" {
			a.is(400)
			continue
		}
		a.is(200)
		if got := a.header.Get("Content-Disposition"); a.header.Get("Content-Type") != c.wantType || !strings.HasPrefix(got, c.want+";") ||
			!strings.HasSuffix(a.header.Get("Content-Security-Policy"), c.policy) || a.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%d: %v", i, a.header)
		}
		if got := s.get("/api/file/" + st.Hash + c.query).is(200).header.Get("Content-Disposition"); !strings.HasPrefix(got, "attachment;") {
			t.Errorf("%d: a download is %s", i, got)
		}
	}
}

func TestNamesInHeaders(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	st := s.post("x.txt", "text/plain", []byte("hello"))
	for name, want := range map[string]string{
		"été.pdf":                `attachment; filename="_t_.pdf"; filename*=UTF-8''%C3%A9t%C3%A9.pdf`,
		`a"b\c.txt`:              `attachment; filename="c.txt"`,
		`a"b.txt`:                `attachment; filename="a_b.txt"; filename*=UTF-8''a%22b.txt`,
		"a\r\nSet-Cookie: x=y":   `attachment; filename="aSet-Cookie: x=y"`,
		"../../etc/passwd":       `attachment; filename="passwd"`,
		`..\..\windows\win.ini`:  `attachment; filename="win.ini"`,
		"..":                     `attachment; filename="upload.bin"`,
		"100%41.txt":             `attachment; filename="100_41.txt"; filename*=UTF-8''100%2541.txt`,
		"invoice\u202Efdp.exe":   `attachment; filename="invoicefdp.exe"`,
		"日本.txt":                 `attachment; filename="__.txt"; filename*=UTF-8''%E6%97%A5%E6%9C%AC.txt`,
		"; filename=evil.exe; x": `attachment; filename="; filename=evil.exe; x"`,
	} {
		a := s.get("/api/file/" + st.Hash + "?" + url.Values{"name": {name}}.Encode()).is(200)
		if got := a.header.Get("Content-Disposition"); got != want || a.header.Get("Set-Cookie") != "" {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
	long := strings.Repeat("é", 300) + ".pdf"
	if got := file.CleanName(long); len(got) > 255 || !strings.HasSuffix(got, "é.pdf") {
		t.Errorf("%d bytes: %s", len(got), got)
	}
}

func TestInfoAndHeads(t *testing.T) {
	places(t, func(t *testing.T, s *server) {
		s.TB = t
		st := s.post("a.txt", "text/plain", []byte("hello"))
		s.post("b.txt", "text/csv", []byte("hello"))
		s.call("ada", http.MethodHead, "/api/file/"+st.Hash, nil).is(200)
		none := strings.Repeat("0", 40)
		for body, want := range map[string]string{
			`["` + st.Hash + `","` + none + `","` + st.Hash + `"]`: `[true,"` + none + `",true]`,
			`{"0":"` + none + `","7":"` + st.Hash + `"}`:           `["` + none + `",true]`,
			`[]`: `[]`, `{}`: `[]`, `["x"]`: `["x"]`, `["` + strings.ToUpper(st.Hash) + `"]`: `[true]`,
		} {
			if a := s.call("ada", http.MethodPost, "/api/file/heads", []byte(body)).is(200); string(a.body) != want {
				t.Errorf("%s: %s, want %s", body, a.body, want)
			}
		}
		for bad, tells := range map[string]string{
			``: "", `5`: "a list of hashes", `"x"`: "a list of hashes", `["x"`: "", `[1]`: "[0]: must be a hash", `["x",null]`: "[1]: must be a hash", `[["x"]]`: "not array",
			`{"a":{}}`: "a: must be a hash, which is a string, not object", `{"a":[1]}`: "a: must be a hash, which is a string, not array",
		} {
			if a := s.call("ada", http.MethodPost, "/api/file/heads", []byte(bad)).is(400); !strings.Contains(string(a.body), tells) {
				t.Errorf("%s: %s does not tell %q", bad, a.body, tells)
			}
		}
		var info map[string]any
		if err := json.Unmarshal(s.get("/api/file/info/"+st.Hash).is(200).body, &info); err != nil {
			t.Fatal(err)
		}
		when := map[string]any{"date": "2026-05-04 10:00:00.000000", "timezone_type": 3.0, "timezone": "UTC"}
		want := map[string]any{
			"hash": st.Hash, "algo": "sha1", "name": "b.txt", "type": "text/csv", "first-seen": when, "last-seen": when, "uploaded-by": "ada", "hidden": false,
			"size": 5.0, "uploads": 2.0, "head-counter": 4.0,
			"file-object": map[string]any{"_hash": st.Hash, "_size": 5.0, "_name": "b.txt", "_type": "text/csv", "_algo": "sha1", "sha1": st.Hash, "filesize": 5.0, "filename": "b.txt", "mimetype": "text/csv"},
		}
		if marshal(t, info) != marshal(t, want) {
			t.Errorf("%s\nwant %s", marshal(t, info), marshal(t, want))
		}
		if a := s.get("/api/file/info/" + st.Hash + "?first-seen=false").is(200); !bytes.Contains(a.body, []byte(`"first-seen":null`)) {
			t.Errorf("%s", a.body)
		}
	})
}

func TestMultipart(t *testing.T) {
	places(t, func(t *testing.T, s *server) {
		s.TB = t
		data := random(2<<20, 1)
		st := s.post("../a b.png", "image/png", data, "other", "x", "type", "image/webp")
		hash := hashOf(data)
		want := file.Stored{Acknowledged: true, Success: true, Uploaded: 1, FileName: "a b.png", URL: "/data/file/view/" + hash + "?name=a+b.png&type=image%2Fwebp",
			Fields: file.Fields{Hash: hash, Size: 2 << 20, Name: "a b.png", Type: "image/webp", Algo: "sha1", SHA1: hash, Filesize: 2 << 20, Filename: "a b.png", Mimetype: "image/webp"}}
		if st != want {
			t.Errorf("%+v\nwant %+v", st, want)
		}
		s.holds(data)
		s.post("empty", "", nil)
		s.holds([]byte{})
		whole, contentType := form(t, "upload", "x", "", data)
		other, otherType := form(t, "file", "x", "", data[:100])
		unchosen, unchosenType := form(t, "upload", "", "application/octet-stream", nil)
		big, bigType := form(t, "upload", "x", "", data[:10], "other", strings.Repeat("x", 1<<20))
		for name, c := range map[string]struct {
			body        []byte
			contentType string
			status      int
			tells       string
		}{
			"truncated":           {whole[:len(whole)/2], contentType, 400, "broke off"},
			"without its end":     {whole[:len(whole)-10], contentType, 400, "broke off"},
			"no boundary":         {whole, "multipart/form-data", 400, "must be multipart/form-data"},
			"another boundary":    {whole, "multipart/form-data; boundary=other", 400, "the multipart body cannot be read"},
			"garbage":             {[]byte("garbage"), contentType, 400, "the multipart body cannot be read"},
			"labelled as JSON":    {whole, "application/json", 400, "must be multipart/form-data"},
			"empty":               {[]byte{}, contentType, 400, "the multipart body cannot be read"},
			"no file":             {other, otherType, 400, "upload: is missing"},
			"no file chosen":      {unchosen, unchosenType, 400, "upload: is missing"},
			"a large other field": {big, bigType, 413, "a field of the form"},
		} {
			if a := s.call("ada", http.MethodPost, "/api/file/upload", c.body, "Content-Type", c.contentType); a.status != c.status || !bytes.Contains(a.body, []byte(`"success":false`)) || !bytes.Contains(a.body, []byte(c.tells)) {
				t.Errorf("%s: %d %s", name, a.status, a.body)
			}
		}
		s.clean(2)
		small := serveOn(t, s.db, s.blobs, func(c *file.Config) { c.MaxSize = 1 << 20 })
		small.call("ada", http.MethodPost, "/api/file/upload", whole, "Content-Type", contentType).is(413)
		a, err := small.try(t.Context(), "ada", http.MethodPost, "/api/file/upload", struct{ io.Reader }{bytes.NewReader(whole)}, "Content-Type", contentType)
		if err != nil || a.status != 413 {
			t.Errorf("%+v %v", a, err)
		}
		small.clean(2)
	})
}

// TestTheKernelSendsFiles checks that nothing between the file and the
// connection hides io.ReaderFrom: a file reaches it as the *os.File it is.
func TestTheKernelSendsFiles(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	st := s.post("x", "", random(1<<20, 1))
	w := &readerFrom{ResponseRecorder: httptest.NewRecorder()}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/file/"+st.Hash, nil)
	r.Header.Set("X-Auth-Token", "ada")
	s.handler.ServeHTTP(w, r)
	if !w.file {
		t.Error("the answer was not written from an *os.File")
	}
}

// readerFrom stands for the connection of net/http.
type readerFrom struct {
	*httptest.ResponseRecorder
	file bool
}

// ReadFrom implements io.ReaderFrom.
func (w *readerFrom) ReadFrom(r io.Reader) (int64, error) {
	if l, ok := r.(*io.LimitedReader); ok {
		_, w.file = l.R.(*os.File)
	}
	return io.Copy(w.ResponseRecorder, r)
}
