package cli

import "github.com/quoin-cms/quoin/core/module"

func (e *env) printJSON(v any) error { return module.PrintTable(e.out, true, v, nil, nil) }

// table prints rows for people, or value under --json.
func (e *env) table(value any, header []string, rows [][]string) error {
	return module.PrintTable(e.out, e.json, value, header, rows)
}
