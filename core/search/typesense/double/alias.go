package double

import (
	"encoding/json"
	"maps"
	"slices"
)

func (s *Server) listAliases(one func(string) map[string]any) []any {
	out := []any{}
	for _, name := range slices.Sorted(maps.Keys(s.aliases)) {
		out = append(out, one(name))
	}
	return out
}

// putAlias points an alias at a collection, which need not exist.
func (s *Server) putAlias(name string, body []byte, one func(string) map[string]any) (int, any, *failure) {
	var in struct {
		Collection *string `json:"collection_name"`
	}
	switch {
	case json.Unmarshal(body, &in) != nil:
		return 0, nil, fail(400, "Bad JSON.")
	case in.Collection == nil:
		return 0, nil, fail(400, "Parameter `collection_name` is required.")
	case s.collections[name] != nil:
		return 0, nil, fail(500, "Name `"+name+"` conflicts with an existing collection name.")
	}
	s.aliases[name] = *in.Collection
	return 200, one(name), nil
}
