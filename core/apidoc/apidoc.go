package apidoc

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the template and the style
	"encoding/base64"
	"encoding/json"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

//go:embed page.html
var pageText string

//go:embed style.css
var style string

// Site is a set of pages. Its pages are by the names of the modules, the
// overview under "".
type Site struct {
	Pages map[string][]byte
	// Policy is the Content-Security-Policy under which the pages work: they
	// run no scripts and load nothing, their style is part of them.
	Policy string
}

// page is what the template shows: the overview, or the operations of Module.
type page struct {
	Title, Version, About string
	Style                 template.CSS
	Module                string
	Modules               []entry
	Operations            []*shown
}

// entry is a module in the list of all.
type entry struct {
	Name, Summary string
	Operations    []*operation
}

// shown is an operation with what the template needs ready.
type shown struct {
	*operation
	Curl     string
	Request  []body
	Answer   []body
	Statuses []status
}

type body struct {
	Type, Whole, Doc, Example string
	Fields                    []field
}

type status struct{ Code, Text string }

// Render makes the pages of an API document (OpenAPI 3.1, JSON), in which
// x-modules describes the modules and x-module names that of each operation.
func Render(doc []byte) (*Site, error) {
	d, modules, err := read(doc)
	if err != nil {
		return nil, err
	}
	t, err := template.New("page").Parse(pageText)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(style))
	site := &Site{
		Pages:  map[string][]byte{},
		Policy: "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
	}
	all := page{Title: d.Info.Title, Version: d.Info.Version, About: d.Info.Description, Style: template.CSS(style)} //nolint:gosec // our own file
	for _, name := range slices.Sorted(maps.Keys(modules)) {
		all.Modules = append(all.Modules, entry{name, d.Modules[name], modules[name]})
	}
	for _, name := range append([]string{""}, slices.Sorted(maps.Keys(modules))...) {
		p := all
		p.Module = name
		for _, o := range modules[name] {
			p.Operations = append(p.Operations, d.show(o))
		}
		var b bytes.Buffer
		if err := t.Execute(&b, p); err != nil {
			return nil, err
		}
		site.Pages[name] = b.Bytes()
	}
	return site, nil
}

func (d *document) show(o *operation) *shown {
	s := &shown{operation: o, Curl: curl(o)}
	s.Request = d.bodies(o.RequestBody.Content)
	for _, code := range slices.Sorted(maps.Keys(o.Responses)) {
		n, _ := strconv.Atoi(code) // "default" has no text
		if n >= 200 && n < 300 {
			s.Answer = append(s.Answer, d.bodies(o.Responses[code].Content)...)
			continue
		}
		s.Statuses = append(s.Statuses, status{code, http.StatusText(n)})
	}
	return s
}

func (d *document) bodies(content map[string]media) []body {
	var all []body
	for _, kind := range slices.Sorted(maps.Keys(content)) {
		m := content[kind]
		all = append(all, body{Type: kind, Whole: d.typeOf(m.Schema), Doc: d.about(m.Schema), Example: readable(m.Example), Fields: d.fields(m.Schema)})
	}
	return all
}

// Kind is the type of a parameter.
func (p parameter) Kind() string { return (&document{}).typeOf(p.Schema) }

// About is the description of a parameter with its bounds.
func (p parameter) About() string {
	bounds := (&document{}).about(p.Schema)
	if p.Description == "" || strings.HasPrefix(bounds, p.Description) {
		return bounds
	}
	return strings.TrimSuffix(p.Description+"; "+bounds, "; ")
}

// readable is an example as people read it: JSON on several lines, text as it
// is.
func readable(example json.RawMessage) string {
	var text string
	if len(example) == 0 {
		return ""
	}
	if json.Unmarshal(example, &text) == nil {
		return text
	}
	var b bytes.Buffer
	if json.Indent(&b, example, "", "  ") != nil {
		return string(example)
	}
	return b.String()
}

// curl is the command that makes the call of the example.
func curl(o *operation) string {
	path, query := o.Path, ""
	for _, p := range o.Parameters {
		value := readable(p.Example)
		switch {
		case value == "":
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", value)
		case p.In == "query":
			query += "&" + p.Name + "=" + value
		}
	}
	if query != "" {
		path += "?" + query[1:]
	}
	parts := []string{"curl"}
	kind, example := "", ""
	for k, m := range o.RequestBody.Content {
		kind, example = k, readable(m.Example)
		var flat bytes.Buffer
		if json.Compact(&flat, []byte(example)) == nil {
			example = flat.String()
		}
	}
	if o.Method != http.MethodGet && (o.Method != http.MethodPost || example == "" || kind == "multipart/form-data") {
		parts = append(parts, "-X "+o.Method)
	}
	parts = append(parts, quote("$QUOIN"+path))
	if o.Roles != nil {
		parts = append(parts, `-H "X-Auth-Token: $TOKEN"`)
	}
	switch {
	case kind == "multipart/form-data":
		parts = append(parts, "-F upload=@file")
	case kind == "application/octet-stream":
		parts = append(parts, "--data-binary @file")
	case example != "":
		parts = append(parts, "\\\n  -d '"+strings.ReplaceAll(example, "'", `'\''`)+"'")
	}
	return strings.Join(parts, " ")
}

// quote protects an address from the shell where that is needed.
func quote(address string) string {
	if strings.ContainsAny(address, "&?*{}()<>; ") {
		return `"` + address + `"`
	}
	return address
}
