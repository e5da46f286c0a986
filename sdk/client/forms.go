package client

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"time"
)

// Forms is about what visitors submit, and the codes that they prove themselves
// with (spec 4.4).
type Forms struct{ c *Client }

// NewSubmission is what is submitted.
type NewSubmission struct {
	FormName string
	Instance string
	Locale   string
	Data     any       // becomes a JSON object
	Label    string    // may be empty
	Expires  time.Time // the day from which on it is deleted; zero: as configured
	Files    []NewFile
}

// NewFile is a file of a submission.
type NewFile struct {
	Filename, MimeType, FormField string
	Content                       []byte
}

// Submission is a submission that is stored (spec 2.3).
type Submission struct {
	ID        string           `json:"id"`
	Name      string           `json:"name"` // of the form
	Instance  string           `json:"instance"`
	Locale    string           `json:"locale"`
	Label     string           `json:"label"`
	Data      json.RawMessage  `json:"data"` // null once it was processed
	Tries     int              `json:"processTryCounter"`
	ProcessID string           `json:"processId"` // empty: nobody processes it
	ProcessBy string           `json:"processBy"`
	Created   time.Time        `json:"created"`
	Modified  time.Time        `json:"modified"`
	Expires   time.Time        `json:"expireDate"` // zero: never
	Files     []SubmissionFile `json:"files"`
	FileURLs  []string         `json:"file_urls"`
}

// SubmissionFile is a file of a submission that is stored.
type SubmissionFile struct {
	ID        string `json:"id"`
	Filename  string `json:"filename"`
	MimeType  string `json:"mimeType"`
	Size      int64  `json:"size,string"` // bytes
	FormField string `json:"formField"`
}

// Submit stores a submission. POST /api/forms/submissions (spec 4.4).
func (f *Forms) Submit(ctx context.Context, n NewSubmission) (*Submission, error) {
	type file struct {
		Filename  string `json:"filename"`
		MimeType  string `json:"mimeType"`
		Base64    []byte `json:"base64"`
		Size      int    `json:"size,string"`
		FormField string `json:"form_field"`
	}
	body := struct {
		FormName string `json:"form_name"`
		Instance string `json:"instance"`
		Locale   string `json:"locale"`
		Data     any    `json:"data"`
		Label    string `json:"label,omitempty"`
		Expires  string `json:"expire_date,omitempty"`
		Files    []file `json:"files,omitempty"`
	}{FormName: n.FormName, Instance: n.Instance, Locale: n.Locale, Data: n.Data, Label: n.Label}
	if !n.Expires.IsZero() {
		body.Expires = n.Expires.Format(time.DateOnly)
	}
	for _, one := range n.Files {
		content := one.Content
		if content == nil {
			content = []byte{}
		}
		body.Files = append(body.Files, file{one.Filename, one.MimeType, content, len(content), one.FormField})
	}
	var a struct {
		Submission Submission `json:"submission"`
	}
	if _, err := f.c.do(ctx, post("/api/forms/submissions").json(body), &a); err != nil {
		return nil, err
	}
	return &a.Submission, nil
}

// Get reads a submission. fileURL may be empty, or the address of a file with
// {SUBMISSION_ID} and {FILE_ID}, which FileURLs then has for each of them. GET
// /api/forms/submissions/{submissionId} (spec 4.4).
func (f *Forms) Get(ctx context.Context, id, fileURL string) (*Submission, error) {
	var s Submission
	if _, err := f.c.do(ctx, get("/api/forms/submissions/{}", id).set("fileUrl", fileURL), &s); err != nil {
		return nil, err
	}
	return &s, nil
}

// Property reads one value of a submission, such as data[email]; null when there
// is none. GET /api/forms/submissions/{submissionId}?property= (spec 4.4).
func (f *Forms) Property(ctx context.Context, id, path string) (json.RawMessage, error) {
	var a map[string]json.RawMessage
	_, err := f.c.do(ctx, get("/api/forms/submissions/{}", id).set("property", path), &a)
	return a[path], err
}

// OpenFile reads a file of a submission as a stream. Close it. GET
// /api/forms/submissions/{submissionId}/files/{fileId} (spec 4.4).
func (f *Forms) OpenFile(ctx context.Context, id, file string) (*Content, error) {
	k := get("/api/forms/submissions/{}/files/{}", id, file)
	k.header.Set("Accept", "*/*")
	resp, err := f.c.open(ctx, k)
	if err != nil {
		return nil, err
	}
	c, err := content(resp)
	if err != nil {
		_ = resp.Body.Close()
		return nil, err
	}
	return c, nil
}

// NewCode makes a verification code for a value, or gives the one that is valid,
// for another three hours. POST /api/forms/verifications (spec 4.4).
func (f *Forms) NewCode(ctx context.Context, value string) (code string, err error) {
	return f.code(ctx, post("/api/forms/verifications").json(map[string]string{"value": value}))
}

// Code gives the code that is valid for a value; 404 when there is none. GET
// /api/forms/verifications (spec 4.4).
func (f *Forms) Code(ctx context.Context, value string) (code string, err error) {
	k := get("/api/forms/verifications")
	k.query.Set("value", value)
	return f.code(ctx, k)
}

func (f *Forms) code(ctx context.Context, k *call) (string, error) {
	var a struct {
		Code string `json:"code"`
	}
	_, err := f.c.do(ctx, k, &a)
	return a.Code, err
}

// CheckCode uses a code up. 400 with the code code_wrong for a wrong one, 429
// with code_locked after five of them, 404 when there is none. POST
// /api/forms/verifications/check.
func (f *Forms) CheckCode(ctx context.Context, value, code string) error {
	_, err := f.c.do(ctx, post("/api/forms/verifications/check").json(map[string]string{"value": value, "code": code}).judged(), nil)
	return err
}

// SubmissionFilter says which submissions are wanted; empty members fit all.
type SubmissionFilter struct {
	FormName, Instance, Locale string
	Since, Until               time.Time // of their creation; Until is not included
	Processed                  string    // yes or no
}

func (s *SubmissionFilter) on(k *call) *call {
	return k.set("form_name", s.FormName).set("instance", s.Instance).set("locale", s.Locale).
		set("since", written(s.Since)).set("until", written(s.Until)).set("processed", s.Processed)
}

// List gives submissions without their files, the oldest first. This and what
// follows needs ROLE_FORM_CRM or ROLE_ADMIN. GET /api/forms/submissions.
func (f *Forms) List(ctx context.Context, filter SubmissionFilter) iter.Seq2[*Submission, error] {
	return pages(func(after int64) ([]*Submission, int64, error) {
		var page struct {
			Submissions []*Submission `json:"submissions"`
			Next        int64         `json:"next"` // null after the last
		}
		_, err := f.c.do(ctx, filter.on(get("/api/forms/submissions")).number("after", after).number("limit", 100), &page)
		return page.Submissions, page.Next, err
	})
}

// Export gives submissions as a table: csv or xlsx. Close it. GET
// /api/forms/submissions/export.
func (f *Forms) Export(ctx context.Context, filter SubmissionFilter, format string) (io.ReadCloser, error) {
	k := filter.on(get("/api/forms/submissions/export")).set("format", format)
	k.header.Set("Accept", "*/*")
	resp, err := f.c.open(ctx, k)
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

// Claim takes a submission in order to process it; 409 when it was processed or
// is somebody else's. POST /api/forms/submissions/{submission}/claim.
func (f *Forms) Claim(ctx context.Context, id string) (*Submission, error) {
	return f.claim(ctx, post("/api/forms/submissions/{}/claim", id))
}

// ClaimNext takes the oldest submission of a form that waits to be processed;
// nil when there is none. POST /api/forms/submissions/claim.
func (f *Forms) ClaimNext(ctx context.Context, formName string) (*Submission, error) {
	return f.claim(ctx, post("/api/forms/submissions/claim").json(map[string]string{"form_name": formName}))
}

func (f *Forms) claim(ctx context.Context, k *call) (*Submission, error) {
	var a struct {
		Submission *Submission `json:"submission"`
	}
	_, err := f.c.do(ctx, k, &a)
	return a.Submission, err
}

// Complete says that a submission was processed: its data and files are removed,
// unless they are to be kept. 409 when the claim was lost. POST
// /api/forms/submissions/{submission}/complete.
func (f *Forms) Complete(ctx context.Context, id, processID string, keep bool) error {
	return f.end(ctx, "complete", id, map[string]any{"processId": processID, "keep": keep})
}

// Fail gives a submission back. POST
// /api/forms/submissions/{submission}/fail.
func (f *Forms) Fail(ctx context.Context, id, processID string) error {
	return f.end(ctx, "fail", id, map[string]any{"processId": processID})
}

func (f *Forms) end(ctx context.Context, verb, id string, body any) error {
	_, err := f.c.do(ctx, post("/api/forms/submissions/{}/{}", id, verb).json(body).judged(), nil)
	return err
}

// Delete removes a submission with its files. DELETE
// /api/forms/submissions/{submission}.
func (f *Forms) Delete(ctx context.Context, id string) error {
	_, err := f.c.do(ctx, newCall(http.MethodDelete, "/api/forms/submissions/{}", id), nil)
	return err
}

// Access is a reading of a submission.
type Access struct {
	Username string    `json:"username"`
	What     string    `json:"what"`
	Address  string    `json:"address"`
	At       time.Time `json:"at"`
}

// Readers lists who read a submission, also one that is no more. GET
// /api/forms/submissions/{submission}/access.
func (f *Forms) Readers(ctx context.Context, id string) (all []Access, err error) {
	_, err = f.c.do(ctx, get("/api/forms/submissions/{}/access", id), &all)
	return all, err
}
