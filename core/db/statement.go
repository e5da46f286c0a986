package db

import (
	"strconv"
	"strings"
)

// Statement is a SQL text that is prepared once per connection and stays so.
// Make them as package variables of a store, or of a few texts: each text that
// was ever used stays prepared.
type Statement struct {
	sqlite   string
	postgres string
	key      any  // the text of SQLite, by which what was prepared is found
	writes   bool // anything but a plain SELECT
}

// SQL makes a statement from text that both engines understand, with ? for
// arguments.
func SQL(text string) *Statement { return Dual(text, text) }

// Dual makes a statement whose text differs between the engines. Only core
// packages may need it.
func Dual(sqlite, postgres string) *Statement {
	text := orFail(sqlite)
	return &Statement{sqlite: text, postgres: numbered(postgres), key: text, writes: !strings.HasPrefix(strings.ToUpper(strings.TrimSpace(sqlite)), "SELECT")}
}

// orFail spares SQLite a copy of every page that a statement touches: it needs
// them to undo a statement that fails half way. Ours need not be undone alone,
// because a transaction with a failed statement is never committed.
func orFail(text string) string {
	text = strings.TrimSpace(text)
	if rest, ok := strings.CutPrefix(text, "INSERT INTO "); ok {
		return "INSERT OR FAIL INTO " + rest
	}
	if rest, ok := strings.CutPrefix(text, "UPDATE "); ok && !strings.HasPrefix(rest, "OR ") {
		return "UPDATE OR FAIL " + rest
	}
	return text
}

// numbered turns ? into $1, $2 … outside quotes.
func numbered(text string) string {
	var b strings.Builder
	n, quoted := 0, false
	for _, r := range text {
		switch {
		case r == '\'':
			quoted = !quoted
		case r == '?' && !quoted:
			n++
			b.WriteString("$" + strconv.Itoa(n))
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
