package backup

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/rawjson"
)

var (
	listTables = db.Dual(
		`SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name`,
		`SELECT relname::text FROM pg_catalog.pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace ORDER BY relname::text COLLATE "C"`)
	listColumns = db.Dual(
		`SELECT name, lower(type), pk FROM pragma_table_info(?) ORDER BY name`,
		`SELECT a.attname::text, format_type(a.atttypid, a.atttypmod),
			coalesce((SELECT array_position(i.indkey::int2[], a.attnum) + 1 FROM pg_index i WHERE i.indrelid = a.attrelid AND i.indisprimary), 0)
		FROM pg_attribute a WHERE a.attrelid = to_regclass(?::text) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attname::text COLLATE "C"`)
)

// column is one of a table; primary is its place in the primary key, from 1,
// or 0.
type column struct {
	name, kind string
	primary    int
}

func (c column) text() bool { return c.kind == "text" }

// number reports whether the table numbers its rows in the column.
func (c column) number() bool {
	return c.primary == 1 && (c.kind == "integer" || c.kind == "bigint")
}

func tables(ctx context.Context, d *db.DB) ([]string, error) {
	return db.All(ctx, d, db.Value[string], listTables)
}

// columns gives those of a table, by name.
func columns(ctx context.Context, d *db.DB, table string) ([]column, error) {
	return db.All(ctx, d, func(row db.Row) (c column, err error) {
		err = row.Scan(&c.name, &c.kind, &c.primary)
		return c, err
	}, listColumns, table)
}

func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// selection reads all rows of a table by primary key, which both databases
// sort alike.
func selection(table string, all []column) *db.Statement {
	names := make([]string, len(all))
	var keys, keysC []string
	for i, c := range all {
		names[i] = quote(c.name)
	}
	for place := 1; ; place++ {
		n := len(keys)
		for _, c := range all {
			if c.primary != place {
				continue
			}
			keys = append(keys, quote(c.name))
			if c.text() {
				keysC = append(keysC, quote(c.name)+` COLLATE "C"`)
			} else {
				keysC = append(keysC, quote(c.name))
			}
		}
		if len(keys) == n {
			break
		}
	}
	text := "SELECT " + strings.Join(names, ", ") + " FROM " + quote(table)
	if keys == nil {
		return db.SQL(text)
	}
	return db.Dual(text+" ORDER BY "+strings.Join(keys, ", "), text+" ORDER BY "+strings.Join(keysC, ", "))
}

// insertion writes one row of the columns.
func insertion(table string, names []string) *db.Statement {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = quote(n)
	}
	head := "INSERT INTO " + quote(table) + " (" + strings.Join(quoted, ", ") + ")"
	values := " VALUES (?" + strings.Repeat(", ?", len(names)-1) + ")"
	return db.Dual(head+values, head+" OVERRIDING SYSTEM VALUE"+values)
}

// appendRow writes the values of a row as a JSON array and a line end. Text
// that is not UTF-8, and bytes, are an object with base64.
func appendRow(b []byte, values []any) ([]byte, error) {
	b = append(b, '[')
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		switch v := v.(type) {
		case nil:
			b = append(b, "null"...)
		case int64:
			b = strconv.AppendInt(b, v, 10)
		case int32:
			b = strconv.AppendInt(b, int64(v), 10)
		case bool:
			b = append(b, '0')
			if v {
				b[len(b)-1] = '1'
			}
		case string:
			if !utf8.ValidString(v) {
				b = appendBytes(b, []byte(v))
				continue
			}
			b = rawjson.AppendString(b, v)
		case []byte:
			b = appendBytes(b, v)
		default:
			return nil, fmt.Errorf("a value of the type %T", v)
		}
	}
	return append(b, "]\n"...), nil
}

func appendBytes(b, v []byte) []byte {
	b = append(b, `{"base64":"`...)
	b = base64.StdEncoding.AppendEncode(b, v)
	return append(b, `"}`...)
}

// parseRow is the reverse of appendRow, for columns of the kinds.
func parseRow(line []byte, kinds []string) ([]any, error) {
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	var values []any
	if err := d.Decode(&values); err != nil {
		return nil, fmt.Errorf("a row that is not JSON: %w", err)
	}
	if len(values) != len(kinds) {
		return nil, fmt.Errorf("a row of %d values in a table of %d columns", len(values), len(kinds))
	}
	for i, v := range values {
		converted, err := parseValue(v, kinds[i])
		if err != nil {
			return nil, err
		}
		values[i] = converted
	}
	return values, nil
}

func parseValue(v any, kind string) (any, error) {
	switch v := v.(type) {
	case nil, string:
		return v, nil
	case json.Number:
		n, err := v.Int64()
		if err != nil {
			return nil, err
		}
		if kind == "boolean" {
			return n != 0, nil
		}
		return n, nil
	case map[string]any:
		text, ok := v["base64"].(string)
		if !ok || len(v) != 1 {
			return nil, errors.New("a value that is an object")
		}
		raw, err := base64.StdEncoding.DecodeString(text)
		if err == nil && kind == "text" {
			return string(raw), nil
		}
		return raw, err
	}
	return nil, fmt.Errorf("a value of the type %T", v)
}
