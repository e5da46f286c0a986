package analysis

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// options are the JSON options of a configured entity. Reading one that is no
// such thing notes the first error; options nobody read are an error too.
type options struct {
	what string // for errors: filter "french_stop"
	m    map[string]any
	used []string
	err  error
}

func readOptions(what string, raw json.RawMessage) (*options, error) {
	o := &options{what: what, used: []string{"type", "version"}}
	if err := json.Unmarshal(raw, &o.m); err != nil {
		if string(raw) == "[]" {
			return o, nil
		}
		return nil, fmt.Errorf("%s: the options are no JSON object", what)
	}
	return o, nil
}

func (o *options) fail(format string, args ...any) {
	if o.err == nil {
		o.err = fmt.Errorf("%s: %s", o.what, fmt.Sprintf(format, args...))
	}
}

func (o *options) get(name string) (any, bool) {
	o.used = append(o.used, name)
	v, ok := o.m[name]
	return v, ok && v != nil
}

// done gives the first error.
func (o *options) done() error {
	for name, v := range o.m {
		if v != nil && !slices.Contains(o.used, name) {
			o.fail("the option %q is not supported", name)
		}
	}
	return o.err
}

func (o *options) text(name, fallback string) string {
	v, ok := o.get(name)
	if !ok {
		return fallback
	}
	s, ok := v.(string)
	if !ok {
		o.fail("%s must be a string", name)
	}
	return s
}

func (o *options) number(name string, fallback, least, most int) int {
	v, ok := o.get(name)
	if !ok {
		return fallback
	}
	f, ok := v.(float64)
	if s, isText := v.(string); isText {
		n, err := strconv.Atoi(s)
		f, ok = float64(n), err == nil
	}
	if !ok || f != float64(int(f)) || int(f) < least || int(f) > most {
		o.fail("%s must be an integer between %d and %d", name, least, most)
		return fallback
	}
	return int(f)
}

func (o *options) flag(name string, fallback bool) bool {
	v, ok := o.get(name)
	if !ok {
		return fallback
	}
	switch v := v.(type) {
	case bool:
		return v
	case string:
		if b, err := strconv.ParseBool(v); err == nil {
			return b
		}
	}
	o.fail("%s must be true or false", name)
	return fallback
}

// list reads an array of strings, or one string with commas.
func (o *options) list(name string) []string {
	v, ok := o.get(name)
	if !ok {
		return nil
	}
	switch v := v.(type) {
	case string:
		parts := strings.Split(v, ",")
		for i := range parts {
			parts[i] = strings.TrimSpace(parts[i])
		}
		return parts
	case []any:
		out := make([]string, 0, len(v))
		for _, e := range v {
			s, ok := e.(string)
			if !ok {
				o.fail("%s must be an array of strings", name)
				return nil
			}
			out = append(out, s)
		}
		return out
	}
	o.fail("%s must be an array of strings", name)
	return nil
}

func (o *options) expression(name, fallback string) *regexp.Regexp {
	re, err := regexp.Compile(o.text(name, fallback))
	if err != nil {
		o.fail("%s is no regular expression", name)
		return regexp.MustCompile(`\z.`)
	}
	return re
}
