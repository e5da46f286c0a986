package search

import (
	"math"
	"strconv"
	"strings"
)

// ValueKind is the JSON type of a Value.
type ValueKind uint8

// The kinds of values. NullValue is the zero value.
const (
	NullValue ValueKind = iota
	StringValue
	NumberValue
	BoolValue
)

// Value is a JSON scalar of a request. Text is the string, the literal of the
// number as it was written, or "true" or "false".
type Value struct {
	Kind ValueKind
	Text string
	Num  float64 // for NumberValue
}

// String makes a string value.
func String(s string) Value { return Value{Kind: StringValue, Text: s} }

// Number reads the value as a finite number: a number, or a string that
// spells one.
func (v Value) Number() (float64, bool) {
	switch v.Kind {
	case NumberValue:
		return v.Num, true
	case StringValue:
		f, err := strconv.ParseFloat(strings.TrimSpace(v.Text), 64)
		return f, err == nil && !math.IsInf(f, 0) && !math.IsNaN(f)
	}
	return 0, false
}

// Bool reads the value as a boolean: true, false, their spellings, or the
// empty string, which is false.
func (v Value) Bool() (value, ok bool) {
	if v.Kind != BoolValue && v.Kind != StringValue {
		return false, false
	}
	switch v.Text {
	case "true":
		return true, true
	case "false", "":
		return false, true
	}
	return false, false
}
