package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/danielgtaylor/huma/v2"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
)

// formats tells huma how to read and write bodies. Old clients label any body
// as JSON, curl labels JSON as a form: the handlers that want JSON take it
// under each of these names. Everything is checked for depth, duplicate keys
// and broken strings before it is decoded.
func formats() map[string]huma.Format {
	f := huma.Format{Marshal: marshal, Unmarshal: unmarshal}
	return map[string]huma.Format{
		"application/json": f, "json": f, "text/json": f, "text/plain": f,
		"application/x-www-form-urlencoded": f, "application/octet-stream": f,
	}
}

func marshal(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// unmarshal reads a JSON object into v. An empty array is an empty object:
// that is how the PHP clients write it.
func unmarshal(data []byte, v any) error {
	if err := rawjson.Check(data, rawjson.Limits{}); err != nil {
		return err
	}
	if t := bytes.TrimSpace(data); len(t) > 1 && t[0] == '[' && len(bytes.TrimSpace(t[1:len(t)-1])) == 0 {
		data = []byte("{}")
	}
	err := json.Unmarshal(data, v)
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return problem.Field(problem.Invalid, wrong.Field, "expected %s, got %s", wrong.Type, wrong.Value)
	}
	if err != nil {
		return problem.Wrap(err, problem.Invalid, "the body is not the JSON that is expected")
	}
	return nil
}
