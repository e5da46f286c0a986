package conf

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// JSON turns one YAML document into JSON, for files that people write and
// others read as JSON, such as content types. Keys keep their order. Numbers
// keep their digits when JSON allows them; dates stay text. Nothing is
// expanded. Refused, all at once with name and line: duplicate keys, keys that
// are not text, aliases, tags of other types, NaN and infinity, more than 64
// levels. An empty document is null.
func JSON(name string, text []byte) ([]byte, error) {
	c := converter{name: name}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document, more yaml.Node
	switch err := decoder.Decode(&document); {
	case errors.Is(err, io.EOF):
		c.out.WriteString("null")
	case err != nil:
		line, message := yamlLine(err)
		c.finding(line, "", "%s", message)
	default:
		c.node(&document, "", 0)
		if err := decoder.Decode(&more); !errors.Is(err, io.EOF) {
			c.finding(more.Line, "", "more than one YAML document")
		}
	}
	if err := asError(c.findings); err != nil {
		return nil, err
	}
	return c.out.Bytes(), nil
}

type converter struct {
	name     string
	out      bytes.Buffer
	findings []Finding
}

func (c *converter) finding(line int, path, format string, args ...any) {
	c.findings = append(c.findings, Finding{Path: path, Origin: Origin{Name: c.name, Line: line}, Message: fmt.Sprintf(format, args...)})
}

func (c *converter) node(y *yaml.Node, path string, depth int) {
	if depth > maxDepth {
		c.finding(y.Line, path, "nested deeper than %d levels", maxDepth)
		return
	}
	switch y.Kind {
	case yaml.DocumentNode:
		c.node(y.Content[0], path, depth)
	case yaml.MappingNode:
		c.mapping(y, path, depth)
	case yaml.SequenceNode:
		c.out.WriteByte('[')
		for i, item := range y.Content {
			if i > 0 {
				c.out.WriteByte(',')
			}
			c.node(item, fmt.Sprintf("%s[%d]", path, i), depth+1)
		}
		c.out.WriteByte(']')
	case yaml.ScalarNode:
		c.scalar(y, path)
	default:
		c.finding(y.Line, path, "aliases (*%s) are not read here; write the value out", y.Value)
	}
}

func (c *converter) mapping(y *yaml.Node, path string, depth int) {
	seen := make(map[string]bool, len(y.Content)/2)
	c.out.WriteByte('{')
	for i := 0; i+1 < len(y.Content); i += 2 {
		key := y.Content[i]
		at := joinPath(path, key.Value)
		if key.Kind != yaml.ScalarNode || key.ShortTag() == "!!merge" {
			c.finding(key.Line, path, "a key must be a plain name")
			continue
		}
		if seen[key.Value] {
			c.finding(key.Line, at, "given twice")
		}
		if len(seen) > 0 {
			c.out.WriteByte(',')
		}
		seen[key.Value] = true
		c.text(key.Value)
		c.out.WriteByte(':')
		c.node(y.Content[i+1], at, depth+1)
	}
	c.out.WriteByte('}')
}

func (c *converter) text(s string) {
	encoder := json.NewEncoder(&c.out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(s)           // a string always encodes, into memory
	c.out.Truncate(c.out.Len() - 1) // its newline
}

func (c *converter) scalar(y *yaml.Node, path string) {
	switch y.ShortTag() {
	case "!!str", "!!timestamp":
		c.text(y.Value)
	case "!!null":
		c.out.WriteString("null")
	case "!!bool":
		var b bool
		if err := y.Decode(&b); err != nil {
			c.finding(y.Line, path, "is not true or false")
		}
		c.out.WriteString(strconv.FormatBool(b))
	case "!!int", "!!float":
		c.number(y, path)
	default:
		c.finding(y.Line, path, "the tag %s has no meaning here", y.Tag)
	}
}

func (c *converter) number(y *yaml.Node, path string) {
	if strings.Trim(y.Value, "0123456789+-.eE") == "" && json.Valid([]byte(y.Value)) { // behind a tag may stand other JSON
		c.out.WriteString(y.Value)
		return
	}
	var whole int64
	if y.Decode(&whole) == nil && y.ShortTag() == "!!int" {
		c.out.WriteString(strconv.FormatInt(whole, 10))
		return
	}
	var f float64
	if err := y.Decode(&f); err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		c.finding(y.Line, path, "%q is not a number that JSON has", y.Value)
		return
	}
	c.out.WriteString(strconv.FormatFloat(f, 'g', -1, 64))
}
