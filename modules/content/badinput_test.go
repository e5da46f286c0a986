package content_test

import (
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/rawjson"
)

// clean fails when an answer tells what only the log may know.
func clean(t *testing.T, a *answer) {
	t.Helper()
	text := string(rawjson.Without(nil, a.body, "instance")) // random letters
	for _, word := range []string{"SELECT ", "INSERT ", "UPDATE content", "content_revision", "goroutine ", ".go:", "sqlite", "SQLSTATE", "pgx", "panic", "constraint", "json.", "content."} {
		if strings.Contains(text, word) {
			t.Errorf("%s: the answer tells of %q: %s", a.call, word, a.body)
		}
	}
}

// refused checks that an answer is an error in the form of the API.
func refused(t *testing.T, a *answer, status int) {
	t.Helper()
	if a.status != status {
		t.Errorf("%s: %d, want %d: %s", a.call, a.status, status, a.body)
	}
	if got := a.header.Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("%s: Content-Type %s: %s", a.call, got, a.body)
	}
	a.has("success", "false", "acknowledged", "true")
	for _, key := range []string{"type", "title", "detail", "status", "instance"} {
		if a.raw(key) == "" {
			t.Errorf("%s: no %s: %s", a.call, key, a.body)
		}
	}
	messages := []byte(a.raw("error"))
	it := rawjson.Iterate(messages)
	if rawjson.KindOf(messages) != rawjson.Array || !it.Next() || rawjson.KindOf(it.Value()) != rawjson.Text {
		t.Errorf("%s: error is no array of sentences: %s", a.call, a.body)
	}
	clean(t, a)
}
