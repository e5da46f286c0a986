package module

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// PrintTable prints rows for people, or value as JSON for programs.
func PrintTable(out io.Writer, asJSON bool, value any, header []string, rows [][]string) error {
	if asJSON {
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		return enc.Encode(value)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if strings.Join(header, "") != "" {
		_, _ = fmt.Fprintln(w, strings.ToUpper(strings.Join(header, "\t")))
	}
	for _, r := range rows {
		_, _ = fmt.Fprintln(w, strings.Join(r, "\t"))
	}
	return w.Flush()
}
