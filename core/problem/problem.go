// Package problem is the one error model of Quoin.
//
// A Problem has a Kind from a fixed table (HTTP status and JSON-RPC code), a
// detail that is safe to show to a client, optional field errors with the path
// of the field, and a cause that only the log sees. HTTP and JSON-RPC render a
// Problem from this table; core/pluginhost has the codes of gRPC, which only
// plugins see. Any other error is Internal.
package problem

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Kind is the class of a problem. Its zero value is Internal.
type Kind uint8

// The kinds. What each becomes at a door is in the table below.
const (
	Internal           Kind = iota
	Invalid                 // the input is malformed or breaks a rule of the operation
	Unauthenticated         // no token, or one that is not valid
	Forbidden               // the caller is known and lacks the right
	NotFound                // the resource does not exist, or may not be seen
	MethodNotAllowed        // the path exists, the method does not
	Conflict                // the state of the resource refuses the operation
	PreconditionFailed      // If-Match names another state of the resource
	TooLarge                // body or document above its limit
	Locked                  // another user holds the lock
	Unprocessable           // well formed, but the content breaks its schema
	TooManyRequests         // throttled; RetryAfter says how long
	Unavailable             // a dependency is not ready; retry helps
	Full                    // the storage has no room left
	Unsupported             // the media type or the clause cannot be honoured
	numKinds
)

type face struct {
	name   string // stable, machine readable; the last part of `type`
	title  string
	status int // HTTP
	rpc    int // JSON-RPC 2.0
}

var table = [numKinds]face{
	Internal:           {"internal", "Internal Server Error", 500, -32603},
	Invalid:            {"invalid", "Bad Request", 400, -32602},
	Unauthenticated:    {"unauthenticated", "Unauthorized", 401, -32001},
	Forbidden:          {"forbidden", "Forbidden", 403, -32003},
	NotFound:           {"not-found", "Not Found", 404, -32004},
	MethodNotAllowed:   {"method-not-allowed", "Method Not Allowed", 405, -32601},
	Conflict:           {"conflict", "Conflict", 409, -32009},
	PreconditionFailed: {"precondition-failed", "Precondition Failed", 412, -32012},
	TooLarge:           {"too-large", "Content Too Large", 413, -32013},
	Unsupported:        {"unsupported", "Unsupported Media Type", 415, -32015},
	Unprocessable:      {"unprocessable", "Unprocessable Content", 422, -32602},
	Locked:             {"locked", "Locked", 423, -32023},
	TooManyRequests:    {"too-many-requests", "Too Many Requests", 429, -32029},
	Unavailable:        {"unavailable", "Service Unavailable", 503, -32053},
	Full:               {"insufficient-storage", "Insufficient Storage", 507, -32057},
}

// Name is the stable, machine-readable name of the kind, such as "not-found".
func (k Kind) Name() string { return table[k.known()].name }

// Title is the short sentence of the kind, the reason phrase of its status.
func (k Kind) Title() string { return table[k.known()].title }

// Status is the HTTP status of the kind.
func (k Kind) Status() int { return table[k.known()].status }

// RPCCode is the JSON-RPC 2.0 error code of the kind.
func (k Kind) RPCCode() int { return table[k.known()].rpc }

// KindOf gives the kind with an HTTP status; Internal when there is none.
func KindOf(status int) Kind {
	for k, f := range &table {
		if f.status == status {
			return Kind(k)
		}
	}
	return Internal
}

func (k Kind) known() Kind {
	if k < numKinds {
		return k
	}
	return Internal
}

// FieldError is one finding about one field of the input. Path is a dotted
// path with array indexes, such as "fr.blocks[2].title"; it is empty for the
// body as a whole.
type FieldError struct {
	Path    string `json:"path"`
	Code    string `json:"code,omitempty"`
	Message string `json:"message"`
}

// Problem is an error with a kind. Detail and Fields reach the client, Cause
// only the log.
type Problem struct {
	Kind       Kind
	Code       string // optional, finer than the kind: "draft_exists"
	Detail     string
	Fields     []FieldError
	RetryAfter time.Duration
	Cause      error
}

// Error gives the detail, the fields and the cause, for the log.
func (p *Problem) Error() string {
	var b strings.Builder
	b.WriteString(p.Kind.Name())
	if p.Detail != "" {
		b.WriteString(": " + p.Detail)
	}
	for _, f := range p.Fields {
		fmt.Fprintf(&b, "; %s: %s", f.Path, f.Message)
	}
	if p.Cause != nil {
		b.WriteString(": " + p.Cause.Error())
	}
	return b.String()
}

// Unwrap gives the cause.
func (p *Problem) Unwrap() error { return p.Cause }

// New makes a problem with a formatted detail that clients will read.
func New(k Kind, format string, args ...any) *Problem {
	return &Problem{Kind: k, Detail: fmt.Sprintf(format, args...)}
}

// Wrap makes a problem with a cause for the log and a detail for the client.
func Wrap(cause error, k Kind, format string, args ...any) *Problem {
	return &Problem{Kind: k, Detail: fmt.Sprintf(format, args...), Cause: cause}
}

// Field makes a problem about one field of the input.
func Field(k Kind, path, format string, args ...any) *Problem {
	msg := fmt.Sprintf(format, args...)
	detail := msg
	if path != "" {
		detail = path + ": " + msg
	}
	return &Problem{Kind: k, Detail: detail, Fields: []FieldError{{Path: path, Message: msg}}}
}

// WithCode sets the finer, machine-readable code and gives the problem back.
func (p *Problem) WithCode(code string) *Problem {
	p.Code = code
	return p
}

// From finds the problem in an error chain; any other error becomes Internal
// with a detail that tells nothing about it.
func From(err error) *Problem {
	var p *Problem
	if errors.As(err, &p) {
		return p
	}
	return &Problem{Kind: Internal, Detail: "an unexpected error occurred; the log has it under the request id", Cause: err}
}

// Is reports whether err is a problem of the kind.
func Is(err error, k Kind) bool {
	var p *Problem
	return errors.As(err, &p) && p.Kind == k
}
