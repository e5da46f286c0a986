package mcp

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/rawjson"
)

func FuzzPeek(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `[{"id":null},7,"x",[]]`, `{"id":"abc.7","result":{}}`, `{"id":"a.-1e5","error":1}`,
		`{"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":7}}}`, `[`, ``, `{"id":{"a":1},"method":3}`, `{"id":".","result":0}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		messages, _, err := peek(body)
		if err != nil {
			return
		}
		for i := range messages {
			m := &messages[i]
			if m.id != nil && !json.Valid(m.id) {
				t.Fatalf("id %q", m.id)
			}
			if process, plain := unmark(m); process != "" && !json.Valid(plain) {
				t.Fatalf("unmarked %q", plain)
			}
			w := httptest.NewRecorder()
			fail(w, 400, m.id, codeInvalidRequest, "no")
			if !json.Valid(w.Body.Bytes()) {
				t.Fatalf("%s", w.Body)
			}
		}
	})
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":7,"method":"elicitation/create"}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":7,"result":{"a":"\u2028data: x"}}`))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if !json.Valid(data) || len(data) < 2 || data[0] != '{' || bytes.ContainsAny(data, "\r\n") {
			return
		}
		w := httptest.NewRecorder()
		a := &answer{ResponseWriter: w, process: "p"}
		a.Header().Set("Content-Type", "text/event-stream")
		whole := append(append([]byte("event: message\nid: s_1\ndata: "), data...), "\n\n"...)
		if n, err := a.Write(whole); err != nil || n != len(whole) {
			t.Fatalf("%d %v", n, err)
		}
		a.finish()
		_, sent, _ := parseEvent(w.Body.Bytes())
		if !json.Valid(sent) {
			t.Fatalf("%q became %q", data, sent)
		}
	})
}

func TestQuestionsAreMarked(t *testing.T) {
	a := &answer{process: "p"}
	for sent, want := range map[string]string{
		`{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{}}`:                          `{"jsonrpc":"2.0","id":"p.7","method":"elicitation/create","params":{}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"reason":"no","requestId":7}}`: `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"reason":"no","requestId":"p.7"}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7}}`:            "",
		`{"jsonrpc":"2.0","method":"notifications/cancelled"}`:                                        "",
		`{"jsonrpc":"2.0","id":7,"result":{"method":"elicitation/create","params":{"requestId":7}}}`:  "",
	} {
		if got := string(a.mark([]byte(sent))); got != want {
			t.Errorf("%s became %s", sent, got)
		}
	}
}

func FuzzVerify(f *testing.F) {
	at := time.Unix(1_800_000_000, 0) // the same in every process that fuzzes
	s := &Service{secret: []byte("secret"), now: func() time.Time { return at }}
	good := s.sign(release{Tool: "finalize", Until: at.Add(time.Hour).Unix()})
	f.Add(good)
	f.Add(good + "x")
	f.Add(good + "\n")
	for _, last := range "ABCDwxyz0189-_" {
		f.Add(good[:len(good)-1] + string(last)) // base64 may write the same bytes so
	}
	f.Add(".")
	f.Add("e30.e30")
	f.Fuzz(func(t *testing.T, state string) {
		if _, err := s.verify(state); err == nil && state != good {
			t.Fatalf("%q was taken", state)
		}
		if _, ok := s.unseal(state); ok && state != good {
			t.Fatalf("%q was unsealed", state)
		}
	})
}

func FuzzDifferences(f *testing.F) {
	f.Add([]byte(`{"a":1,"b":[1,2]}`), []byte(`{"a":2,"b":[1],"c":{}}`))
	f.Add([]byte(`{"a":{"b":null}}`), []byte(`{"a":{}}`))
	f.Fuzz(func(t *testing.T, before, after []byte) {
		if rawjson.CheckObject(before, rawjson.Limits{}) != nil {
			return
		}
		if rawjson.CheckObject(after, rawjson.Limits{}) != nil {
			return
		}
		list := differences(&port.Revision{Raw: before}, &port.Revision{Raw: after})
		if _, err := json.Marshal(list); err != nil {
			t.Fatal(err)
		}
		_ = readableDiff(list)
		if same := differences(&port.Revision{Raw: after}, &port.Revision{Raw: after}); len(same) > 0 {
			t.Fatalf("%s differs from itself: %v", after, same)
		}
	})
}

func TestNamesOfToolsFit(t *testing.T) {
	long := string(bytes.Repeat([]byte("x"), 100))
	for _, prefix := range []string{reading.document, reading.short, saving.document, saving.short} {
		a, b := toolName(prefix, long), toolName(prefix, long[:99]+"y")
		if len(a) > longestName || a == b || !contributedName.MatchString(a) {
			t.Errorf("%s %s", a, b)
		}
	}
}

func TestDifferencesAreShownInOrder(t *testing.T) {
	list := differences(
		&port.Revision{Raw: []byte(`{"title":"A","tags":["x","y"],"gone":1,"_sha1":"1","n":{"a":1.0}}`)},
		&port.Revision{Raw: []byte(`{"title":"B","tags":["x"],"new":{"k":[]},"_sha1":"2","n":{"a":1.0}}`)})
	want := "- title: \"A\"\n+ title: \"B\"\n- tags[1]: \"y\"\n+ new: {\"k\":[]}\n- gone: 1"
	if got := readableDiff(list); got != want {
		t.Errorf("%s", got)
	}
}
