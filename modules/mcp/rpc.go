package mcp

import (
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
)

// JSON-RPC 2.0 error codes.
const (
	codeParse          = -32700
	codeInvalidRequest = -32600
	codeMethodNotFound = -32601
	codeInvalidParams  = -32602
	codeInternal       = -32603
)

const (
	// stateless is the first revision without sessions.
	stateless = "2026-07-28"
	// withoutBatches is the first revision that has no batches.
	withoutBatches = "2025-06-18"
	// toldToModels is the first revision in which wrong arguments of a tool are
	// an answer that the model reads.
	toldToModels = "2025-11-25"

	metaVersion = "io.modelcontextprotocol/protocolVersion"
)

// deepest is how deep a message may nest.
const deepest = 100

// peeked is what the door has to know of a message.
type peeked struct {
	raw      []byte
	method   string
	id       []byte // raw JSON; nil for a notification
	response bool
	version  string // of params._meta
	wrong    string // why it is no message; empty when it is one
}

// isCall reports whether the message wants an answer.
func (p *peeked) isCall() bool { return !p.response && p.id != nil }

// peek looks at a body. It is an error when the body is not JSON.
func peek(body []byte) (messages []peeked, batch bool, err error) {
	if err := rawjson.Check(body, rawjson.Limits{Depth: deepest}); err != nil {
		return nil, false, err
	}
	if rawjson.KindOf(body) != rawjson.Array {
		return []peeked{peekOne(body)}, false, nil
	}
	for it := rawjson.Iterate(body); it.Next(); {
		messages = append(messages, peekOne(it.Value()))
	}
	return messages, true, nil
}

// withObjects gives a body in which the members of messages that are objects are
// objects: in PHP an empty one is an empty list, and its clients send [].
func withObjects(body []byte) []byte {
	if rawjson.KindOf(body) != rawjson.Array {
		return withObject(body)
	}
	out := []byte{'['}
	for it := rawjson.Iterate(body); it.Next(); {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, withObject(it.Value())...)
	}
	return append(out, ']')
}

func withObject(message []byte) []byte {
	params, ok := rawjson.Get(message, "params")
	if !ok {
		return message
	}
	params = rawjson.Object(params)
	for _, name := range []string{"arguments", "capabilities", "_meta"} {
		value, ok := rawjson.Get(params, name)
		if !ok {
			continue
		}
		value = rawjson.Object(value)
		if name == "capabilities" && rawjson.KindOf(value) == rawjson.Map {
			for it := rawjson.Iterate(value); it.Next(); {
				value = rawjson.Set(nil, value, string(it.Key()), rawjson.Object(it.Value()))
			}
		}
		params = rawjson.Set(nil, params, name, value)
	}
	return rawjson.Set(nil, message, "params", params)
}

func peekOne(raw []byte) peeked {
	p := peeked{raw: raw}
	if rawjson.KindOf(raw) != rawjson.Map {
		p.wrong = "it is no object"
		return p
	}
	if v, _ := rawjson.Get(raw, "jsonrpc"); string(v) != `"2.0"` {
		p.wrong = `jsonrpc must be "2.0"`
	}
	if v, ok := rawjson.Get(raw, "method"); ok {
		p.method, _ = rawjson.String(v)
	} else {
		p.response = true
		_, result := rawjson.Get(raw, "result")
		_, failed := rawjson.Get(raw, "error")
		if !result && !failed {
			p.wrong = "it has neither method nor result nor error"
		}
	}
	if v, ok := rawjson.Get(raw, "id"); ok && rawjson.KindOf(v) != rawjson.Null {
		p.id = v
		if !isID(v) {
			p.wrong = "id must be a text or a whole number up to 9007199254740991"
		}
	}
	params, ok := rawjson.Get(raw, "params")
	if !ok || rawjson.KindOf(params) != rawjson.Map {
		return p
	}
	if meta, ok := rawjson.Get(params, "_meta"); ok && rawjson.KindOf(meta) == rawjson.Map {
		if v, ok := rawjson.Get(meta, metaVersion); ok {
			p.version, _ = rawjson.String(v)
			if p.version == "" {
				p.version = "unknown"
			}
		}
	}
	return p
}

// isID reports whether a JSON value can be an id that the SDK gives back as it
// was: it takes numbers for floating ones and drops what is behind the point.
func isID(v []byte) bool {
	switch rawjson.KindOf(v) {
	case rawjson.Text:
		return true
	case rawjson.Number:
		const exact = 1<<53 - 1
		f, err := strconv.ParseFloat(string(v), 64)
		return err == nil && f == math.Trunc(f) && math.Abs(f) <= exact
	}
	return false
}

// rpcError is the error of a JSON-RPC answer.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

// fail answers a request with a JSON-RPC error. id is raw JSON, nil when it is
// not known.
func fail(w http.ResponseWriter, status int, id []byte, code int, message string) {
	if id == nil || rawjson.KindOf(id) == rawjson.Map || rawjson.KindOf(id) == rawjson.Array {
		id = []byte("null")
	}
	body, err := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   rpcError        `json:"error"`
	}{"2.0", id, rpcError{Code: code, Message: message}})
	if err != nil { // the parts are JSON already
		body = []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"internal error"}}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.Header().Del("X-Content-Type-Options")
	w.WriteHeader(status)
	_, _ = w.Write(body) // nobody to tell when the client is gone
}

// failWith answers with the face of a problem.
func failWith(w http.ResponseWriter, err error, id []byte) {
	p := problem.From(err)
	fail(w, p.Kind.Status(), id, p.Kind.RPCCode(), strings.TrimSpace(p.Detail))
}
