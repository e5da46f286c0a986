package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/quoin-cms/quoin/sdk/plugin"
	"github.com/quoin-cms/quoin/sdk/plugintest"
)

// TestMain lets the test program be the process that reads a PDF.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == reader {
		os.Exit(readPDF(os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

const config = `{"fields":[{"type":"report","file":"pdf","text":"pdf_text"}]}`

func start(t *testing.T, options ...plugintest.Option) *plugintest.Host {
	return plugintest.Start(t, build(), append(options, plugintest.WithConfig(config))...)
}

func put(h *plugintest.Host, file []byte) string {
	return fmt.Sprintf(`{"sha1":%q,"filename":"a.PDF"}`, h.PutFile(file))
}

func finalized(h *plugintest.Host, ouuid string) error {
	return h.Event(plugin.Event{ID: 1, Type: "content.finalize", Subject: "report:" + ouuid, Data: fmt.Appendf(nil, `{"content_type":"report","ouuid":%q}`, ouuid)})
}

// textIn gives the text that a document has got.
func textIn(t *testing.T, h *plugintest.Host, ouuid string) string {
	t.Helper()
	var d struct {
		Text string `json:"pdf_text"`
	}
	if err := json.Unmarshal(h.Document("report", ouuid), &d); err != nil {
		t.Fatal(err)
	}
	return d.Text
}

func TestAFinalizedDocumentGetsTheTextOfItsFile(t *testing.T) {
	h := start(t, plugintest.WithDocument("report", "none", `{"title":"x"}`))
	set := func(ouuid, file string) { plugintest.WithDocument("report", ouuid, `{"pdf":`+file+`}`)(h) }
	set("one", put(h, simple("The text of one")))
	set("both", "["+put(h, simple("First"))+","+put(h, simple("Second"))+`,{"sha1":"x","filename":"a.png"}]`)
	set("broken", put(h, []byte("%PDF-1.7 or so")))
	set("gone", `{"sha1":"0000","filename":"a.pdf"}`)
	for ouuid, want := range map[string]string{"one": "The text of one", "both": "First\n\nSecond", "broken": "", "gone": "", "none": ""} {
		if err := finalized(h, ouuid); err != nil {
			t.Fatalf("%s: %v", ouuid, err)
		}
		if got := textIn(t, h, ouuid); got != want {
			t.Errorf("%s has got %q, want %q", ouuid, got, want)
		}
	}
	if err := finalized(h, "deleted"); err != nil {
		t.Errorf("a document that is not there: %v", err)
	}

	// Its own event ends there: what a person made of the text stays.
	plugintest.WithDocument("report", "one", strings.Replace(string(h.Document("report", "one")), "The text", "My text", 1))(h)
	if err := finalized(h, "one"); err != nil || textIn(t, h, "one") != "My text of one" {
		t.Errorf("the text was written again: %q, %v", textIn(t, h, "one"), err)
	}
	set("one", put(h, simple("Another file")))
	if err := finalized(h, "one"); err != nil || textIn(t, h, "one") != "Another file" {
		t.Errorf("another file gives %q, %v", textIn(t, h, "one"), err)
	}
	plugintest.WithDocument("report", "one", `{"pdf_text":"Another file"}`)(h)
	if err := finalized(h, "one"); err != nil || textIn(t, h, "one") != "" {
		t.Errorf("no file gives %q, %v", textIn(t, h, "one"), err)
	}
}

func TestRunWritesAllTexts(t *testing.T) {
	var asked int
	h := start(t, plugintest.WithSearch(func(q json.RawMessage) (json.RawMessage, error) {
		asked++
		if !strings.Contains(string(q), "search_after") {
			var hits []string
			for range page {
				hits = append(hits, `{"_id":"a"}`)
			}
			return json.RawMessage(`{"hits":{"total":{"value":102},"hits":[` + strings.Join(hits, ",") + `]}}`), nil
		}
		return json.RawMessage(`{"hits":{"total":{"value":102},"hits":[{"_id":"b"},{"_id":"c"}]}}`), nil
	}))
	for _, ouuid := range []string{"a", "b"} {
		plugintest.WithDocument("report", ouuid, `{"pdf":`+put(h, simple("text "+ouuid))+`}`)(h)
	}
	lines, err := h.Command("run")
	if err != nil || asked != 2 || textIn(t, h, "a") != "text a" || textIn(t, h, "b") != "text b" {
		t.Errorf("%d searches, %q, %v", asked, lines, err)
	}
	if n := len(lines); n != 3 || lines[0] != "report: 100 of 102 looked at, 1 texts written, 0 failed" ||
		!strings.HasPrefix(lines[1], "report:c: ") || lines[2] != "report: 102 of 102 looked at, 2 texts written, 1 failed" {
		t.Errorf("it says %q", lines)
	}
	if _, err := h.Command("run", "page"); err == nil || !strings.Contains(err.Error(), "content type of the settings") {
		t.Errorf("a type that is not known: %v", err)
	}
}

func TestSettingsAreChecked(t *testing.T) {
	h := start(t)
	for given, want := range map[string]string{
		`{"fields":[{"type":"a","file":"b","text":""}]}`:  "fields[0].text: is empty",
		`{"fields":[{"type":"a","file":"b","text":"b"}]}`: "fields[0].text: must be another field",
		`{"field":[]}`: "field: is not known",
	} {
		if err := h.Configure(given); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gives %v", given, err)
		}
	}
}

// hostile are files that are made to break who reads them.
func hostile() map[string][]byte {
	whole := simple("Hello world")
	form := strings.Repeat("/X Do ", 100)
	return map[string][]byte{
		"empty":             {},
		"not a PDF":         []byte("<html>"),
		"cut off":           whole[:len(whole)/2],
		"no end":            whole[:len(whole)-10],
		"pages of pages":    makePDF(object{dict: catalog}, object{dict: "/Type/Pages/Count 1000000000/Kids[2 0 R]"}),
		"a billion pages":   makePDF(object{dict: catalog}, object{dict: "/Type/Pages/Count 1000000000000/Kids[]"}),
		"table before":      []byte("%PDF-1.7\nxref\n0 1\n0000000000 65535 f \ntrailer\n<</Size 1/Prev 9>>\nstartxref\n9\n%%EOF\n"),
		"a large table":     []byte("%PDF-1.7\nxref\n0 1000000000000\n0000000000 65535 f \ntrailer\n<</Size 1000000000000>>\nstartxref\n9\n%%EOF\n"),
		"deep":              pagesOf("", []string{strings.Repeat("[", 10_000_000) + " TJ"}),
		"bomb":              pagesOf("", []string{"BT /F1 1 Tf " + strings.Repeat("(aaaaaaaaaaaaaaaaaaaaaaaa) Tj ", 2_000_000) + "ET"}),
		"endless operands":  pagesOf("", []string{strings.Repeat("1 ", 20_000_000)}),
		"forms in forms":    pagesOf("/XObject<</X 6 0 R>>", []string{form}, object{dict: "/Subtype/Form", stream: form}),
		"length is itself":  makePDF(object{dict: catalog}, object{dict: "/Length 2 0 R/Type/Pages/Count 1/Kids[3 0 R]"}, object{dict: "/Type/Page/Contents 2 0 R"}),
		"parent of itself":  makePDF(object{dict: catalog}, object{dict: "/Type/Pages/Count 1/Kids[3 0 R]"}, object{dict: "/Type/Page/Parent 3 0 R/Contents 4 0 R"}, object{stream: "BT (x) Tj ET"}),
		"numbers too large": pagesOf("", []string{"BT /F1 1e308 Tf 1e308 0 0 1e308 0 0 Tm (x) Tj 1e308 1e308 Td (y) Tj ET"}),
	}
}

// readFor reads a file apart, in not much time.
func readFor(t *testing.T, data []byte) (string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.pdf")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	text, err := readApart(t.Context(), file, 500*time.Millisecond)
	if err != nil && !errors.As(err, new(*unreadable)) {
		t.Errorf("%v is no reason to have no text", err)
	}
	if len(text) > maxText || !utf8.ValidString(text) || err != nil && text != "" {
		t.Errorf("%d bytes of text, %v", len(text), err)
	}
	return text, err
}

// A hostile file is one without a text, and soon: neither the plugin nor the
// machine suffers.
func TestHostileFiles(t *testing.T) {
	for name, data := range hostile() {
		t.Run(name, func(t *testing.T) {
			text, err := readFor(t, data)
			t.Logf("%d bytes, %v", len(text), err)
		})
	}
}

func TestAFileThatIsTooLargeHasNoText(t *testing.T) {
	h := start(t)
	plugintest.WithDocument("report", "large", `{"pdf":`+put(h, make([]byte, maxFile+1))+`,"pdf_text":"old"}`)(h)
	if err := finalized(h, "large"); err != nil || textIn(t, h, "large") != "" {
		t.Errorf("it has %q, %v", textIn(t, h, "large"), err)
	}
}

// FuzzRead looks for files and content on which the reader does anything but
// answer in time.
func FuzzRead(f *testing.F) {
	f.Add(true, []byte("BT /F1 10 Tf 12 TL 1 0 0 1 72 700 Tm [(in) -300 (side)] TJ T* (b) ' 1 2 (c) \" ET"))
	f.Add(true, []byte("q 1 0 0 1 0 100 cm /X Do Q /X Do BT /F1 1 Tf 50 Tz 1 Tc 2 Tw 1 2 TD <41> Tj ET"))
	f.Add(true, []byte("BT /F1 10 Tf (no end"))
	f.Add(false, simple("Hello world", "again"))
	f.Fuzz(func(t *testing.T, content bool, data []byte) {
		if content {
			data = pagesOf("/Font<</F1 3 0 R>>/XObject<</X 6 0 R>>", []string{string(data)}, object{dict: "/Subtype/Form/Matrix[2 0 0 2 1 1]", stream: "BT /F1 10 Tf (x) Tj ET"})
		}
		_, _ = readFor(t, data)
	})
}
