package web

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/telemetry"
)

// errorBody is every error answer: the fields of RFC 9457 and the ones that
// clients of this API know (success, acknowledged, error).
type errorBody struct {
	Success      bool                 `json:"success" doc:"always false"`
	Acknowledged bool                 `json:"acknowledged" doc:"always true"`
	Messages     []string             `json:"error" doc:"sentences for people"`
	Message      string               `json:"message" doc:"the detail, where clients of forms look for it"`
	Type         string               `json:"type" doc:"urn:quoin:problem:<kind>"`
	Title        string               `json:"title"`
	Status       int                  `json:"status"`
	Detail       string               `json:"detail"`
	Code         string               `json:"code,omitempty" doc:"finer than the type, such as draft_exists"`
	Instance     string               `json:"instance,omitempty" doc:"the request id, as in the log"`
	Fields       []problem.FieldError `json:"errors,omitempty" doc:"findings with the path of the field"`

	headers http.Header
}

func (e *errorBody) Error() string             { return e.Detail }
func (e *errorBody) GetStatus() int            { return e.Status }
func (e *errorBody) ContentType(string) string { return "application/problem+json" }
func (e *errorBody) GetHeaders() http.Header   { return e.headers }

// render turns an error into the answer, and keeps its cause for the log line.
func render(ctx context.Context, err error) *errorBody {
	p := problem.From(err)
	if info := infoOf(ctx); info != nil && (p.Cause != nil || p.Kind == problem.Internal) {
		info.err = err
	}
	e := &errorBody{
		Acknowledged: true, Type: "urn:quoin:problem:" + p.Kind.Name(), Title: p.Kind.Title(), Status: p.Kind.Status(),
		Detail: p.Detail, Code: p.Code, Instance: telemetry.RequestID(ctx), Fields: p.Fields, headers: headersOf(p, err),
	}
	if e.Detail == "" {
		e.Detail = e.Title
	}
	e.Message = e.Detail
	e.Messages = append(e.Messages, e.Detail)
	for _, f := range p.Fields {
		if m := f.Path + ": " + f.Message; m != e.Detail && f.Message != e.Detail {
			e.Messages = append(e.Messages, strings.TrimPrefix(m, ": "))
		}
	}
	return e
}

// headersOf gives the headers that belong to the kind of a problem.
func headersOf(p *problem.Problem, err error) http.Header {
	h := http.Header{}
	if p.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(max(1, int(p.RetryAfter.Seconds()+0.999))))
	}
	if p.Kind == problem.Unauthenticated {
		h.Set("WWW-Authenticate", `Bearer realm="quoin"`)
	}
	var method *notAllowed
	if errors.As(err, &method) {
		h.Set("Allow", strings.Join(method.allow, ", "))
	}
	return h
}

// writeError answers outside of huma: no route, no right, a panic.
func writeError(rec *recorder, err error) {
	send(rec, render(rec.ctx, err))
}

// Fail answers a request with an error in the API's form. It is for handlers
// outside of a Router.
func Fail(w http.ResponseWriter, r *http.Request, err error) { send(w, render(r.Context(), err)) }

func send(w http.ResponseWriter, e *errorBody) {
	for k, v := range e.headers {
		w.Header()[k] = v
	}
	body, err := json.Marshal(e)
	if err != nil { // a struct of strings and numbers cannot fail
		body = []byte(`{"success":false}`)
	}
	w.Header().Set("Content-Type", e.ContentType(""))
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(e.Status)
	_, _ = w.Write(body) // nobody to tell when the client is gone
}

// humaError gives the errors that huma finds (parameters, bodies) our form.
// What it calls unprocessable is a malformed request here: 400.
func humaError(ctx context.Context, status int, msg string, errs ...error) huma.StatusError {
	p := &problem.Problem{Kind: kindOf(status), Detail: msg}
	if status == http.StatusInternalServerError { // the only one it gives by itself: the client broke off its body
		p.Kind = problem.Invalid
	}
	if p.Kind == problem.TooLarge {
		p.Detail = "the request body is too large"
	}
	for _, err := range errs {
		var d huma.ErrorDetailer
		if !errors.As(err, &d) {
			p.Cause = errors.Join(p.Cause, err)
			continue
		}
		detail := d.ErrorDetail()
		if inside := unpack(detail.Message); inside != nil {
			return render(ctx, inside)
		}
		p.Fields = append(p.Fields, fieldError(detail))
	}
	if len(p.Fields) == 1 {
		p.Detail = strings.TrimPrefix(p.Fields[0].Path+": "+p.Fields[0].Message, ": ")
	}
	return render(ctx, p)
}

// kindOf gives the kind for a status of huma.
func kindOf(status int) problem.Kind {
	k := problem.KindOf(status)
	if k == problem.Unprocessable || k == problem.Internal && status >= 400 && status < 500 {
		return problem.Invalid
	}
	return k
}

// fieldError gives huma's finding the path of the field: "body.username" is
// "username", and a property that is missing is named by the path.
func fieldError(d *huma.ErrorDetail) problem.FieldError {
	at, message := d.Location, d.Message
	for _, where := range []string{"body", "query", "path", "header"} {
		if rest, ok := strings.CutPrefix(at, where); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			at = strings.TrimPrefix(rest, ".")
			break
		}
	}
	before, after, _ := strings.Cut(validation.MsgExpectedRequiredProperty, "%s")
	if name, ok := strings.CutPrefix(message, before); ok && strings.HasSuffix(name, after) {
		name = strings.TrimSuffix(name, after)
		at, message = strings.TrimPrefix(at+"."+name, "."), "is missing"
	}
	return problem.FieldError{Path: at, Message: message}
}
