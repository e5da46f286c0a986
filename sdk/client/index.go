package client

import (
	"context"
	"encoding/json"
	"time"
)

// Refresh waits until everything that was written is searchable. An empty index
// is every index. POST /api/search/refresh (spec 4.8).
func (s *Search) Refresh(ctx context.Context, index string) error {
	body := map[string]string{}
	if index != "" {
		body["index"] = index
	}
	k := post("/api/search/refresh").idempotent().json(body).judged()
	k.wait = time.Minute
	_, err := s.c.do(ctx, k, nil)
	return err
}

// Version is that of the query language, as Elasticsearch numbers it. GET
// /api/search/version (spec 4.8).
func (s *Search) Version(ctx context.Context) (string, error) {
	var a struct {
		Version string `json:"version"`
	}
	_, err := s.c.do(ctx, get("/api/search/version"), &a)
	return a.Version, err
}

// Health is green, yellow, or red while the indexes are filled. GET
// /api/search/health-status (spec 4.8).
func (s *Search) Health(ctx context.Context) (string, error) {
	var a struct {
		Status string `json:"status"`
	}
	_, err := s.c.do(ctx, get("/api/search/health-status"), &a)
	return a.Status, err
}

// ask makes a call about the names of indexes.
func (s *Search) ask(ctx context.Context, what string, body, out any) error {
	_, err := s.c.do(ctx, post("/api/search/{}", what).idempotent().json(body), out)
	return err
}

// HasIndex tells whether there is an index or alias. POST /api/search/has-index.
func (s *Search) HasIndex(ctx context.Context, index string) (bool, error) {
	var a struct {
		Exist bool `json:"exist"`
	}
	err := s.ask(ctx, "has-index", map[string]string{"index": index}, &a)
	return a.Exist, err
}

// Indexes lists the indexes behind aliases. POST
// /api/search/indices-from-aliases.
func (s *Search) Indexes(ctx context.Context, aliases ...string) ([]string, error) {
	var a struct {
		Indices []string `json:"indices"`
	}
	err := s.ask(ctx, "indices-from-aliases", map[string][]string{"aliases": aliases}, &a)
	return a.Indices, err
}

// Aliases lists the aliases of an index. POST /api/search/aliases-from-index.
func (s *Search) Aliases(ctx context.Context, index string) ([]string, error) {
	var a struct {
		Aliases []string `json:"aliases"`
	}
	err := s.ask(ctx, "aliases-from-index", map[string]string{"index": index}, &a)
	return a.Aliases, err
}

// IndexesByType lists, for each content type, the indexes behind aliases that
// hold documents of it. POST /api/search/indices-for-content-type.
func (s *Search) IndexesByType(ctx context.Context, aliases ...string) (map[string][]string, error) {
	var a struct {
		Indices map[string][]string `json:"indices"`
	}
	err := s.ask(ctx, "indices-for-content-type", map[string][]string{"aliases": aliases}, &a)
	return a.Indices, err
}

// Analysis says how a text is taken apart: by an analyzer, as a field is, or by a
// tokenizer with filters.
type Analysis struct {
	Analyzer    string   `json:"analyzer,omitempty"`
	Field       string   `json:"field,omitempty"`
	Tokenizer   string   `json:"tokenizer,omitempty"`
	Filters     []string `json:"filter,omitempty"`
	CharFilters []string `json:"char_filter,omitempty"`
}

// TextToken is a piece of a text as it is searched. Offsets count UTF-16 units,
// as in Elasticsearch.
type TextToken struct {
	Token    string `json:"token"`
	Start    int    `json:"start_offset"`
	End      int    `json:"end_offset"`
	Type     string `json:"type"`
	Position int    `json:"position"`
}

// Analyze shows the tokens of a text of at most 1 MiB. POST /api/search/analyze.
func (s *Search) Analyze(ctx context.Context, index, text string, how Analysis) ([]TextToken, error) {
	body := map[string]any{"text": text, "parameters": how}
	if index != "" {
		body["index"] = index
	}
	var a struct {
		Tokens []TextToken `json:"tokens"`
	}
	err := s.ask(ctx, "analyze", body, &a)
	return a.Tokens, err
}

// WithoutStopWords leaves out the words that an analyzer drops, of at most
// 10,000. POST /api/search/filter-stop-words.
func (s *Search) WithoutStopWords(ctx context.Context, index, analyzer string, words []string) ([]string, error) {
	var a struct {
		Filtered []string `json:"filtered"`
	}
	err := s.ask(ctx, "filter-stop-words", map[string]any{"index": index, "analyzer": analyzer, "words": words}, &a)
	return a.Filtered, err
}

// Schema gives the JSON Schema of the documents. GET
// /api/content-types/{type}/schema.
func (d *Documents) Schema(ctx context.Context) (json.RawMessage, error) {
	var schema json.RawMessage
	_, err := d.c.do(ctx, get("/api/content-types/{}/schema", d.name), &schema)
	return schema, err
}

// TypeNames is how a content type is called, and where it is published first.
type TypeNames struct {
	Singular    string `json:"singular_name"`
	Plural      string `json:"plural_name"`
	Alias       string `json:"default_alias"` // for Query.Indices
	Environment string `json:"default_name"`
}

// Names gives the names of the content type. GET /api/meta/{type}.
func (d *Documents) Names(ctx context.Context) (*TypeNames, error) {
	var n TypeNames
	if _, err := d.c.do(ctx, get("/api/meta/{}", d.name), &n); err != nil {
		return nil, err
	}
	return &n, nil
}
