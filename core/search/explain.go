package search

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// Explainer is an engine that tells how it would answer a request.
type Explainer interface {
	// Explain tells how the engine would run r on t, and what of it the engine
	// refuses. Refusals are part of the plan and no errors. Sources of
	// documents are not loaded.
	Explain(ctx context.Context, t Target, r *Request) (*Plan, error)
}

// Plan is how one engine runs a request: its steps in the order in which they
// happen.
type Plan struct {
	Engine  string    `json:"engine"`
	Note    string    `json:"note,omitempty"` // what the plan does not know
	Refused []Refusal `json:"refused"`        // empty when the request is answered
	Steps   []Step    `json:"steps"`
}

// Refusal is something that an engine does not do, with its path in the JSON of
// the request.
type Refusal struct {
	Path    string `json:"path"`
	Message string `json:"message"`
}

// Step is one thing that an engine does, after the steps that it contains.
type Step struct {
	Path   string   `json:"path,omitempty"`   // of the part of the request
	Role   string   `json:"role,omitempty"`   // in the step around it: "must", or a field
	Clause string   `json:"clause,omitempty"` // its name
	Does   string   `json:"does"`
	Fields []string `json:"fields,omitempty"` // of the index, with their kinds
	// Terms are what the text or pattern stands for in the index; MoreTerms
	// counts those that are not listed.
	Terms     []string `json:"terms,omitempty"`
	MoreTerms int      `json:"moreTerms,omitempty"`
	// Matches counts documents, or objects of a nested path; nil where that
	// means nothing.
	Matches *int64 `json:"matches,omitempty"`
	Steps   []Step `json:"steps,omitempty"`
}

// Node is a part of a parsed request, for people: what it is, and what it was
// understood to say. Options that have their zero value are left out.
type Node struct {
	Role    string   `json:"role,omitempty"` // in its parent, such as "must"
	Clause  string   `json:"clause,omitempty"`
	Path    string   `json:"path,omitempty"`
	Options []Option `json:"options,omitempty"`
	Parts   []*Node  `json:"parts,omitempty"`
}

// Write appends the node and its parts as indented lines.
func (n *Node) Write(b *strings.Builder, indent string) {
	b.WriteString(indent)
	if n.Role != "" {
		b.WriteString(n.Role + ": ")
	}
	b.WriteString(n.Clause)
	for _, o := range n.Options {
		fmt.Fprintf(b, " %s=%s", o.Name, o.Value)
	}
	b.WriteByte('\n')
	for _, p := range n.Parts {
		p.Write(b, indent+"  ")
	}
}

// Option is a property of a Node; the value is as JSON writes it.
type Option struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"`
}

// Describe gives the tree of a parsed request.
func Describe(r *Request) *Node {
	n := &Node{Clause: "search"}
	n.fill(reflect.ValueOf(r).Elem())
	return n
}

// Named is the name of a clause as in the request, with what it stands for where
// that is another one: "query_string (prefix)".
func Named(q Query) string {
	return named(q.Info().Name, reflect.TypeOf(q).Elem().Name())
}

func named(name, kind string) string {
	var b strings.Builder
	for i, c := range kind {
		if upper := c >= 'A' && c <= 'Z'; upper && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(c)
	}
	switch kind = strings.ToLower(b.String()); {
	case kind == name, name == "ids", name == "geo_bounding_box", name == "match_phrase_prefix", name == "match_bool_prefix":
		return name
	}
	return name + " (" + kind + ")"
}

// fill takes over the fields of a struct.
func (n *Node) fill(v reflect.Value) {
	for i := range v.NumField() {
		f, value := v.Type().Field(i), v.Field(i)
		if !f.IsExported() {
			continue
		}
		if c, ok := value.Interface().(Clause); ok && f.Anonymous {
			n.Clause, n.Path = named(c.Name, v.Type().Name()), c.Path
			if c.Boost != 1 {
				n.option("boost", c.Boost)
			}
			continue
		}
		switch {
		case value.IsZero():
		case f.Name == "Path" && value.Kind() == reflect.String:
			n.Path = value.String()
			if n.Clause == "" {
				n.Clause = lastKey(n.Path)
			}
		default:
			n.add(lowerFirst(f.Name), value)
		}
	}
}

// add takes over one value: as a part where it is a struct of its own, else as
// an option.
func (n *Node) add(name string, v reflect.Value) {
	if text, ok := scalar(v); ok {
		n.option(name, text)
		return
	}
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return
		}
		if name == "body" { // of an aggregation, which has the name and the path
			n.fill(v.Elem().Elem())
			return
		}
		if v.Kind() == reflect.Interface {
			v = v.Elem()
		}
		if v.Kind() == reflect.Pointer && v.Elem().Kind() == reflect.Struct {
			n.part(name, v.Elem())
			return
		}
		n.add(name, v.Elem())
	case reflect.Struct:
		n.part(name, v)
	case reflect.Slice:
		for i := range v.Len() {
			n.add(name, v.Index(i))
		}
	default:
		n.option(name, v.Interface())
	}
}

func (n *Node) part(role string, v reflect.Value) {
	p := &Node{Role: role}
	p.fill(v)
	n.Parts = append(n.Parts, p)
}

func (n *Node) option(name string, value any) {
	raw, err := json.Marshal(value)
	if err != nil { // such as an infinite boost, which JSON cannot say
		raw, _ = json.Marshal(fmt.Sprint(value))
	}
	n.Options = append(n.Options, Option{name, raw})
}

// scalar gives what an option says about a value that has no parts.
func scalar(v reflect.Value) (any, bool) {
	switch x := v.Interface().(type) {
	case Value:
		return x.plain(), true
	case *Value:
		return x.plain(), true
	case []Value:
		out := make([]any, len(x))
		for i := range x {
			out[i] = x[i].plain()
		}
		return out, true
	case WeightedField:
		return x.String(), true
	case []WeightedField:
		out := make([]string, len(x))
		for i := range x {
			out[i] = x[i].String()
		}
		return out, true
	case time.Time, fmt.Stringer:
		return fmt.Sprint(x), true
	}
	k := v.Kind()
	if k == reflect.Slice || k == reflect.Array {
		k = v.Type().Elem().Kind()
	}
	return v.Interface(), k != reflect.Struct && k != reflect.Interface && k != reflect.Pointer
}

func (v Value) plain() any {
	switch v.Kind {
	case NullValue:
		return nil
	case StringValue:
		return v.Text
	}
	return json.RawMessage(v.Text)
}

// String is how requests write it: "title^2".
func (f WeightedField) String() string {
	if f.Boost == 1 {
		return f.Name
	}
	return fmt.Sprintf("%s^%g", f.Name, f.Boost)
}

// String is how requests write it: "75%" or "2<-1 9<3".
func (m *Minimum) String() string {
	var words []string
	for _, s := range m.steps {
		word := strconv.Itoa(s.n)
		if s.percent {
			word += "%"
		}
		if s.above >= 0 {
			word = strconv.Itoa(s.above) + "<" + word
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

func lastKey(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }

// lowerFirst spells the name of a field as options are spelled: "slop", "gte".
func lowerFirst(name string) string {
	if strings.ToUpper(name) == name {
		return strings.ToLower(name)
	}
	return strings.ToLower(name[:1]) + name[1:]
}
