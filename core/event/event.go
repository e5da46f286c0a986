package event

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Event is something that happened. It is never changed.
type Event struct {
	// ID is unique in the installation and never used again. Ids say little
	// about order: processes take them in blocks.
	ID int64 `json:"id"`
	// Type is a name such as content.published.live (spec.md 6.2).
	Type string `json:"type"`
	// Subject is what it happened to, such as page:d9gzcokBTbVbdHDC6n5N; it may
	// be empty.
	Subject string `json:"subject"`
	// Data is the JSON value that the type promises; null when there is none.
	Data json.RawMessage `json:"data"`
	// At is when it happened, to the microsecond; the time of Emit if not set.
	At time.Time `json:"at"`
	// Actor is who made it happen, and RequestID in which request; both may be
	// empty.
	Actor     string `json:"actor"`
	RequestID string `json:"request_id"`
	// Trace is where in a trace it happened (telemetry.TraceParent); Emit takes
	// it from its context. Empty when there was none.
	Trace string `json:"trace,omitempty"`
}

// Type describes a type of event to those who subscribe. Modules declare the
// types they emit.
type Type struct {
	// Name may hold placeholders: content.published.<environment>.
	Name string `json:"name"`
	// Doc is a sentence: when it is emitted.
	Doc string `json:"doc"`
	// Sample is the data of one such event.
	Sample json.RawMessage `json:"sample"`
	// Schema is the JSON Schema (2020-12) of the data.
	Schema json.RawMessage `json:"schema"`
	// Roles are alternatives, one of which people need to be told of such events;
	// empty for all who may use the API. Types that are Internal, and events about
	// documents, have rules of their own.
	Roles []string `json:"roles,omitempty"`
}

// Catalogue checks types that were declared and sorts them by name; the error
// names every one that lacks something or is there twice.
func Catalogue(declared []Type) ([]Type, error) {
	var errs []error
	types := slices.Clone(declared)
	slices.SortFunc(types, func(a, b Type) int { return strings.Compare(a.Name, b.Name) })
	for i, t := range types {
		switch {
		case checkName(t.Name) != nil:
			errs = append(errs, fmt.Errorf("event type %q: %w", t.Name, checkName(t.Name)))
		case i > 0 && types[i-1].Name == t.Name:
			errs = append(errs, fmt.Errorf("event type %q is declared twice", t.Name))
		case t.Doc == "":
			errs = append(errs, fmt.Errorf("event type %q has no description", t.Name))
		case !json.Valid(t.Sample):
			errs = append(errs, fmt.Errorf("event type %q has no sample that is JSON", t.Name))
		case !json.Valid(t.Schema):
			errs = append(errs, fmt.Errorf("event type %q has no JSON Schema", t.Name))
		}
	}
	return types, errors.Join(errs...)
}

// maxName bounds the names of types, subjects and subscribers, in bytes.
const maxName = 512

// checkName tells what is wrong with the name of a type.
func checkName(name string) error {
	switch {
	case name == "":
		return errors.New("the name is empty")
	case len(name) > maxName:
		return fmt.Errorf("the name is longer than %d bytes", maxName)
	case strings.Contains(name, "*"):
		return errors.New("the name holds a *")
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool {
		return unicode.IsControl(r) || unicode.IsSpace(r) || r == unicode.MaxRune
	}):
		return errors.New("the name holds a space or a control character")
	}
	return nil
}

// Match tells whether a pattern fits a type: the same text, or a prefix that
// ends in *.
func Match(pattern, name string) bool {
	prefix, open := strings.CutSuffix(pattern, "*")
	return pattern == name || open && strings.HasPrefix(name, prefix)
}

// bounds gives the first and the last name that a pattern fits, in the order
// of bytes. checkName keeps the last rune there is out of names.
func bounds(pattern string) (low, high string) {
	prefix, open := strings.CutSuffix(pattern, "*")
	if open {
		return prefix, prefix + string(unicode.MaxRune)
	}
	return pattern, pattern
}

// checkPattern tells what is wrong with a pattern.
func checkPattern(pattern string) error {
	prefix, open := strings.CutSuffix(pattern, "*")
	if open && prefix == "" {
		return nil // everything
	}
	if err := checkName(prefix); err != nil {
		return fmt.Errorf("pattern %q: %w", pattern, err)
	}
	return nil
}

func matchAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return Match(p, name) })
}
