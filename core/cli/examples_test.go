package cli_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/testkit"
	"github.com/quoin-cms/quoin/core/web"
	"github.com/quoin-cms/quoin/core/web/webtest"
)

// step is a block of testdata/examples.txt.
type step struct {
	operation, method, path, body string
	keep                          [][]string // name, path, what is shown instead
	until                         [][]string // path, value
}

func steps(t *testing.T) []step {
	t.Helper()
	text, err := os.ReadFile("testdata/examples.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all []step
	for block := range strings.SplitSeq(string(text), "\n\n") {
		lines := strings.Split(strings.TrimSpace(block), "\n")
		if strings.HasPrefix(lines[0], "#") {
			continue
		}
		call := strings.Fields(lines[0])
		s := step{operation: call[0], method: call[1], path: call[2]}
		var body []string
		for _, line := range lines[1:] {
			switch mark, words, _ := strings.Cut(line, " "); mark {
			case "=":
				s.keep = append(s.keep, strings.Fields(words))
			case "~":
				s.until = append(s.until, strings.Fields(words))
			default:
				body = append(body, line)
			}
		}
		s.body = strings.Join(body, "\n")
		all = append(all, s)
	}
	return all
}

// recorder makes the calls and keeps the examples.
type recorder struct {
	*server
	api   *webtest.Document
	known map[string]string // what was kept of answers, by name
	shown []string          // pairs: what an answer had, what is shown
}

// TestExamples makes the calls of testdata/examples.txt and writes what came
// back to config/examples.json, from which the API document has its examples.
// Without -update it fails when they have another form by now.
func TestExamples(t *testing.T) {
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("ok")) // to a client of this process
	}))
	defer receiver.Close()
	s := serve(t, variables(filepath.Join(t.TempDir(), "data"),
		"QUOIN_WEBHOOK__ALLOW_NETWORKS=127.0.0.0/8", "QUOIN_WEBHOOK__VALIDATION_DELAY=24h"), "--samples")
	_, doc := s.get("/openapi.json", "")
	api, err := webtest.Read([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{
		server: s, api: api,
		known: map[string]string{"receiver": receiver.URL},
		shown: []string{receiver.URL, "https://example.org", receiver.Listener.Addr().String(), "example.org"},
	}
	examples := map[string]web.Example{}
	for _, s := range steps(t) {
		if e := r.make(s); s.operation != "-" {
			examples[s.operation] = e
		}
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(examples); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(generated, "examples.json")
	now := r.still(text.String())
	old, err := os.ReadFile(file)
	if err != nil {
		old = []byte("{}")
	}
	if others := reshaped(t, old, []byte(now)); len(others) > 0 {
		t.Logf("of another form than before: %s", strings.Join(others, ", "))
		testkit.Golden(t, file, []byte(now))
	}
}

// make makes one call, which must succeed, and again until its answer is there.
func (r *recorder) make(s step) web.Example {
	r.t.Helper()
	e := web.Example{Path: r.fill(s.path)}
	var kind string
	var answer []byte
	testkit.Eventually(r.t, func() bool {
		kind, answer = r.call(s, &e)
		return !slices.ContainsFunc(s.until, func(u []string) bool { return pick(answer, u[0]) != u[1] })
	})
	for _, k := range s.keep {
		value := pick(answer, k[1])
		if value == "" {
			r.t.Errorf("%s: no %s in %s", s.operation, k[1], answer)
		}
		r.known[k[0]] = value
		if len(k) > 2 {
			r.shown = append(r.shown, value, k[2])
		}
	}
	e.Answer = bodyOf(kind, answer)
	return e
}

// call makes one call once and gives the type and the text of the answer.
func (r *recorder) call(s step, e *web.Example) (string, []byte) {
	r.t.Helper()
	var body io.Reader
	kind := ""
	if s.body != "" {
		body, kind, e.Request = r.request(r.fill(s.body))
	}
	req, err := http.NewRequestWithContext(r.t.Context(), s.method, r.base+e.Path, body)
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("X-Auth-Token", r.known["token"])
	req.Header.Set("Accept", "application/json")
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		r.t.Errorf("%s %s: %d %v %s", s.method, e.Path, resp.StatusCode, err, answer)
	}
	if err := r.api.Check(s.method, req.URL.EscapedPath(), resp.StatusCode, resp.Header, answer); err != nil {
		r.t.Errorf("%s: %v", s.operation, err)
	}
	answered, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return answered, answer
}

// request gives the body of a request and how the example shows it.
func (r *recorder) request(text string) (io.Reader, string, *web.Body) {
	r.t.Helper()
	file, form := strings.CutPrefix(text, "@")
	if !form {
		return strings.NewReader(text), "application/json", bodyOf("application/json", []byte(text))
	}
	name, content, _ := strings.Cut(file, " ")
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	part, err := w.CreateFormFile("upload", name)
	if err != nil {
		r.t.Fatal(err)
	}
	_, _ = part.Write([]byte(content)) // into memory
	_ = w.Close()
	return &b, w.FormDataContentType(), &web.Body{Type: "multipart/form-data", JSON: []byte(`{"upload":` + strconv.Quote(content) + `}`)}
}

func bodyOf(kind string, text []byte) *web.Body {
	if strings.HasSuffix(kind, "json") && json.Valid(text) {
		return &web.Body{Type: kind, JSON: text}
	}
	return &web.Body{Type: kind, Text: strings.ReplaceAll(string(text), "\r\n", "\n")}
}

// fill puts what was kept into a text.
func (r *recorder) fill(text string) string {
	for name, value := range r.known {
		text = strings.ReplaceAll(text, "{{"+name+"}}", value)
	}
	return text
}

// pick gives a value of an answer as text.
func pick(answer []byte, path string) string {
	var v any
	dec := json.NewDecoder(bytes.NewReader(answer))
	dec.UseNumber()
	_ = dec.Decode(&v)
	for key := range strings.SplitSeq(path, ".") {
		if list, ok := v.([]any); ok {
			if i, err := strconv.Atoi(key); err == nil && i < len(list) {
				v = list[i]
				continue
			}
		}
		m, _ := v.(map[string]any)
		v = m[key]
	}
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

var (
	momentText = regexp.MustCompile(`\d{4}-\d\d-\d\d([T ])\d\d:\d\d:\d\d(?:\.\d+)?`)
	indexDate  = regexp.MustCompile(`_\d{8}_\d{6}`)
	took       = regexp.MustCompile(`"took": \d+`)
	hint       = regexp.MustCompile(`"hint": "qn_\w{5}"`)
	hashText   = regexp.MustCompile(`"_sha1": "[0-9a-f]{40}"`)
	uuidText   = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
)

// still makes the same of every run: times, hashes and random values become
// those that the document shows.
func (r *recorder) still(text string) string {
	text = strings.NewReplacer(append(slices.Clone(r.shown), r.base, "https://cms.example.org")...).Replace(text)
	text = momentText.ReplaceAllString(text, "2026-11-20${1}10:00:00")
	text = indexDate.ReplaceAllString(text, "_20261120_100000")
	text = took.ReplaceAllString(text, `"took": 1`)
	text = hashText.ReplaceAllString(text, `"_sha1": "6adfb183a4a2c94a2f92dab5ade762a47889a5a1"`)
	text = hint.ReplaceAllString(text, `"hint": "qn_7Jq2v"`)
	names := map[string]string{}
	return uuidText.ReplaceAllStringFunc(text, func(id string) string {
		if names[id] == "" {
			names[id] = fmt.Sprintf("019a9f3c-7d20-7c4e-9b1a-%012d", len(names)+1)
		}
		return names[id]
	})
}

// reshaped gives the operations whose examples differ in more than values, or
// that only one of the two texts has.
func reshaped(t *testing.T, before, now []byte) []string {
	t.Helper()
	var a, b map[string]any
	if err := errors.Join(json.Unmarshal(before, &a), json.Unmarshal(now, &b)); err != nil {
		t.Fatal(err)
	}
	all := maps.Clone(a)
	maps.Copy(all, b)
	return slices.DeleteFunc(slices.Sorted(maps.Keys(all)), func(name string) bool {
		return a[name] != nil && b[name] != nil && shape(a[name]) == shape(b[name])
	})
}

// shape is JSON without its values.
func shape(v any) string {
	var b strings.Builder
	draw(&b, v)
	return b.String()
}

func draw(b *strings.Builder, v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			b.WriteString(key + "{")
			draw(b, v[key])
			b.WriteString("}")
		}
	case []any:
		b.WriteString("[")
		for _, inside := range v {
			draw(b, inside)
		}
		b.WriteString("]")
	default:
		b.WriteString(".")
	}
}
