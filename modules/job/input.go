package job

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
)

// text reads a member that is a string; null counts as absent.
func text(raw []byte, path, key string) (s string, given bool, err error) {
	v, ok := rawjson.Get(raw, key)
	if !ok || rawjson.KindOf(v) == rawjson.Null {
		return "", false, nil
	}
	if s, ok = rawjson.String(v); !ok {
		return "", false, problem.Field(problem.Invalid, rawjson.Join(path, key), "must be a string")
	}
	return s, true, nil
}

// integer reads a member that is a whole number; nil when it is not there.
func integer(raw []byte, path, key string) (*int64, error) {
	v, ok := rawjson.Get(raw, key)
	if !ok || rawjson.KindOf(v) == rawjson.Null {
		return nil, nil
	}
	n, err := strconv.ParseInt(string(v), 10, 64)
	if err != nil {
		return nil, problem.Field(problem.Invalid, rawjson.Join(path, key), "must be a whole number")
	}
	return &n, nil
}

// order reads what a job is created from.
func order(raw []byte, path string) (o Order, err error) {
	var given bool
	if o.Command, given, err = text(raw, path, "command"); err != nil {
		return o, err
	}
	if !given {
		return o, problem.Field(problem.Invalid, rawjson.Join(path, "command"), "is required")
	}
	if o.Tag, _, err = text(raw, path, "tag"); err != nil {
		return o, err
	}
	if o.Lost, _, err = text(raw, path, "lost"); err != nil {
		return o, err
	}
	retries, err := integer(raw, path, "retries")
	if err == nil && retries != nil {
		o.Retries = int(min(max(*retries, -1), maxRetries+1))
	}
	return o, err
}

// message is what a worker says: a text, where it belongs, how it ended.
type message struct {
	Text   *words  `json:"message"`
	Line   *truth  `json:"new-line"` // a line break comes after it
	Offset *int64  `json:"offset"`
	Exit   *int64  `json:"exit_code"`
	Claim  *string `json:"claim"`
}

// words is a text, or a number, which stands for how it is written: workers are
// scripts, and the original takes both.
type words string

// UnmarshalJSON implements json.Unmarshaler.
func (w *words) UnmarshalJSON(b []byte) error {
	if rawjson.KindOf(b) == rawjson.Number {
		*w = words(b)
		return nil
	}
	return json.Unmarshal(b, (*string)(w))
}

// truth is true or false, also as a number or in quotes.
type truth bool

// UnmarshalJSON implements json.Unmarshaler.
func (t *truth) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case `true`, `1`, `"1"`, `"true"`:
		*t = true
	case `false`, `0`, `"0"`, `"false"`, `""`:
		*t = false
	default:
		return &json.UnmarshalTypeError{Value: string(b), Type: reflect.TypeFor[bool]()}
	}
	return nil
}

// parseMessage reads a body that may be missing or [] (contract-notes 9). What
// cannot be stored in a text is no reason to refuse it: a worker has no choice
// about what its program prints.
func parseMessage(raw []byte) (m message, err error) {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || raw[0] == '[' && len(bytes.TrimSpace(raw[1:])) == 1 {
		raw = []byte("{}")
	}
	var wrong *json.UnmarshalTypeError
	switch err = json.Unmarshal(raw, &m); {
	case errors.As(err, &wrong) && wrong.Field != "":
		return m, problem.Field(problem.Invalid, wrong.Field, "must be a %s", map[reflect.Kind]string{reflect.String: "string", reflect.Bool: "boolean", reflect.Int64: "whole number"}[wrong.Type.Kind()])
	case err != nil:
		return m, problem.Wrap(err, problem.Invalid, "the body is not a JSON object")
	case m.Offset != nil && *m.Offset < 0:
		return m, problem.Field(problem.Invalid, "offset", "must not be negative")
	}
	return m, nil
}
