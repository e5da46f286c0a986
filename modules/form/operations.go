package form

import (
	"context"
	"io"
	"mime"
	"net/http"
	"strconv"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
	"github.com/quoin-cms/quoin/core/web"
)

const (
	tag       = "Form"
	smallBody = 16 << 10
	base      = "/api/forms/submissions"
	codes     = "/api/forms/verifications"
)

// operations are the endpoints (spec.md 4.4, contract-notes 1.4), and those to
// process submissions, which the contract does not have.
func operations(s *Service) []web.Operation {
	return append(append(submissions(s), verifications(s)...), processing(s)...)
}

func submissions(s *Service) []web.Operation {
	return []web.Operation{
		web.Op(web.Operation{
			ID: "form-submit", Method: http.MethodPost, Path: base, Tag: tag, MaxBody: int64(s.cfg.MaxRequest), Summary: "Store a submission",
			Doc: "Members: form_name, instance, locale (strings), data (an object), and if need be label, expire_date (a day, from which on the submission is deleted) and files. " +
				"A file has filename, mimeType, base64, size (a string with the number of bytes) and form_field. Unknown members are refused with 400.",
			Errors: []int{400, 413, 507},
			Takes:  web.Media{Of: submissionIn{}}, Answers: web.Media{Of: submitted{}},
		}, func(ctx context.Context, in *struct {
			RawBody []byte `contentType:"application/json"`
		}) (*web.Raw, error) {
			sub, err := s.Submit(ctx, in.RawBody)
			if err != nil {
				return nil, err
			}
			out := rawjson.AppendString([]byte(`{"submission_id":`), sub.ID)
			out = append(append(out, `,"submission":`...), sub.json(nil)...)
			return web.JSON(append(out, '}'))
		}),
		web.Op(web.Operation{
			ID: "form-submission", Method: http.MethodGet, Path: base + "/{submission}", Tag: tag, Summary: "A submission",
			Doc: "`property` asks for one value, as {path: value}, null when there is none; the path is written [data][email], data[email] or data.email. `fileUrl` is the address " +
				"of a file with {SUBMISSION_ID} and {FILE_ID}: the answer then has file_urls; it is never fetched. Each reading is noted.",
			Errors: []int{400, 404}, Answers: web.Media{Of: map[string]any{}, Doc: "the submission, as in the answer of a claim, or the one value"},
		}, func(ctx context.Context, in *struct {
			ID       string `path:"submission" maxLength:"200" doc:"id of the submission"`
			Property string `query:"property" doc:"path of one value"`
			FileURL  string `query:"fileUrl" doc:"pattern of the addresses of files"`
		}) (*web.Raw, error) {
			raw, err := s.Get(ctx, in.ID, in.Property, in.FileURL)
			if err != nil {
				return nil, err
			}
			return web.JSON(raw)
		}),
		web.Op(web.Operation{
			ID: "form-file", Method: http.MethodGet, Path: base + "/{submission}/files/{file}", Tag: tag, Summary: "A file of a submission",
			Doc: "Inline, with the type and name that were submitted; it may run nothing.", Errors: []int{404}, Answers: web.Media{Type: "*/*", Doc: "the bytes, under the type of the file"},
		}, func(_ context.Context, in *struct {
			ID   string `path:"submission" maxLength:"200" doc:"id of the submission"`
			File string `path:"file" maxLength:"200" doc:"id of the file"`
		}) (*web.Stream, error) {
			return web.Direct(func(w http.ResponseWriter, r *http.Request) error { return s.send(w, r, in.ID, in.File) }), nil
		}),
	}
}

// send streams a file of a submission.
func (s *Service) send(w http.ResponseWriter, r *http.Request, id, file string) error {
	f, content, err := s.Open(r.Context(), id, file)
	if err != nil {
		return err
	}
	defer func() { _ = content.Close() }() // only read
	h := w.Header()
	h.Set("Content-Type", f.MimeType)
	h.Set("Content-Length", strconv.FormatInt(f.Size, 10))
	h.Set("Content-Disposition", mime.FormatMediaType("inline", map[string]string{"filename": f.Filename}))
	if h.Get("Content-Disposition") == "" { // a name that no header can hold
		h.Set("Content-Disposition", "inline")
	}
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; sandbox")
	h.Set("Cache-Control", "private, no-store")
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return nil
	}
	_, err = io.Copy(w, content)
	return err
}

// oneCode is the answer of what gives a code.
type codeReply struct {
	Code string `json:"code"`
}

func verifications(s *Service) []web.Operation {
	return []web.Operation{
		web.Op(web.Operation{
			ID: "form-verification", Method: http.MethodPost, Path: codes, Tag: tag, MaxBody: smallBody, Summary: "Make a verification code",
			Doc:    "Six digits, valid for three hours. The code of a value that is valid already is given again, for another three hours. 429 when it is asked for too often.",
			Errors: []int{400, 413, 429},
		}, func(ctx context.Context, in *struct {
			Body struct {
				Value string   `json:"value"`
				_     struct{} `additionalProperties:"true"`
			}
		}) (*web.Reply[codeReply], error) {
			return code(s.Verification(ctx, in.Body.Value))
		}),
		web.Op(web.Operation{
			ID: "form-verification-get", Method: http.MethodGet, Path: codes, Tag: tag, Summary: "The verification code of a value",
			Doc:    "And makes it valid for another three hours. 403 where codes are not disclosed (form.disclose_codes).",
			Errors: []int{400, 404},
		}, func(ctx context.Context, in *struct {
			Value string `query:"value" doc:"what the code was made for, such as an e-mail address"`
		}) (*web.Reply[codeReply], error) {
			return code(s.Code(ctx, in.Value))
		}),
		web.Op(web.Operation{
			ID: "form-verification-check", Method: http.MethodPost, Path: codes + "/check", Tag: tag, MaxBody: smallBody, Summary: "Check a verification code",
			Doc:    "Without giving it away: success uses the code up, a wrong one is 400 with the code code_wrong, and after five of them 429 with code_locked; 404 when there is none.",
			Errors: []int{400, 404, 413, 429},
		}, func(ctx context.Context, in *struct {
			Body struct {
				Value string   `json:"value"`
				Code  string   `json:"code"`
				_     struct{} `additionalProperties:"true"`
			}
		}) (*web.Reply[acknowledged], error) {
			return confirm(s.Check(ctx, in.Body.Value, in.Body.Code))
		}),
	}
}

func code(text string, err error) (*web.Reply[codeReply], error) {
	if err != nil {
		return nil, err
	}
	return web.Answer(codeReply{text})
}

type acknowledged struct {
	Acknowledged bool `json:"acknowledged"`
	Success      bool `json:"success"`
}

func confirm(err error) (*web.Reply[acknowledged], error) {
	if err != nil {
		return nil, err
	}
	return web.Answer(acknowledged{true, true})
}

// filterQuery is a filter as a query.
type filterQuery struct {
	FormName  string `query:"form_name" doc:"name of the form"`
	Instance  string `query:"instance" doc:"instance of the form"`
	Locale    string `query:"locale" doc:"language of the form"`
	Since     string `query:"since" doc:"created then or later: a time of RFC 3339, or a day such as 2026-01-31"`
	Until     string `query:"until" doc:"created before: likewise"`
	Processed string `query:"processed" doc:"yes or no"`
}

func (f *filterQuery) filter() (out Filter, err error) {
	out = Filter{Name: f.FormName, Instance: f.Instance, Locale: f.Locale, Processed: f.Processed}
	if out.Since, err = web.Moment("since", f.Since); err != nil {
		return out, err
	}
	out.Until, err = web.Moment("until", f.Until)
	return out, err
}

// FilterQuery is embedded in the input of operations.
type FilterQuery = filterQuery

// answers gives an operation the description of its answer.
func answers(o web.Operation, m web.Media) web.Operation {
	o.Answers = m
	return o
}

func crmOp(id, method, path, summary, doc string, errors ...int) web.Operation {
	return web.Operation{
		ID: "form-" + id, Method: method, Path: path, Tag: tag, MaxBody: smallBody, Summary: summary, Doc: doc, Errors: errors,
		Roles: []string{auth.RoleAPI}, OneOf: []string{auth.RoleFormCRM, auth.RoleAdmin},
	}
}

type onSubmission struct {
	ID   string `path:"submission" maxLength:"200" doc:"id of the submission"`
	Body struct {
		ProcessID string   `json:"processId" doc:"of the claim"`
		Keep      bool     `json:"keep,omitempty" doc:"keep the data and files; otherwise they are removed"`
		_         struct{} `additionalProperties:"true"`
	}
}

func processing(s *Service) []web.Operation {
	return []web.Operation{
		web.Op(answers(crmOp("list", http.MethodGet, base, "List submissions", "The oldest first, without their files; `after` is the `next` of the list before.", 400), web.Media{Of: submissionPage{}}),
			func(ctx context.Context, in *struct {
				FilterQuery
				After int64 `query:"after" doc:"next of the last answer"`
				Limit int   `query:"limit" default:"100" doc:"submissions of one answer"`
			}) (*web.Raw, error) {
				filter, err := in.filter()
				if err != nil {
					return nil, err
				}
				return s.opList(ctx, filter, in.After, in.Limit)
			}),
		web.Op(answers(crmOp("export", http.MethodGet, base+"/export", "Export submissions", "As csv (UTF-8, safe to open in a spreadsheet program) or xlsx, row by row.", 400), web.Media{Type: "text/csv, application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", Doc: "the table"}),
			func(_ context.Context, in *struct {
				FilterQuery
				Format string `query:"format" default:"csv" doc:"csv or xlsx"`
			}) (*web.Stream, error) {
				filter, err := in.filter()
				if err != nil {
					return nil, err
				}
				return web.Direct(func(w http.ResponseWriter, r *http.Request) error { return s.opExport(w, r, filter, in.Format) }), nil
			}),
		web.Op(answers(crmOp("claim-next", http.MethodPost, base+"/claim", "Claim the next submission of a form",
			"Gives the oldest that waits to be processed, under a processId; submission is null when there is none.", 400, 413), web.Media{Of: claimAnswer{}}),
			func(ctx context.Context, in *struct {
				Body struct {
					FormName string   `json:"form_name"`
					_        struct{} `additionalProperties:"true"`
				}
			}) (*web.Raw, error) {
				return claimed(s.Claim(ctx, in.Body.FormName, ""))
			}),
		web.Op(answers(crmOp("claim", http.MethodPost, base+"/{submission}/claim", "Claim a submission", "409 when it was processed or belongs to somebody else.", 404, 409), web.Media{Of: claimAnswer{}}),
			func(ctx context.Context, in *struct {
				ID string `path:"submission" maxLength:"200" doc:"id of the submission"`
			}) (*web.Raw, error) {
				return claimed(s.Claim(ctx, "", in.ID))
			}),
		web.Op(crmOp("complete", http.MethodPost, base+"/{submission}/complete", "A submission was processed", "Removes its data and files, unless `keep` is true. 409 when the claim was lost.", 400, 404, 409),
			func(ctx context.Context, in *onSubmission) (*web.Reply[acknowledged], error) {
				return confirm(s.Complete(ctx, in.ID, in.Body.ProcessID, in.Body.Keep))
			}),
		web.Op(crmOp("fail", http.MethodPost, base+"/{submission}/fail", "A submission could not be processed", "Gives it back. 409 when the claim was lost.", 400, 404, 409),
			func(ctx context.Context, in *onSubmission) (*web.Reply[acknowledged], error) {
				return confirm(s.Failed(ctx, in.ID, in.Body.ProcessID))
			}),
		web.Op(crmOp("delete", http.MethodDelete, base+"/{submission}", "Delete a submission", "With its files.", 404),
			func(ctx context.Context, in *struct {
				ID string `path:"submission" maxLength:"200" doc:"id of the submission"`
			}) (*web.Reply[acknowledged], error) {
				return confirm(s.Delete(ctx, in.ID))
			}),
		web.Op(crmOp("access", http.MethodGet, base+"/{submission}/access", "Who read a submission", "Also of one that is no more."),
			func(ctx context.Context, in *struct {
				ID string `path:"submission" maxLength:"200" doc:"id of the submission"`
			}) (*web.Reply[[]Access], error) {
				list, err := s.Accesses(ctx, in.ID)
				if err != nil {
					return nil, err
				}
				return web.Answer(list)
			}),
	}
}

func claimed(sub *Submission, err error) (*web.Raw, error) {
	if err != nil {
		return nil, err
	}
	out := []byte(`{"acknowledged":true,"success":true,"submission":`)
	if sub == nil {
		out = append(out, "null"...)
	} else {
		out = append(out, sub.json(nil)...)
	}
	return web.JSON(append(out, '}'))
}

func (s *Service) opList(ctx context.Context, f Filter, after int64, limit int) (*web.Raw, error) {
	page, err := s.List(ctx, f, after, limit)
	if err != nil {
		return nil, err
	}
	who, err := auth.Require(ctx)
	if err != nil {
		return nil, err
	}
	out := []byte(`{"submissions":[`)
	for i, sub := range page {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, sub.json(nil)...)
	}
	out = append(out, `],"next":`...)
	if len(page) == limit {
		out = strconv.AppendInt(out, page[len(page)-1].Seq, 10)
	} else {
		out = append(out, "null"...)
	}
	if err := s.note(ctx, who, "*", "list of "+strconv.Itoa(len(page))+" submissions"); err != nil {
		return nil, err
	}
	return web.JSON(append(out, '}'))
}

// opExport streams a table.
func (s *Service) opExport(w http.ResponseWriter, r *http.Request, f Filter, format string) error {
	out, kind, err := newSheet(format, w)
	if err != nil {
		return err
	}
	if f.Processed != "" && f.Processed != "yes" && f.Processed != "no" {
		return problem.Field(problem.Invalid, "processed", "must be yes or no")
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Disposition", `attachment; filename="submissions.`+format+`"`)
	w.Header().Set("Cache-Control", "private, no-store")
	if _, err = s.Export(r.Context(), f, out); err != nil {
		w.Header().Del("Content-Disposition")
	}
	return err
}
