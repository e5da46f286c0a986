// Package sorting is what engines have in common when they sort: the values of
// documents for the keys of a sort, and how these stand.
package sorting

import (
	"math"
	"strings"

	"github.com/quoin-cms/quoin/core/search"
)

// Value is the value of a document for a sort key. Its state orders documents
// with a value between those without that come first and last.
type Value struct {
	Text  string
	Num   float64
	State State
}

// State tells what a Value is. Numbers come before strings.
type State int8

// The states, in their order.
const (
	AbsentFirst State = iota
	IsNumber
	IsText
	AbsentLast
)

// Number makes the value of a number.
func Number(n float64) Value { return Value{Num: n, State: IsNumber} }

// Text makes the value of a string.
func Text(s string) Value { return Value{Text: s, State: IsText} }

// Compare orders two values, with desc the greater one first. Absent ones stand
// where their states say, whatever the direction.
func (a *Value) Compare(b *Value, desc bool) int {
	if a.State != b.State {
		c := int(a.State) - int(b.State)
		if desc && a.State != AbsentFirst && a.State != AbsentLast && b.State != AbsentFirst && b.State != AbsentLast {
			return -c
		}
		return c
	}
	c := 0
	switch {
	case a.State == IsText:
		c = strings.Compare(a.Text, b.Text)
	case a.State != IsNumber:
	case a.Num < b.Num:
		c = -1
	case a.Num > b.Num:
		c = 1
	}
	if desc {
		return -c
	}
	return c
}

// infinity is how the distance of a document without a point is written.
const infinity = "Infinity"

// Shown is how a hit shows the value; its text is a copy. whole tells that
// numbers are integers.
func (a *Value) Shown(whole bool) search.SortValue {
	switch a.State {
	case IsText:
		return search.SortValue{Kind: search.StringValue, Text: strings.Clone(a.Text)}
	case IsNumber:
		if math.IsInf(a.Num, 1) {
			return search.SortValue{Kind: search.StringValue, Text: infinity}
		}
		return search.SortValue{Kind: search.NumberValue, Num: a.Num, Whole: whole && a.Num == float64(int64(a.Num))}
	}
	return search.SortValue{}
}
