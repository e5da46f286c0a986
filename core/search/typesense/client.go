package typesense

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/typesense/typesense-go/v3/typesense"
	"github.com/typesense/typesense-go/v3/typesense/api"

	"github.com/quoin-cms/quoin/core/problem"
)

// Limits of requests.
const (
	maxSearches   = 50 // of one multi_search
	maxCandidates = 100_000
	maxAnswer     = 1 << 30 // bytes of an answer that is read as a whole
	attempts      = 5       // of a request that may be repeated
)

// How long a call may take when its context has no earlier end.
const (
	callTimeout   = 30 * time.Second
	writeTimeout  = 2 * time.Minute
	healthTimeout = 3 * time.Second
)

// node is one server of a cluster.
type node struct {
	name string // of its URL, without anything secret
	api  *typesense.Client
	raw  *api.ClientWithResponses
}

// client talks to the servers of one cluster. A request goes to one of them,
// and to the next when that is not there.
type client struct {
	nodes []node
	first atomic.Uint32 // the node that answered last
	log   *slog.Logger
	pause time.Duration // before the second attempt
}

func newClient(urls []string, key string, log *slog.Logger) (*client, error) {
	c := &client{log: log, pause: 50 * time.Millisecond}
	transport := &http.Transport{
		Proxy:        http.ProxyFromEnvironment,
		DialContext:  (&net.Dialer{Timeout: 3 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		MaxIdleConns: 256, MaxIdleConnsPerHost: 128, IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: 5 * time.Second,
	}
	for _, text := range urls {
		u, err := url.Parse(strings.TrimSpace(text))
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return nil, fmt.Errorf("the URL of a Typesense server begins with http:// or https:// and a host")
		}
		raw, err := api.NewClientWithResponses(strings.TrimSuffix(u.String(), "/"), api.WithAPIKey(key),
			api.WithHTTPClient(&guard{next: &http.Client{Transport: transport}}))
		if err != nil {
			return nil, err
		}
		// With a low-level client of its own the library has no breaker, which
		// would open for everybody after a hundred clients that hang up.
		c.nodes = append(c.nodes, node{name: u.Host, raw: raw, api: typesense.NewClient(typesense.WithAPIClient(raw))})
	}
	if len(c.nodes) == 0 {
		return nil, errors.New("the URL of a Typesense server is missing")
	}
	return c, nil
}

// errRefused is inside the errors of requests that the guard did not let out.
var errRefused = errors.New("the request would harm the server")

// do runs fn with the first node that answers. A request that may be repeated
// is, with growing pauses, when the server is not ready, the connection breaks,
// or a node takes more of the time than it may, so that others have some left.
func (c *client) do(caller context.Context, timeout time.Duration, again bool, fn func(context.Context, *node) error) error {
	ctx, cancel := context.WithTimeout(caller, timeout)
	defer cancel()
	pause := c.pause
	for try := 1; ; try++ {
		at := c.first.Load()
		n := &c.nodes[int(at)%len(c.nodes)]
		left := 1
		if again {
			left = len(c.nodes) - (try-1)%len(c.nodes)
		}
		err := within(ctx, left, n, fn)
		if err == nil {
			return nil
		}
		if temporary(err) && caller.Err() == nil {
			c.first.CompareAndSwap(at, at+1) // also if no time is left: the next request goes to another
		}
		retry := temporary(err) && ctx.Err() == nil
		if !retry || !again && !unsent(err) || try >= attempts {
			return c.translate(ctx, n, err)
		}
		c.log.DebugContext(ctx, "Typesense did not answer; trying again", "node", n.name, "error", err)
		if try%len(c.nodes) == 0 { // every node was tried
			select {
			case <-ctx.Done():
				return c.translate(ctx, n, err)
			case <-time.After(pause/2 + rand.N(pause)):
			}
			pause *= 2
		}
	}
}

// within runs fn with its share of the time that is left.
func within(ctx context.Context, shares int, n *node, fn func(context.Context, *node) error) error {
	if end, ok := ctx.Deadline(); ok && shares > 1 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Until(end)/time.Duration(shares))
		defer cancel()
	}
	return fn(ctx, n)
}

// temporary tells whether another attempt can help.
func temporary(err error) bool {
	if errors.Is(err, errRefused) || errors.Is(err, context.Canceled) {
		return false
	}
	var h *typesense.HTTPError
	if errors.As(err, &h) {
		return h.Status >= 502 && h.Status <= 504 || h.Status == 429
	}
	var u *url.Error
	return errors.As(err, &u) || errors.Is(err, io.ErrUnexpectedEOF)
}

// unsent tells that the request has not reached the server.
func unsent(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// translate makes a problem of an error. What the server says is for the log.
func (c *client) translate(ctx context.Context, n *node, err error) error {
	var p *problem.Problem
	var h *typesense.HTTPError
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &h):
		return fault(n.name, h.Status, string(h.Body))
	case errors.Is(err, errRefused):
		return problem.Wrap(err, problem.Internal, "the search engine was not asked")
	case errors.Is(err, context.Canceled):
		return err
	case ctx.Err() != nil:
		return fmt.Errorf("typesense at %s: %w (%w)", n.name, err, ctx.Err())
	}
	return unavailable(fmt.Errorf("typesense at %s: %w", n.name, err))
}

// fault makes a problem of a status and the message of the server.
func fault(node string, status int, message string) error {
	if len(message) > 500 {
		message = message[:500]
	}
	cause := fmt.Errorf("typesense at %s: status %d: %s", node, status, message)
	switch {
	case status == http.StatusUnauthorized:
		return problem.Wrap(fmt.Errorf("search.key is not accepted: %w", cause), problem.Unavailable, "the search engine does not know this server").WithCode("search_key")
	case status == http.StatusNotFound:
		return problem.Wrap(cause, problem.NotFound, "the search index is gone")
	case status == http.StatusConflict:
		return problem.Wrap(cause, problem.Conflict, "there is one of this name already")
	case status == http.StatusTooManyRequests, status >= 502 && status <= 504:
		return unavailable(cause)
	}
	return problem.Wrap(cause, problem.Internal, "the search engine refused the request")
}

func unavailable(cause error) error {
	p := problem.Wrap(cause, problem.Unavailable, "the search engine is not ready: try again in a moment").WithCode("search_unavailable")
	p.RetryAfter = 2 * time.Second
	return p
}

// entry is one search of a multi_search. Empty members are left out. Highlights
// are never asked for.
type entry struct {
	Collection     string `json:"collection"`
	Q              string `json:"q"` // "*" when empty
	QueryBy        string `json:"query_by,omitempty"`
	FilterBy       string `json:"filter_by,omitempty"`
	SortBy         string `json:"sort_by,omitempty"`
	IncludeFields  string `json:"include_fields,omitempty"`
	FacetBy        string `json:"facet_by,omitempty"`
	FacetStrategy  string `json:"facet_strategy,omitempty"` // "exhaustive" with FacetBy when empty
	MaxFacetValues int    `json:"max_facet_values,omitempty"`
	PerPage        int    `json:"per_page"` // 0 counts only, 250 at most
	Offset         int    `json:"offset,omitempty"`
	GroupBy        string `json:"group_by,omitempty"`
	GroupLimit     int    `json:"group_limit,omitempty"`

	// With Q. Prefix and typos are off unless they are set.
	Prefix              bool `json:"prefix"`
	NumTypos            int  `json:"num_typos"`
	MinLen1Typo         int  `json:"min_len_1typo,omitempty"`
	MinLen2Typo         int  `json:"min_len_2typo,omitempty"`
	TypoTokensThreshold int  `json:"typo_tokens_threshold"`
	DropTokensThreshold int  `json:"drop_tokens_threshold"`
	MaxCandidates       int  `json:"max_candidates,omitempty"`
	ExhaustiveSearch    bool `json:"exhaustive_search,omitempty"`

	HighlightFields   string `json:"highlight_fields"`
	EnableHighlightV1 bool   `json:"enable_highlight_v1"`
	EnableOverrides   bool   `json:"enable_overrides"`
	EnableSynonyms    bool   `json:"enable_synonyms"`
}

// rawResult is the answer to an entry. Documents are as the server wrote them:
// numbers in them do not fit into float64.
type rawResult struct {
	Found       int64      `json:"found"`
	FoundDocs   int64      `json:"found_docs"`
	OutOf       int64      `json:"out_of"`
	Hits        []rawHit   `json:"hits"`
	GroupedHits []rawGroup `json:"grouped_hits"`
	FacetCounts []rawFacet `json:"facet_counts"`
	Code        int        `json:"code"`
	Error       string     `json:"error"`
}

type rawHit struct {
	Document json.RawMessage `json:"document"`
}

type rawGroup struct {
	Found int64             `json:"found"`
	Key   []json.RawMessage `json:"group_key"`
	Hits  []rawHit          `json:"hits"`
}

type rawFacet struct {
	Field  string     `json:"field_name"`
	Counts []rawCount `json:"counts"`
}

type rawCount struct {
	Value string `json:"value"`
	Count int64  `json:"count"`
}

// multiSearch runs the entries, 50 to a request, and gives their answers in
// order. An entry that fails is an error.
func (c *client) multiSearch(ctx context.Context, entries []entry) ([]rawResult, error) {
	out := make([]rawResult, 0, len(entries))
	for len(entries) > 0 {
		n := min(maxSearches, len(entries))
		part, err := c.searchPart(ctx, entries[:n])
		if err != nil {
			return nil, err
		}
		out, entries = append(out, part...), entries[n:]
	}
	return out, nil
}

func (c *client) searchPart(ctx context.Context, entries []entry) ([]rawResult, error) {
	list := make([]entry, len(entries))
	for i, e := range entries {
		if e.Q == "" {
			e.Q = "*"
		}
		if e.FacetBy != "" && e.FacetStrategy == "" {
			e.FacetStrategy = "exhaustive"
		}
		e.HighlightFields = "none"
		list[i] = e
	}
	body, err := json.Marshal(map[string]any{"searches": list})
	if err != nil {
		return nil, err
	}
	// It is known here and not in the entries, to the library.
	candidates := maxCandidates
	params := &api.MultiSearchParams{MaxFilterByCandidates: &candidates}
	var answer struct{ Results []rawResult }
	err = c.do(ctx, callTimeout, true, func(ctx context.Context, n *node) error {
		res, err := n.raw.MultiSearchWithBody(ctx, params, "application/json", bytes.NewReader(body))
		if err != nil {
			return err
		}
		defer func() { _ = res.Body.Close() }()
		text, err := read(res, http.StatusOK)
		if err != nil {
			return err
		}
		answer.Results = nil
		if err := json.Unmarshal(text, &answer); err != nil || len(answer.Results) != len(list) {
			return fmt.Errorf("the answer to a search has %d of %d results: %w", len(answer.Results), len(list), errors.Join(err, io.ErrUnexpectedEOF))
		}
		for i, r := range answer.Results {
			if r.Error != "" || r.Code >= 400 {
				return &typesense.HTTPError{Status: r.Code, Body: fmt.Appendf(nil, "%s (search %d of collection %s)", r.Error, i, list[i].Collection)}
			}
		}
		return nil
	})
	return answer.Results, err
}

// export gives rows that match a filter, which must have no prefix, one JSON
// object per call of each.
func (c *client) export(ctx context.Context, collection, filter, fields string, each func(row []byte) error) error {
	params := &api.ExportDocumentsParams{}
	if filter != "" {
		params.FilterBy = &filter
	}
	if fields != "" {
		params.IncludeFields = &fields
	}
	var text []byte
	err := c.do(ctx, writeTimeout, true, func(ctx context.Context, n *node) error {
		res, err := n.raw.ExportDocuments(ctx, collection, params)
		if err != nil {
			return err
		}
		defer func() { _ = res.Body.Close() }()
		text, err = read(res, http.StatusOK)
		return err
	})
	if err != nil {
		return err
	}
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		if len(line) == 0 {
			continue
		}
		if err := each(line); err != nil {
			return err
		}
	}
	return nil
}

// read gives the whole body of an answer that has the status; the caller closes
// it.
func read(res *http.Response, want int) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if res.StatusCode != want {
		return nil, &typesense.HTTPError{Status: res.StatusCode, Body: text}
	}
	return text, err
}
