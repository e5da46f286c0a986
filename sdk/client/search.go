package client

import (
	"context"
	"encoding/json"
	"iter"
	"time"
)

// Search is about searching and the indexes behind it (spec 4.8).
type Search struct{ c *Client }

// Query is a search object (spec 2.7). The parts in JSON are those of the query
// language of Elasticsearch; what the server does not know of it is 400 with its
// path.
type Query struct {
	Indices      []string        `json:"indices,omitempty"` // indexes, aliases, patterns with *; none: all
	Query        json.RawMessage `json:"query,omitempty"`
	ContentTypes []string        `json:"contentTypes,omitempty"`
	Sources      []string        `json:"sources,omitempty"` // fields to answer; none: all
	Aggs         json.RawMessage `json:"aggs,omitempty"`
	Sort         json.RawMessage `json:"sort,omitempty"`
	Highlight    json.RawMessage `json:"highlight,omitempty"`
	PostFilter   json.RawMessage `json:"post_filter,omitempty"`
	From         int             `json:"from,omitempty"`
	Size         *int            `json:"size,omitempty"` // nil: 10; see Size
	Regex        string          `json:"regex,omitempty"`

	// More are further members, such as collapse, suggest or search_after.
	More map[string]json.RawMessage `json:"-"`
}

// Size is a number of hits for Query.Size; 0 is none.
func Size(n int) *int { return &n }

// MarshalJSON implements json.Marshaler.
func (q Query) MarshalJSON() ([]byte, error) {
	type plain Query
	b, err := json.Marshal(plain(q))
	if err != nil || len(q.More) == 0 {
		return b, err
	}
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal(b, &all); err != nil {
		return nil, err
	}
	for name, value := range q.More {
		all[name] = value
	}
	return json.Marshal(all)
}

// Result is the answer of a search, in the form of Elasticsearch.
type Result struct {
	Took         int             // milliseconds
	Total        int64           // of all that was found, or at least so many
	AtLeast      bool            // Total is a lower bound
	MaxScore     *float64        // nil when nothing was scored
	Hits         []Hit           //
	Aggregations json.RawMessage // nil when none were asked for
	Suggest      json.RawMessage // likewise
	Raw          json.RawMessage // the answer as it came
}

// Hit is a document that was found.
type Hit struct {
	Index     string              `json:"_index"`
	ID        string              `json:"_id"` // ouuid
	Score     *float64            `json:"_score"`
	Source    json.RawMessage     `json:"_source"`
	Sort      []json.RawMessage   `json:"sort"` // for search_after
	Highlight map[string][]string `json:"highlight"`
	Fields    json.RawMessage     `json:"fields"`
	InnerHits json.RawMessage     `json:"inner_hits"`
}

// Decode reads the source into v, as json.Unmarshal does.
func (h *Hit) Decode(v any) error { return json.Unmarshal(h.Source, v) }

// UnmarshalJSON implements json.Unmarshaler.
func (r *Result) UnmarshalJSON(b []byte) error {
	var answer struct {
		Took int `json:"took"`
		Hits struct {
			Total struct {
				Value    int64  `json:"value"`
				Relation string `json:"relation"`
			} `json:"total"`
			MaxScore *float64 `json:"max_score"`
			Hits     []Hit    `json:"hits"`
		} `json:"hits"`
		Aggregations json.RawMessage `json:"aggregations"`
		Suggest      json.RawMessage `json:"suggest"`
	}
	if err := json.Unmarshal(b, &answer); err != nil {
		return err
	}
	h := &answer.Hits
	*r = Result{
		Took: answer.Took, Total: h.Total.Value, AtLeast: h.Total.Relation == "gte", MaxScore: h.MaxScore, Hits: h.Hits,
		Aggregations: answer.Aggregations, Suggest: answer.Suggest, Raw: append(json.RawMessage(nil), b...),
	}
	return nil
}

// asked makes the body of a search: the contract wants the search object as a
// string.
func asked(k *call, q *Query, more map[string]string) *call {
	text, err := json.Marshal(q)
	if err != nil {
		k.bad = err
		return k
	}
	body := map[string]string{"search": string(text)}
	for name, value := range more {
		body[name] = value
	}
	return k.json(body)
}

// Find searches. Only documents that the caller may view are found. POST
// /api/search/search (spec 4.8).
func (s *Search) Find(ctx context.Context, q Query) (*Result, error) {
	var r Result
	if _, err := s.c.do(ctx, asked(post("/api/search/search").idempotent(), &q, nil), &r); err != nil {
		return nil, err
	}
	return &r, nil
}

// Count counts what a search finds. POST /api/search/count (spec 4.8).
func (s *Search) Count(ctx context.Context, q Query) (int64, error) {
	var a struct {
		Count int64 `json:"count"`
	}
	_, err := s.c.do(ctx, asked(post("/api/search/count").idempotent(), &q, nil), &a)
	return a.Count, err
}

// Scroll gives everything that a search finds, page by page of q.Size hits, in
// no particular order. keep is how long the server waits for the next page to be
// asked for, between a second and an hour; 0 is three minutes. An error ends it:
// 404 when a page was asked for too late. POST /api/search/init-scroll and
// next-scroll.
func (s *Search) Scroll(ctx context.Context, q Query, keep time.Duration) iter.Seq2[*Hit, error] {
	return func(yield func(*Hit, error) bool) {
		expire := map[string]string{}
		if keep > 0 {
			expire["expire-time"] = (keep + time.Second - 1).Truncate(time.Second).String()
		}
		k := asked(post("/api/search/init-scroll"), &q, expire)
		for {
			var page struct {
				ID   string `json:"_scroll_id"`
				Hits struct {
					Hits []Hit `json:"hits"`
				} `json:"hits"`
			}
			if _, err := s.c.do(ctx, k, &page); err != nil {
				yield(nil, err)
				return
			}
			for i := range page.Hits.Hits {
				if !yield(&page.Hits.Hits[i], nil) {
					return
				}
			}
			if len(page.Hits.Hits) == 0 {
				return
			}
			body := map[string]string{"scroll-id": page.ID}
			for name, value := range expire {
				body[name] = value
			}
			k = post("/api/search/next-scroll").json(body)
		}
	}
}

// Lookup names a document as it is published.
type Lookup struct {
	Index       string   `json:"index"`                  // index or alias
	ContentType string   `json:"content-type,omitempty"` // may be empty: then an ouuid of several types is 409
	OUUID       string   `json:"ouuid"`
	Includes    []string `json:"source-includes,omitempty"`
	Excludes    []string `json:"source-excludes,omitempty"`
}

// Document reads a document as it is published. POST /api/search/document (spec
// 4.8).
func (s *Search) Document(ctx context.Context, l Lookup) (*Hit, error) {
	var h Hit
	if _, err := s.c.do(ctx, post("/api/search/document").idempotent().json(l), &h); err != nil {
		return nil, err
	}
	return &h, nil
}
