package content

import (
	"context"
	"net/http"
	"strconv"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
	"github.com/quoin-cms/quoin/core/web"
)

// The parameters of the operations. They are exported because the HTTP layer
// sets the fields of embedded structs only then.
type (
	// TypePath names a content type.
	TypePath struct {
		Type string `path:"type" doc:"name of the content type"`
	}
	// DocumentPath names a document.
	DocumentPath struct {
		Type  string `path:"type" doc:"name of the content type"`
		OUUID string `path:"ouuid" doc:"identifier of the document"`
	}
	// RevisionPath names a revision by its id.
	RevisionPath struct {
		Type     string `path:"type" doc:"name of the content type"`
		Revision int64  `path:"revision" doc:"id of the revision"`
	}
	// NewBody is a document without an ouuid yet.
	NewBody struct {
		TypePath
		Refresh bool   `query:"refresh" doc:"answer when the document is searchable"`
		RawBody []byte `contentType:"application/json"`
	}
	// DocumentBody is a write to a document.
	DocumentBody struct {
		DocumentPath
		Refresh bool   `query:"refresh" doc:"answer when the document is searchable"`
		IfMatch string `header:"If-Match" doc:"ETag or revision id that the document must be at"`
		RawBody []byte `contentType:"application/json"`
	}
	// RevisionCall is a call about a revision, without a body.
	RevisionCall struct {
		RevisionPath
		Refresh bool `query:"refresh" doc:"answer when the document is searchable"`
	}
)

const tag = "Data"

// operations are the endpoints of documents (spec.md 4.5, contract-notes 1.5).
func operations(s *Service) []web.Operation {
	return append(append(reading(s), writing(s)...), publishing(s)...)
}

func reading(s *Service) []web.Operation {
	return []web.Operation{
		web.Op(web.Operation{
			ID: "data-get", Method: http.MethodGet, Path: "/api/data/{type}/{ouuid}", Also: []string{"/api/data/{type}/get/{ouuid}"}, Tag: tag,
			Summary: "Read the newest revision of a document", Errors: []int{404}, Answers: web.Media{Of: readAnswer{}},
			Doc: "The newest revision may be a draft. ETag names its state, for If-Match.",
		}, func(ctx context.Context, in *DocumentPath) (*web.Raw, error) {
			d, err := s.Get(ctx, in.Type, in.OUUID)
			if err != nil {
				return nil, err
			}
			return &web.Raw{ContentType: "application/json", ETag: d.ETag, Body: d.answer()}, nil
		}),
		web.Op(web.Operation{
			ID: "data-revisions", Method: http.MethodGet, Path: "/api/data/{type}/revisions/{ouuid}", Tag: tag,
			Summary: "List the revisions of a document, newest first", Errors: []int{404},
			Doc: "Without their data. before of the next call is the smallest number of this one.",
		}, func(ctx context.Context, in *struct {
			DocumentPath
			Before int64 `query:"before" minimum:"0" doc:"only revisions with a smaller number"`
			Limit  int   `query:"limit" default:"100" minimum:"1" maximum:"1000" doc:"revisions of one answer"`
		}) (*web.Reply[[]RevisionInfo], error) {
			list, err := s.Revisions(ctx, in.Type, in.OUUID, in.Before, in.Limit)
			if err != nil {
				return nil, err
			}
			return web.Answer(list)
		}),
		web.Op(web.Operation{
			ID: "data-revision", Method: http.MethodGet, Path: "/api/data/{type}/revisions/{ouuid}/{revision}", Tag: tag,
			Summary: "Read one revision of a document", Errors: []int{404}, Answers: web.Media{Of: revisionAnswer{}},
			Doc: "With its data, and the facts of the list beside it.",
		}, func(ctx context.Context, in *struct {
			DocumentPath
			Revision int64 `path:"revision" doc:"id of the revision"`
		}) (*web.Raw, error) {
			r, err := s.Revision(ctx, in.Type, in.OUUID, in.Revision)
			if err != nil {
				return nil, err
			}
			return r.answer()
		}),
	}
}

func writing(s *Service) []web.Operation {
	document, outcome := documentBody(), writeAnswer()
	write := func(id, path, summary, doc string, call func(context.Context, *DocumentBody) (*Outcome, error)) web.Operation {
		return web.Op(web.Operation{ID: id, Method: http.MethodPost, Path: path, Tag: tag, Summary: summary, Doc: doc, MaxBody: int64(s.cfg.MaxDocument), Errors: []int{400, 404, 409, 412, 413, 422, 423}, Takes: document, Answers: outcome},
			func(ctx context.Context, in *DocumentBody) (*web.Raw, error) {
				o, err := call(ctx, in)
				if err != nil {
					return nil, err
				}
				return o.answer()
			})
	}
	index := func(ctx context.Context, in *DocumentBody, merge bool) (*Outcome, error) {
		return s.Index(ctx, Write{Type: in.Type, OUUID: in.OUUID, Raw: in.RawBody, Merge: merge, Refresh: in.Refresh, IfMatch: in.IfMatch})
	}
	ops := []web.Operation{
		write("data-index", "/api/data/{type}/index/{ouuid}", "Create or replace a document and finalize it", indexDoc,
			func(ctx context.Context, in *DocumentBody) (*Outcome, error) { return index(ctx, in, false) }),
		write("data-update", "/api/data/{type}/update/{ouuid}", "Change fields of a document and finalize it", indexDoc+" The body is merged at the top level: nested objects and arrays are replaced whole.",
			func(ctx context.Context, in *DocumentBody) (*Outcome, error) { return index(ctx, in, true) }),
		write("data-replace", "/api/data/{type}/replace/{ouuid}", "Start a draft with new data", "The document must not have a draft: 409.",
			func(ctx context.Context, in *DocumentBody) (*Outcome, error) {
				return s.Draft(ctx, Write{Type: in.Type, OUUID: in.OUUID, Raw: in.RawBody, IfMatch: in.IfMatch})
			}),
		write("data-merge", "/api/data/{type}/merge/{ouuid}", "Start a draft with changed fields", "The document must not have a draft: 409.",
			func(ctx context.Context, in *DocumentBody) (*Outcome, error) {
				return s.Draft(ctx, Write{Type: in.Type, OUUID: in.OUUID, Raw: in.RawBody, Merge: true, IfMatch: in.IfMatch})
			}),
		write("data-create-as", "/api/data/{type}/create/{ouuid}", "Start a new document as a draft, with a given ouuid", "An ouuid that is taken: 409.",
			func(ctx context.Context, in *DocumentBody) (*Outcome, error) {
				return s.Create(ctx, in.Type, in.OUUID, in.RawBody)
			}),
	}
	ops[4].Also = []string{"/api/data/{type}/draft/{ouuid}"}
	return append(append(ops, creating(s)...), finishing(s)...)
}

const indexDoc = "Findings of the validation are answered with 200, success false and the revision_id of the draft that holds the data; the next index or update replaces it. A draft that was made on purpose is never overwritten: 409 draft_exists."

func creating(s *Service) []web.Operation {
	document, outcome := documentBody(), writeAnswer()
	return []web.Operation{
		web.Op(web.Operation{
			ID: "data-index-new", Method: http.MethodPost, Path: "/api/data/{type}/index", Tag: tag, MaxBody: int64(s.cfg.MaxDocument),
			Summary: "Create a document and finalize it", Doc: indexDoc, Errors: []int{400, 404, 413}, Takes: document, Answers: outcome,
		}, func(ctx context.Context, in *NewBody) (*web.Raw, error) {
			o, err := s.Index(ctx, Write{Type: in.Type, Raw: in.RawBody, Refresh: in.Refresh})
			if err != nil {
				return nil, err
			}
			return o.answer()
		}),
		web.Op(web.Operation{
			ID: "data-create", Method: http.MethodPost, Path: "/api/data/{type}/create", Also: []string{"/api/data/{type}/draft"}, Tag: tag, MaxBody: int64(s.cfg.MaxDocument),
			Summary: "Start a new document as a draft", Errors: []int{400, 404, 413, 422}, Takes: document, Answers: outcome,
			Doc: "The draft is searched by nobody; finalize it by its revision_id, or discard it.",
		}, func(ctx context.Context, in *NewBody) (*web.Raw, error) {
			o, err := s.Create(ctx, in.Type, "", in.RawBody)
			if err != nil {
				return nil, err
			}
			return o.answer()
		}),
	}
}

func finishing(s *Service) []web.Operation {
	outcome := writeAnswer()
	return []web.Operation{
		web.Op(web.Operation{
			ID: "data-finalize", Method: http.MethodPost, Path: "/api/data/{type}/finalize/{revision}", Tag: tag, MaxBody: int64(s.cfg.MaxDocument), EmptyBody: true,
			Summary: "Finalize a draft", Errors: []int{404, 409, 413, 422, 423}, Takes: documentBody(), Answers: outcome,
			Doc: "It becomes the newest revision in the default environment of its content type. Fields in the body, which may be empty, change the draft first; the others keep their value. " +
				"A draft that breaks the content type is refused with 422 and stays.",
		}, func(ctx context.Context, in *struct {
			RevisionCall
			RawBody []byte `contentType:"application/json"`
		}) (*web.Raw, error) {
			o, err := s.Finalize(ctx, in.Type, in.Revision, in.RawBody, in.Refresh)
			if err != nil {
				return nil, err
			}
			return o.answer()
		}),
		web.Op(web.Operation{
			ID: "data-discard", Method: http.MethodPost, Path: "/api/data/{type}/discard/{revision}", Tag: tag,
			Summary: "Throw a draft away", Errors: []int{400, 404, 409, 423}, Answers: outcome,
			Doc: "The document is as it was before; one that was never finalized is gone.",
		}, func(ctx context.Context, in *RevisionCall) (*web.Raw, error) {
			o, err := s.Discard(ctx, in.Type, in.Revision)
			if err != nil {
				return nil, err
			}
			return o.answer()
		}),
		web.Op(web.Operation{
			ID: "data-delete", Method: http.MethodPost, Path: "/api/data/{type}/delete/{ouuid}", Tag: tag,
			Summary: "Put a document into the trash", Errors: []int{404, 412, 423}, Answers: outcome, Doc: "It leaves every environment. Its revisions stay and can be restored. Searches do not find it any more when the answer comes; refresh=false does not wait for that.",
		}, func(ctx context.Context, in *struct {
			DocumentPath
			Refresh bool   `query:"refresh" default:"true" doc:"answer when the document is not found any more"`
			IfMatch string `header:"If-Match" doc:"ETag or revision id that the document must be at"`
		}) (*web.Raw, error) {
			o, err := s.Delete(ctx, in.Type, in.OUUID, in.IfMatch, in.Refresh)
			if err != nil {
				return nil, err
			}
			return o.answer()
		}),
		web.Op(web.Operation{
			ID: "data-restore", Method: http.MethodPost, Path: "/api/data/{type}/restore/{ouuid}/{revision}", Tag: tag,
			Summary: "Make the data of an old revision the newest again", Errors: []int{404, 409, 412, 422, 423}, Answers: outcome, Doc: "A new revision is made and finalized; also brings a document back from the trash.",
		}, func(ctx context.Context, in *struct {
			DocumentPath
			Revision int64  `path:"revision" doc:"id of the revision"`
			Refresh  bool   `query:"refresh" doc:"answer when the document is searchable"`
			IfMatch  string `header:"If-Match" doc:"ETag or revision id that the document must be at"`
		}) (*web.Raw, error) {
			o, err := s.Restore(ctx, in.Type, in.OUUID, in.Revision, in.Refresh, in.IfMatch)
			if err != nil {
				return nil, err
			}
			return o.answer()
		}),
	}
}

// PublishCall is a call about a document in an environment.
type PublishCall struct {
	DocumentPath
	Environment string `path:"environment" doc:"name of the environment"`
	Refresh     bool   `query:"refresh" doc:"answer when searches see it"`
}

func publishing(s *Service) []web.Operation {
	outcome := writeAnswer()
	publish := func(ctx context.Context, in *PublishCall, revision int64) (*web.Raw, error) {
		o, already, err := s.Publish(ctx, in.Type, in.OUUID, in.Environment, revision, in.Refresh)
		if err != nil {
			return nil, err
		}
		return o.answer(member{"already-published", strconv.FormatBool(already)})
	}
	return []web.Operation{
		web.Op(web.Operation{
			ID: "data-publish", Method: http.MethodPost, Path: "/api/data/{type}/publish/{ouuid}/{environment}", Tag: tag,
			Summary: "Publish the newest finalized revision", Errors: []int{404, 409}, Answers: outcome,
			Doc: "Searches of the environment find it from then on; already-published tells that it was there before.",
		}, func(ctx context.Context, in *PublishCall) (*web.Raw, error) { return publish(ctx, in, 0) }),
		web.Op(web.Operation{
			ID: "data-publish-revision", Method: http.MethodPost, Path: "/api/data/{type}/publish/{ouuid}/{environment}/{revision}", Tag: tag,
			Summary: "Publish a revision", Errors: []int{400, 404, 409}, Answers: outcome,
			Doc: "An older revision takes the place of a newer one in this environment.",
		}, func(ctx context.Context, in *struct {
			PublishCall
			Revision int64 `path:"revision" minimum:"1" doc:"id of the revision"`
		}) (*web.Raw, error) {
			return publish(ctx, &in.PublishCall, in.Revision)
		}),
		web.Op(web.Operation{
			ID: "data-unpublish", Method: http.MethodPost, Path: "/api/data/{type}/unpublish/{ouuid}/{environment}", Tag: tag,
			Summary: "Take a document out of an environment", Errors: []int{404, 409}, Answers: outcome, Doc: "The default environment of the content type is refused: delete the document instead.",
		}, func(ctx context.Context, in *PublishCall) (*web.Raw, error) {
			was, err := s.Unpublish(ctx, in.Type, in.OUUID, in.Environment, in.Refresh)
			if err != nil {
				return nil, err
			}
			o := &Outcome{Type: in.Type, OUUID: in.OUUID}
			if !was {
				o.Notices = []string{"the document was not published there"}
			}
			return o.answer(member{"was-published", strconv.FormatBool(was)})
		}),
	}
}

// member is one more member of an answer; the value is JSON.
type member struct{ key, value string }

// answer renders the envelope that clients of the Data API read: the arrays
// only when there is something in them.
func (o *Outcome) answer(more ...member) (*web.Raw, error) {
	b := make([]byte, 0, 256)
	b = append(b, `{"acknowledged":true,"success":`...)
	b = strconv.AppendBool(b, o.Ok())
	b = rawjson.AppendString(append(b, `,"ouuid":`...), o.OUUID)
	b = rawjson.AppendString(append(b, `,"type":`...), o.Type)
	if o.RevisionID != 0 {
		b = strconv.AppendInt(append(b, `,"revision_id":`...), o.RevisionID, 10)
	}
	for _, m := range more {
		b = append(append(append(append(b, `,"`...), m.key...), `":`...), m.value...)
	}
	b = list(b, "notice", o.Notices)
	b = list(b, "warning", sentences(o.Warnings))
	b = list(b, "error", sentences(o.Errors))
	return &web.Raw{ContentType: "application/json", ETag: o.etag, Body: append(b, '}')}, nil
}

func sentences(found []problem.FieldError) []string {
	var list []string
	for _, f := range found {
		if f.Path == "" {
			list = append(list, f.Message)
		} else {
			list = append(list, f.Path+": "+f.Message)
		}
	}
	return list
}

func list(b []byte, key string, items []string) []byte {
	if len(items) == 0 {
		return b
	}
	b = append(append(append(b, `,"`...), key...), `":[`...)
	for i, s := range items {
		if i > 0 {
			b = append(b, ',')
		}
		b = rawjson.AppendString(b, s)
	}
	return append(b, ']')
}

// answer splices the stored JSON into the envelope.
func (d *Document) answer() []byte {
	b := make([]byte, 0, len(d.Raw)+len(d.OUUID)+96)
	b = append(b, `{"acknowledged":true,"success":true,"revision":`...)
	b = append(b, d.Raw...)
	b = rawjson.AppendString(append(b, `,"ouuid":`...), d.OUUID)
	b = strconv.AppendInt(append(b, `,"id":`...), d.ID, 10)
	return append(b, '}')
}
