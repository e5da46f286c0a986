package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"strconv"
	"time"
)

// Documents is about the documents of one content type (spec 4.5).
type Documents struct {
	c    *Client
	name string
}

// Documents gives the documents of a content type; no call is made.
func (c *Client) Documents(contentType string) *Documents { return &Documents{c, contentType} }

func (d *Documents) get(path string, names ...string) *call {
	return get("/api/data/{}"+path, append([]string{d.name}, names...)...)
}

func (d *Documents) post(path string, names ...string) *call {
	return post("/api/data/{}"+path, append([]string{d.name}, names...)...).judged()
}

// Document is the newest revision of a document, which may be a draft.
type Document struct {
	OUUID    string          `json:"ouuid"`
	Revision int64           `json:"id"`
	Data     json.RawMessage `json:"revision"` // an object, with system fields such as _sha1
	ETag     string          `json:"-"`        // for IfMatch
}

// Decode reads the data into v, as json.Unmarshal does.
func (d *Document) Decode(v any) error { return json.Unmarshal(d.Data, v) }

// Get reads a document. GET /api/data/{type}/{ouuid} (spec 4.5).
func (d *Documents) Get(ctx context.Context, ouuid string) (*Document, error) {
	var doc Document
	header, err := d.c.do(ctx, d.get("/{}", ouuid), &doc)
	if err != nil {
		return nil, err
	}
	doc.ETag = header.Get("ETag")
	return &doc, nil
}

// Exists tells whether there is a document. HEAD /api/data/{type}/{ouuid}.
func (d *Documents) Exists(ctx context.Context, ouuid string) (bool, error) {
	return d.c.head(ctx, newCall(http.MethodHead, "/api/data/{}/{}", d.name, ouuid))
}

// head tells whether something is there.
func (c *Client) head(ctx context.Context, k *call) (bool, error) {
	_, err := c.do(ctx, k, nil)
	if Status(err) == http.StatusNotFound {
		return false, nil
	}
	return err == nil, err
}

// Written is what became of a document.
type Written struct {
	OUUID    string   `json:"ouuid"`
	Type     string   `json:"type"`
	Revision int64    `json:"revision_id"` // 0 where none was made or meant
	Notices  []string `json:"notice"`
	Warnings []string `json:"warning"`
	Already  bool     `json:"already-published"` // of Publish: nothing had to be done
	Was      bool     `json:"was-published"`     // of Unpublish: something had to be done
	ETag     string   `json:"-"`                 // for IfMatch; may be empty
}

// WriteOption changes how a document is written.
type WriteOption func(*write)

type write struct {
	refresh bool
	match   string
}

// Refresh has the call answered when the document is searchable.
func Refresh() WriteOption { return func(w *write) { w.refresh = true } }

// IfMatch refuses the call with 412 unless the document is at this state: the
// ETag of a Document, or the number of its revision.
func IfMatch(state string) WriteOption { return func(w *write) { w.match = state } }

// write makes a call that changes a document. What depends on the state before
// it is not made twice.
func (d *Documents) write(ctx context.Context, k *call, options []WriteOption) (*Written, error) {
	var w write
	for _, o := range options {
		o(&w)
	}
	if w.refresh {
		k.set("refresh", "true")
	}
	if w.match != "" {
		k.header.Set("If-Match", w.match)
		k.again = false
	}
	var out Written
	header, err := d.c.do(ctx, k, &out)
	if err != nil && (Status(err) != http.StatusOK || out.Revision == 0) {
		return nil, err
	}
	out.ETag = header.Get("ETag")
	return &out, err
}

// Index creates a document and finalizes it; the server chooses its ouuid. data
// is a JSON object (a []byte or json.RawMessage), or a value that becomes one.
//
// When the data breaks the content type, the error has the status 200 and says
// why, and Written is there as well: its Revision is a draft that holds the
// data. POST /api/data/{type}/index (spec 4.5).
func (d *Documents) Index(ctx context.Context, data any, options ...WriteOption) (*Written, error) {
	return d.write(ctx, d.post("/index").json(data), options)
}

// Put creates the document with an ouuid, or replaces its data, and finalizes
// it. See Index. POST /api/data/{type}/index/{ouuid} (spec 4.5).
func (d *Documents) Put(ctx context.Context, ouuid string, data any, options ...WriteOption) (*Written, error) {
	return d.write(ctx, d.post("/index/{}", ouuid).json(data).idempotent(), options)
}

// Update changes fields of a document and finalizes it: fields that are not
// given keep their value, and objects in fields are replaced whole. See Index.
// POST /api/data/{type}/update/{ouuid} (spec 4.5).
func (d *Documents) Update(ctx context.Context, ouuid string, fields any, options ...WriteOption) (*Written, error) {
	return d.write(ctx, d.post("/update/{}", ouuid).json(fields).idempotent(), options)
}

// Delete puts a document into the trash; it leaves every environment. POST
// /api/data/{type}/delete/{ouuid}.
func (d *Documents) Delete(ctx context.Context, ouuid string, options ...WriteOption) (*Written, error) {
	return d.write(ctx, d.post("/delete/{}", ouuid), options)
}

// Publish publishes the newest finalized revision in an environment. POST
// /api/data/{type}/publish/{ouuid}/{environment}.
func (d *Documents) Publish(ctx context.Context, ouuid, environment string, options ...WriteOption) (*Written, error) {
	return d.write(ctx, d.post("/publish/{}/{}", ouuid, environment).idempotent(), options)
}

// PublishRevision publishes a certain revision. POST
// /api/data/{type}/publish/{ouuid}/{environment}/{revision}.
func (d *Documents) PublishRevision(ctx context.Context, ouuid, environment string, revision int64, options ...WriteOption) (*Written, error) {
	return d.write(ctx, d.post("/publish/{}/{}/{}", ouuid, environment, strconv.FormatInt(revision, 10)).idempotent(), options)
}

// Unpublish takes a document out of an environment, which must not be the
// default one of its content type. POST
// /api/data/{type}/unpublish/{ouuid}/{environment}.
func (d *Documents) Unpublish(ctx context.Context, ouuid, environment string, options ...WriteOption) (*Written, error) {
	return d.write(ctx, d.post("/unpublish/{}/{}", ouuid, environment).idempotent(), options)
}

// Revision is one state of a document. Data is there when it was asked for with
// Documents.Revision.
type Revision struct {
	ID           int64           `json:"id"`
	Number       int64           `json:"number"` // counts from 1
	OUUID        string          `json:"ouuid"`
	Type         string          `json:"type"`
	Draft        bool            `json:"draft"`
	Deleted      bool            `json:"deleted"`
	Created      time.Time       `json:"created"`
	CreatedBy    string          `json:"created_by"`
	Finalized    time.Time       `json:"finalized"` // zero: not yet
	FinalizedBy  string          `json:"finalized_by"`
	LockedBy     string          `json:"locked_by"`
	Environments []string        `json:"environments"` // where it is published
	Data         json.RawMessage `json:"revision"`
}

// Revisions gives the revisions of a document, the newest first. GET
// /api/data/{type}/revisions/{ouuid}.
func (d *Documents) Revisions(ctx context.Context, ouuid string) iter.Seq2[*Revision, error] {
	return pages(func(before int64) ([]*Revision, int64, error) {
		var page []*Revision
		_, err := d.c.do(ctx, d.get("/revisions/{}", ouuid).number("before", before).number("limit", 1000), &page)
		if len(page) < 1000 {
			return page, 0, err
		}
		return page, page[len(page)-1].Number, err
	})
}

// pages gives the elements of one page after another. read gives a page and
// where the next begins, 0 after the last.
func pages[T any](read func(from int64) (page []T, next int64, err error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for from := int64(0); ; {
			page, next, err := read(from)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, v := range page {
				if !yield(v, nil) {
					return
				}
			}
			if from = next; next == 0 {
				return
			}
		}
	}
}

// Revision reads one revision by its ID. GET
// /api/data/{type}/revisions/{ouuid}/{revision}.
func (d *Documents) Revision(ctx context.Context, ouuid string, id int64) (*Revision, error) {
	var r Revision
	if _, err := d.c.do(ctx, d.get("/revisions/{}/{}", ouuid, strconv.FormatInt(id, 10)), &r); err != nil {
		return nil, err
	}
	return &r, nil
}
