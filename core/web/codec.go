package web

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
)

// unmarshal reads JSON into v, after a check of depth, duplicate keys and
// broken strings. An empty array is an empty object: that is how the PHP
// clients write it.
func unmarshal(data []byte, v any) error {
	if err := rawjson.Check(data, rawjson.Limits{}); err != nil {
		return carried{problem.From(err)}
	}
	err := json.Unmarshal(rawjson.Object(data), v)
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return carried{problem.Field(problem.Invalid, wrong.Field, "expected %s, got %s", wrong.Type, wrong.Value)}
	}
	if err != nil {
		return carried{problem.New(problem.Invalid, "the body is not the JSON that is expected")}
	}
	return nil
}

// carried brings a problem through huma, which keeps nothing of a decoder's
// error but its text.
type carried struct{ *problem.Problem }

// carriedMark cannot begin a message of huma.
const carriedMark = "\x00problem:"

// Error gives the problem as JSON behind the mark.
func (c carried) Error() string {
	p := *c.Problem
	p.Cause = nil // an interface cannot be read back
	text, err := json.Marshal(p)
	if err != nil { // a struct of strings and numbers cannot fail
		return c.Detail
	}
	return carriedMark + string(text)
}

// unpack gives the problem that a text of carried holds, or nil.
func unpack(text string) *problem.Problem {
	p := &problem.Problem{}
	if inner, ok := strings.CutPrefix(text, carriedMark); ok && json.Unmarshal([]byte(inner), p) == nil {
		return p
	}
	return nil
}
