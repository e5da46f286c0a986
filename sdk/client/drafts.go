package client

import (
	"context"
	"encoding/json"
	"strconv"
	"time"
)

// Create starts a new document as a draft; the server chooses its ouuid. See
// Index for data. POST /api/data/{type}/create.
func (d *Documents) Create(ctx context.Context, data any, options ...WriteOption) (*Written, error) {
	return d.write(ctx, d.post("/create").json(data), options)
}

// CreateAs starts a new document with an ouuid as a draft; 409 when the ouuid is
// taken. POST /api/data/{type}/create/{ouuid}.
func (d *Documents) CreateAs(ctx context.Context, ouuid string, data any, options ...WriteOption) (*Written, error) {
	return d.write(ctx, d.post("/create/{}", ouuid).json(data), options)
}

// Replace starts a draft with new data; 409 when there is a draft. POST
// /api/data/{type}/replace/{ouuid}.
func (d *Documents) Replace(ctx context.Context, ouuid string, data any, options ...WriteOption) (*Written, error) {
	return d.write(ctx, d.post("/replace/{}", ouuid).json(data), options)
}

// Merge starts a draft with changed fields; 409 when there is a draft. POST
// /api/data/{type}/merge/{ouuid}.
func (d *Documents) Merge(ctx context.Context, ouuid string, fields any, options ...WriteOption) (*Written, error) {
	return d.write(ctx, d.post("/merge/{}", ouuid).json(fields), options)
}

// Finalize ends the work on a draft; revision is that of Written. POST
// /api/data/{type}/finalize/{revision}.
func (d *Documents) Finalize(ctx context.Context, revision int64, options ...WriteOption) (*Written, error) {
	return d.write(ctx, d.post("/finalize/{}", strconv.FormatInt(revision, 10)), options)
}

// Discard throws a draft away. POST /api/data/{type}/discard/{revision}.
func (d *Documents) Discard(ctx context.Context, revision int64, options ...WriteOption) (*Written, error) {
	return d.write(ctx, d.post("/discard/{}", strconv.FormatInt(revision, 10)), options)
}

// Restore makes the data of an old revision the newest again, also of a document
// in the trash. POST /api/data/{type}/restore/{ouuid}/{revision}.
func (d *Documents) Restore(ctx context.Context, ouuid string, revision int64, options ...WriteOption) (*Written, error) {
	return d.write(ctx, d.post("/restore/{}/{}", ouuid, strconv.FormatInt(revision, 10)), options)
}

// Draft is a draft that somebody works on.
type Draft struct {
	Revision  int64           `json:"id,string"`
	OUUID     string          `json:"ouuid"`
	Type      string          `json:"content_type"`
	Circles   []string        `json:"circles"`
	Saved     time.Time       `json:"save_date"`
	Created   time.Time       `json:"created"`
	CreatedBy string          `json:"created_by"`
	Data      json.RawMessage `json:"raw_data"` // when it was asked for
}

// DraftFilter says which drafts are wanted.
type DraftFilter struct {
	Circles []string // only documents of one of these; none: all
	Data    bool     // with their data
	Limit   int      // 0: 500
}

// Drafts lists the drafts of what the caller may view, the newest first. GET
// /api/meta/drafts.
func (c *Client) Drafts(ctx context.Context, f DraftFilter) ([]Draft, error) {
	k := get("/api/meta/drafts").number("limit", int64(f.Limit))
	for _, circle := range f.Circles {
		k.query.Add("circles", circle)
	}
	if f.Data {
		k.set("includeRawData", "true")
	}
	var all []Draft
	_, err := c.do(ctx, k, &all)
	return all, err
}
