package double

import (
	"net/http"
	"slices"
	"strings"
)

func notFound() *failure { return fail(404, "Not Found") }

// route answers by path and method. Writes exclude everything else.
func (s *Server) route(c *call) (int, any, *failure) {
	writes := c.r.Method != http.MethodGet && c.parts[0] != "multi_search"
	if writes {
		s.mu.Lock()
		defer s.mu.Unlock()
	} else {
		s.mu.RLock()
		defer s.mu.RUnlock()
	}
	switch {
	case c.parts[0] == "collections" && len(c.parts) <= 2:
		return s.routeCollection(c)
	case c.parts[0] == "collections" && c.parts[2] == "documents":
		return s.routeDocuments(c)
	case c.parts[0] == "aliases" && len(c.parts) <= 2:
		return s.routeAlias(c)
	case len(c.parts) == 1 && c.parts[0] == "multi_search" && c.r.Method == http.MethodPost:
		return s.multiSearch(c)
	}
	return s.routeMeta(c)
}

// routeMeta answers what tells about the server.
func (s *Server) routeMeta(c *call) (int, any, *failure) {
	ok := map[string]any{"success": true}
	switch c.r.Method + " " + strings.Join(c.parts, "/") {
	case "GET debug":
		return 200, map[string]any{"state": 1, "version": "29.0"}, nil
	case "GET status":
		return 200, map[string]any{"committed_index": 1, "queued_writes": 0, "state": "LEADER"}, nil
	case "GET metrics.json":
		return 200, map[string]any{"typesense_memory_resident_bytes": "33751040", "typesense_memory_allocated_bytes": "21000000"}, nil
	case "GET stats.json":
		return 200, map[string]any{"search_latency_ms": 0, "pending_write_batches": 0, "requests_per_second": map[string]any{}}, nil
	case "POST operations/snapshot":
		return 201, ok, nil
	case "POST operations/db/compact", "POST operations/cache/clear":
		return 200, ok, nil
	case "GET operations/schema_changes":
		return 200, nil, nil
	}
	return 0, nil, notFound()
}

// resolve gives the collection of a name or of an alias, or nil. A collection
// hides an alias of its name; an alias of an alias leads nowhere.
func (s *Server) resolve(name string) *collection {
	if c := s.collections[name]; c != nil {
		return c
	}
	return s.collections[s.aliases[name]]
}

func (s *Server) routeCollection(c *call) (int, any, *failure) {
	if len(c.parts) == 1 {
		switch c.r.Method {
		case http.MethodPost:
			return s.createCollection(c)
		case http.MethodGet:
			list, err := s.listCollections(c.query)
			return 200, list, err
		}
		return 0, nil, notFound()
	}
	name := c.parts[1]
	col := s.resolve(name)
	switch c.r.Method {
	case http.MethodGet:
		if col == nil {
			return 0, nil, fail(404, "Collection not found")
		}
		return 200, col.describe(), nil
	case http.MethodDelete:
		if col == nil {
			return 0, nil, fail(404, "No collection with name `"+name+"` found.")
		}
		if col.name != name {
			s.violate("DELETE of the alias %s drops the collection %s", name, col.name)
		}
		delete(s.collections, col.name)
		s.names = slices.DeleteFunc(s.names, func(n string) bool { return n == col.name })
		return 200, col.describe(), nil
	case http.MethodPatch:
		return 0, nil, s.unsupported("PATCH of the collection %s", name)
	}
	return 0, nil, notFound()
}

// listCollections describes the collections, newest first.
func (s *Server) listCollections(p params) ([]any, *failure) {
	limit, offset := len(s.names), 0
	if err := p.numbers(map[string]*int{"limit": &limit, "offset": &offset}); err != nil {
		return nil, err
	}
	out := []any{}
	for i, name := range slices.Backward(s.names) {
		if at := len(s.names) - 1 - i; at < offset || len(out) >= limit {
			continue
		}
		one := s.collections[name].describe()
		for _, key := range p.words("exclude_fields") {
			delete(one, key)
		}
		out = append(out, one)
	}
	return out, nil
}

func (s *Server) createCollection(c *call) (int, any, *failure) {
	if c.query["src_name"] != "" {
		return 0, nil, s.unsupported("src_name")
	}
	name, fields, err := s.parseSchema(c.body)
	if err != nil {
		return 0, nil, err
	}
	if s.collections[name] != nil {
		return 0, nil, fail(409, "A collection with name `"+name+"` already exists.")
	}
	col := newCollection(name, fields)
	s.collections[name] = col
	s.names = append(s.names, name)
	return 201, col.describe(), nil
}

func (s *Server) routeAlias(c *call) (int, any, *failure) {
	one := func(name string) map[string]any {
		return map[string]any{"name": name, "collection_name": s.aliases[name]}
	}
	if len(c.parts) == 1 {
		if c.r.Method != http.MethodGet {
			return 0, nil, notFound()
		}
		return 200, map[string]any{"aliases": s.listAliases(one)}, nil
	}
	name := c.parts[1]
	if c.r.Method == http.MethodPut {
		return s.putAlias(name, c.body, one)
	}
	if _, ok := s.aliases[name]; !ok {
		return 0, nil, fail(404, "Collection not found")
	}
	answer := one(name)
	switch c.r.Method {
	case http.MethodGet:
		return 200, answer, nil
	case http.MethodDelete:
		delete(s.aliases, name)
		return 200, answer, nil
	}
	return 0, nil, notFound()
}
