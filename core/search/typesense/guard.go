package typesense

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/quoin-cms/quoin/core/rawjson"
)

// Limits of what the server survives or answers. Each was met on a real one; the
// first three end or hang the process for everybody who uses it.
const (
	limitName       = maxName  // bytes of a field's name; 60 kB ends the process, and again at each start
	limitJoin       = 8 << 10  // bytes inside a join; about 20 kB end the process
	limitConditions = 50       // of a filter
	limitPage       = 250      // hits of a search
	limitURL        = 4000     // bytes of a query string
	limitBody       = 64 << 20 // bytes of a request that is not an import of one large document
)

// guard lets requests out to the server. Every request passes it, once per
// attempt, and those that could hang or end a node do not get further.
type guard struct {
	next *http.Client
}

// Do implements the sender of the library. The error of a request that must not
// go out has errRefused inside.
func (g *guard) Do(req *http.Request) (*http.Response, error) {
	if err := check(req); err != nil {
		return nil, fmt.Errorf("%s %s: %w: %w", req.Method, req.URL.Path, errRefused, err)
	}
	return g.next.Do(req)
}

func check(req *http.Request) error {
	if n := len(req.URL.RawQuery); n > limitURL {
		return fmt.Errorf("the query string has %d bytes", n)
	}
	body, err := bodyOf(req)
	if err != nil {
		return err
	}
	query := req.URL.Query()
	path := req.URL.Path
	switch {
	case path == "/multi_search":
		return checkSearches(body)
	case path == "/collections" && req.Method == http.MethodPost:
		return checkSchema(body)
	case strings.HasSuffix(path, "/documents/import"):
		return checkLines(body)
	case strings.HasSuffix(path, "/documents/export"):
		return checkFilter(query.Get("filter_by"), false)
	case strings.HasSuffix(path, "/documents") && req.Method == http.MethodDelete:
		if query.Get("filter_by") == "" {
			return fmt.Errorf("a deletion without a filter")
		}
		return checkFilter(query.Get("filter_by"), false)
	case req.Method == http.MethodGet && strings.HasSuffix(path, "/documents/search"):
		return fmt.Errorf("a search by its URL")
	case req.Method == http.MethodGet || req.Method == http.MethodDelete && strings.HasPrefix(path, "/collections/"):
		return nil
	}
	return fmt.Errorf("this kind of request is not known")
}

func bodyOf(req *http.Request) ([]byte, error) {
	if req.Body == nil || req.Body == http.NoBody {
		return nil, nil
	}
	if req.GetBody == nil {
		return nil, fmt.Errorf("the body cannot be looked at")
	}
	r, err := req.GetBody()
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	return io.ReadAll(r)
}

// checkSchema looks at a collection to be created. A reference to the collection
// itself hangs every write of the node after the second row.
func checkSchema(body []byte) error {
	var s struct {
		Name   string
		Fields []struct{ Name, Reference string }
	}
	if err := json.Unmarshal(body, &s); err != nil {
		return err
	}
	for _, f := range s.Fields {
		if len(f.Name) > limitName {
			return fmt.Errorf("a field has a name of %d bytes", len(f.Name))
		}
		if to, _, _ := strings.Cut(f.Reference, "."); f.Reference != "" && to == s.Name {
			return fmt.Errorf("the field %q refers to its own collection", f.Name)
		}
	}
	return nil
}

// checkLines looks at the rows of an import: every one has an id that a filter
// can name, and keys that the server survives. An empty line would get no
// verdict, so that those behind it went to the wrong rows.
func checkLines(body []byte) error {
	for line := range bytes.SplitSeq(body, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			return fmt.Errorf("an empty line")
		}
		id := ""
		err := rawjson.Members(line, func(key string, value []byte) error {
			if len(key) > limitName {
				return fmt.Errorf("a row has a field with a name of %d bytes", len(key))
			}
			if key == "id" {
				id, _ = rawjson.String(value)
			}
			return nil
		})
		if err != nil {
			return err
		}
		if err := checkID(id); err != nil {
			return err
		}
	}
	return nil
}

// checkID refuses ids that no filter can name.
func checkID(id string) error {
	if id == "" || id[0] == ' ' || strings.ContainsAny(id, "`\x00\n") {
		return fmt.Errorf("a row has the id %.40q", id)
	}
	return nil
}

func checkSearches(body []byte) error {
	if len(body) > limitBody {
		return fmt.Errorf("the searches have %d bytes", len(body))
	}
	var s struct {
		Searches []struct {
			Collection string `json:"collection"`
			Q          string `json:"q"`
			FilterBy   string `json:"filter_by"`
			SortBy     string `json:"sort_by"`
			FacetBy    string `json:"facet_by"`
			Pinned     string `json:"pinned_hits"`
			PerPage    int    `json:"per_page"`
			Offset     int    `json:"offset"`
		}
	}
	if err := json.Unmarshal(body, &s); err != nil {
		return err
	}
	if n := len(s.Searches); n == 0 || n > maxSearches {
		return fmt.Errorf("%d searches in one request", n)
	}
	for i := range s.Searches {
		e := &s.Searches[i]
		switch {
		case e.Collection == "" || e.Q == "":
			return fmt.Errorf("search %d has no collection or no q", i)
		case e.PerPage < 0 || e.PerPage > limitPage || e.Offset < 0:
			return fmt.Errorf("search %d asks for %d hits from %d on", i, e.PerPage, e.Offset)
		case e.Pinned != "" || strings.Contains(e.FacetBy, "("):
			return fmt.Errorf("search %d has numbers where the server does not check them", i)
		case strings.Contains(e.Q, "\x00"):
			return fmt.Errorf("search %d looks for a NUL byte", i)
		}
		if err := checkFilter(e.FilterBy, true); err != nil {
			return fmt.Errorf("search %d: %w", i, err)
		}
		if err := checkSort(e.SortBy); err != nil {
			return fmt.Errorf("search %d: %w", i, err)
		}
	}
	return nil
}
