package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
)

func (e *env) printJSON(v any) error {
	enc := json.NewEncoder(e.out)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// table prints rows for people, or value under --json.
func (e *env) table(value any, header []string, rows [][]string) error {
	if e.json {
		return e.printJSON(value)
	}
	w := tabwriter.NewWriter(e.out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, strings.ToUpper(strings.Join(header, "\t")))
	for _, r := range rows {
		_, _ = fmt.Fprintln(w, strings.Join(r, "\t"))
	}
	return w.Flush()
}
