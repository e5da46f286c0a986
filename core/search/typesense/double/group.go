package double

import (
	"encoding/json"
	"strings"
)

// groupOf gives the function that tells the group of a document, nil without
// group_by.
func (x *search) groupOf() func(uint32) string {
	names := x.p.words("group_by")
	if len(names) == 0 {
		return nil
	}
	return func(doc uint32) string {
		var b strings.Builder
		for _, n := range names {
			if f := x.c.fields[n]; f != nil {
				b.WriteString(strings.Join(f.values[doc].facets, "\x01"))
			}
			b.WriteByte(0)
		}
		return b.String()
	}
}

// grouped writes grouped_hits and found into the answer. A group stands where
// its best document stands; an array is one key.
func (x *search) grouped(order []uint32, out map[string]any) *failure {
	limit := 3
	if err := x.p.numbers(map[string]*int{"group_limit": &limit}); err != nil {
		return err
	}
	if limit < 1 || limit > 99 {
		return fail(400, "Value of `group_limit` must be between 1 and 99.")
	}
	names := x.p.words("group_by")
	for _, n := range names {
		if f := x.c.fields[n]; f == nil || !f.Facet {
			return fail(400, "Group by field `"+n+"` should be a facet field.")
		}
	}
	key := x.groupOf()
	members := map[string][]uint32{}
	var keys []string
	for _, doc := range order {
		k := key(doc)
		if members[k] == nil {
			keys = append(keys, k)
		}
		members[k] = append(members[k], doc)
	}
	from := x.start(len(keys))
	groups := []any{}
	for _, k := range keys[from:min(from+x.perPage, len(keys))] {
		hits := []any{}
		for _, doc := range members[k][:min(limit, len(members[k]))] {
			hits = append(hits, x.hit(doc))
		}
		groups = append(groups, map[string]any{
			"found": len(members[k]), "group_key": x.groupKey(names, members[k][0]), "hits": hits,
		})
	}
	out["found"], out["found_docs"], out["grouped_hits"] = len(keys), len(order), groups
	return nil
}

func (x *search) groupKey(names []string, doc uint32) []json.RawMessage {
	key := []json.RawMessage{}
	for _, n := range names {
		raw, ok := x.c.docs[doc].body[n]
		if !ok {
			raw = json.RawMessage("[]")
		}
		key = append(key, raw)
	}
	return key
}
