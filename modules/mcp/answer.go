package mcp

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/quoin-cms/quoin/core/rawjson"
)

// answer stands between the SDK and the client. It gives refusals of the SDK,
// which are plain text, the form of JSON-RPC; turns a stream of events into one
// JSON answer for a client that did not ask for a stream; and marks requests to
// the client with the process that waits for their answer.
//
// The SDK writes each event in one piece.
type answer struct {
	http.ResponseWriter
	plain   bool   // the client wants JSON
	batch   bool   // and a list of answers
	id      []byte // of the request, for refusals
	process string // marks requests to the client; empty: they are not marked

	status    int
	held      bool // the header waits for finish
	refused   []byte
	responses [][]byte
}

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) {
	if a.status != 0 {
		return
	}
	a.status = status
	kind := a.Header().Get("Content-Type")
	switch {
	case status >= 400 && strings.HasPrefix(kind, "text/plain"):
		a.held = true
	case a.plain && strings.HasPrefix(kind, "text/event-stream"):
		a.held = true
	default:
		a.ResponseWriter.WriteHeader(status)
	}
}

// Write implements http.ResponseWriter.
func (a *answer) Write(b []byte) (int, error) {
	if a.status == 0 {
		a.WriteHeader(http.StatusOK)
	}
	if a.held && a.status >= 400 {
		a.refused = append(a.refused, b...)
		return len(b), nil
	}
	head, data, tail := parseEvent(b)
	if data != nil && isResponse(data) {
		a.responses = append(a.responses, bytes.Clone(data))
	}
	if a.held {
		return len(b), nil
	}
	if marked := a.mark(data); marked != nil {
		whole := append(append(append([]byte(nil), head...), marked...), tail...)
		if _, err := a.ResponseWriter.Write(whole); err != nil {
			return 0, err
		}
		return len(b), nil
	}
	return a.ResponseWriter.Write(b)
}

// FlushError implements what http.ResponseController looks for.
func (a *answer) FlushError() error {
	if a.held {
		return nil
	}
	return http.NewResponseController(a.ResponseWriter).Flush()
}

// Unwrap lets http.ResponseController reach the connection.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// notHandled begins what the SDK says of a method that it does not know.
const notHandled = "JSON RPC not handled: "

// finish sends what was held back.
func (a *answer) finish() {
	if !a.held {
		return
	}
	a.held = false
	if a.status >= 400 {
		code := codeInvalidRequest
		text := strings.TrimSpace(string(a.refused))
		method, unknown := strings.CutPrefix(text, notHandled)
		switch {
		case unknown && !a.batch && a.id == nil: // news that nobody waits for
			a.Header().Del("Content-Type")
			a.Header().Del("X-Content-Type-Options")
			a.ResponseWriter.WriteHeader(http.StatusAccepted)
			return
		case unknown && !a.batch: // a call is answered, and clients tell by the code what a server does not have
			a.status, code, text = http.StatusOK, codeMethodNotFound, "there is no method "+strings.TrimSuffix(method, " unsupported")
		case strings.HasPrefix(text, "malformed payload"):
			code = codeParse
		case text == "failed to replay events":
			text = "the messages of this stream are not kept any more: send the call again"
		}
		fail(a.ResponseWriter, a.status, a.id, code, text)
		return
	}
	a.Header().Set("Content-Type", "application/json")
	a.Header().Del("Connection")
	var body []byte
	switch {
	case a.batch:
		body = append(append([]byte{'['}, bytes.Join(a.responses, []byte{','})...), ']')
	case len(a.responses) == 1:
		body = a.responses[0]
	default:
		fail(a.ResponseWriter, http.StatusInternalServerError, a.id, codeInternal, "the call was cut off")
		return
	}
	a.ResponseWriter.WriteHeader(a.status)
	_, _ = a.ResponseWriter.Write(body) // nobody to tell when the client is gone
}

// parseEvent finds the data of an event of the SDK; nil when it is none.
func parseEvent(b []byte) (head, data, tail []byte) {
	const field, end = "data: ", "\n\n"
	at := bytes.Index(b, []byte(field))
	if at < 0 || !bytes.HasSuffix(b, []byte(end)) || at > 0 && b[at-1] != '\n' {
		return nil, nil, nil
	}
	from, to := at+len(field), len(b)-len(end)
	if from >= to || b[from] != '{' {
		return nil, nil, nil
	}
	return b[:from], b[from:to], b[to:]
}

func isResponse(data []byte) bool {
	if _, is := rawjson.Get(data, "method"); is {
		return false
	}
	_, is := rawjson.Get(data, "id")
	return is
}

// mark gives a request to the client, or the news that one was cancelled, with
// the mark of this process in its id; nil for anything else.
func (a *answer) mark(data []byte) []byte {
	if data == nil || a.process == "" || !bytes.Contains(data, []byte(`"method":`)) {
		return nil
	}
	method, ok := rawjson.Get(data, "method")
	if !ok {
		return nil
	}
	if string(method) == `"notifications/cancelled"` {
		params, _ := rawjson.Get(data, "params")
		if rawjson.KindOf(params) != rawjson.Map {
			return nil
		}
		if params = a.markMember(params, "requestId"); params == nil {
			return nil
		}
		return rawjson.Set(nil, data, "params", params)
	}
	return a.markMember(data, "id")
}

// markMember marks the number in a member of an object; nil when there is none.
func (a *answer) markMember(object []byte, name string) []byte {
	id, ok := rawjson.Get(object, name)
	if !ok || rawjson.KindOf(id) != rawjson.Number {
		return nil
	}
	return rawjson.Set(nil, object, name, rawjson.AppendString(nil, a.process+"."+string(id)))
}

// unmark reads the id of an answer to a marked request: the process that waits
// for it, and the answer with the id that it knows.
func unmark(p *peeked) (process string, body []byte) {
	text, ok := rawjson.String(p.id)
	if !ok {
		return "", nil
	}
	process, id, ok := strings.Cut(text, ".")
	if !ok || process == "" || !json.Valid([]byte(id)) || rawjson.KindOf([]byte(id)) != rawjson.Number {
		return "", nil
	}
	return process, rawjson.Set(nil, p.raw, "id", []byte(id))
}
