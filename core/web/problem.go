package web

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/telemetry"
)

// errorBody is every error answer: the fields of RFC 9457 and the ones that
// clients of this API know (success, acknowledged, error).
type errorBody struct {
	Success      bool                 `json:"success" doc:"always false"`
	Acknowledged bool                 `json:"acknowledged" doc:"always true"`
	Messages     []string             `json:"error" doc:"sentences for people"`
	Type         string               `json:"type" doc:"urn:quoin:problem:<kind>"`
	Title        string               `json:"title"`
	Status       int                  `json:"status"`
	Detail       string               `json:"detail"`
	Code         string               `json:"code,omitempty" doc:"finer than the type, such as draft_exists"`
	Instance     string               `json:"instance,omitempty" doc:"the request id, as in the log"`
	Fields       []problem.FieldError `json:"errors,omitempty" doc:"findings with the path of the field"`

	retryAfter int
}

func (e *errorBody) Error() string             { return e.Detail }
func (e *errorBody) GetStatus() int            { return e.Status }
func (e *errorBody) ContentType(string) string { return "application/problem+json" }
func (e *errorBody) GetHeaders() http.Header {
	h := http.Header{}
	if e.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(e.retryAfter))
	}
	if e.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="quoin"`)
	}
	return h
}

// render turns an error into the answer, and keeps its cause for the log line.
func render(ctx context.Context, err error) *errorBody {
	p := problem.From(err)
	if info := infoOf(ctx); info != nil && (p.Cause != nil || p.Kind == problem.Internal) {
		info.err = err
	}
	e := &errorBody{
		Acknowledged: true, Type: "urn:quoin:problem:" + p.Kind.Name(), Title: p.Kind.Title(), Status: p.Kind.Status(),
		Detail: p.Detail, Code: p.Code, Instance: telemetry.RequestID(ctx), Fields: p.Fields,
	}
	if e.Detail == "" {
		e.Detail = e.Title
	}
	e.Messages = append(e.Messages, e.Detail)
	for _, f := range p.Fields {
		if m := f.Path + ": " + f.Message; m != e.Detail && f.Message != e.Detail {
			e.Messages = append(e.Messages, strings.TrimPrefix(m, ": "))
		}
	}
	if p.RetryAfter > 0 {
		e.retryAfter = max(1, int(p.RetryAfter.Seconds()+0.999))
	}
	return e
}

// writeError answers outside of huma: no route, no right, a panic.
func writeError(w http.ResponseWriter, r *http.Request, err error) {
	e := render(r.Context(), err)
	for k, v := range e.GetHeaders() {
		w.Header()[k] = v
	}
	w.Header().Set("Content-Type", e.ContentType(""))
	body, jsonErr := json.Marshal(e)
	if jsonErr != nil { // a struct of strings and numbers cannot fail
		body = []byte(`{"success":false}`)
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(e.Status)
	_, _ = w.Write(body)
}

// humaError gives the errors that huma finds (parameters, bodies) our form.
// What it calls unprocessable is a malformed request here: 400.
func humaError(ctx context.Context, status int, msg string, errs ...error) huma.StatusError {
	p := &problem.Problem{Kind: kindOf(status), Detail: msg}
	for _, err := range errs {
		if d, ok := err.(huma.ErrorDetailer); ok {
			detail := d.ErrorDetail()
			p.Kind = bodyKind(detail, p.Kind)
			p.Fields = append(p.Fields, problem.FieldError{Path: fieldPath(detail.Location), Message: detail.Message})
			continue
		}
		if known := problem.From(err); known.Kind != problem.Internal {
			return render(ctx, known)
		}
		if err != nil {
			p.Cause = err
		}
	}
	if len(p.Fields) == 1 {
		p.Detail = strings.TrimPrefix(p.Fields[0].Path+": "+p.Fields[0].Message, ": ")
	}
	return render(ctx, p)
}

// bodyKind finds the kind of what unmarshal refused: huma keeps only the text
// of that error, and the text of a problem starts with its kind.
func bodyKind(d *huma.ErrorDetail, otherwise problem.Kind) problem.Kind {
	for k := problem.Internal; k <= problem.Unavailable; k++ {
		if rest, ok := strings.CutPrefix(d.Message, k.Name()+": "); ok {
			d.Message, _, _ = strings.Cut(rest, "; ")
			return k
		}
	}
	return otherwise
}

func kindOf(status int) problem.Kind {
	if status == http.StatusUnprocessableEntity {
		return problem.Invalid
	}
	for k := problem.Internal; k <= problem.Unavailable; k++ {
		if k.Status() == status {
			return k
		}
	}
	if status >= 400 && status < 500 {
		return problem.Invalid
	}
	return problem.Internal
}

// fieldPath drops huma's first element: "body.username" is "username".
func fieldPath(location string) string {
	for _, prefix := range []string{"body.", "query.", "path.", "header."} {
		if rest, ok := strings.CutPrefix(location, prefix); ok {
			return rest
		}
	}
	if location == "body" {
		return ""
	}
	return location
}
