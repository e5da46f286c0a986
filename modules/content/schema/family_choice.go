package schema

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/quoin-cms/quoin/core/rawjson"
)

// choice is a string, or an array of strings when multiple, out of a list when
// there is one.
type choice struct{ single }

func (choice) add(c *compiler, into *node, f *Field, t *fieldType) error {
	n := c.leaf(into, f, t)
	n.enum = f.Choices
	if t.name == "version_tag" {
		n.enum = c.ct.VersionTags
	}
	n.choices = set(n.enum)
	c.put(into, n)
	return nil
}

func (choice) check(w *walker, n *node, v []byte, k rawjson.Kind) {
	w.values(n, v, k, false, choiceValue)
}

func choiceValue(w *walker, n *node, v []byte, k rawjson.Kind) {
	s, ok := rawjson.Bytes(v)
	switch {
	case !ok:
		w.wrongType(k, "a string")
	case len(s) > 0 && n.choices != nil:
		if _, listed := n.choices[string(s)]; !listed {
			w.soften("choice", "is none of the choices")
		}
	}
}

func (choice) schema(s *schemaWriter, n *node) {
	s.values(n, func() {
		s.str("type", "string")
		if len(n.enum) > 0 {
			s.list("enum", different(n.enum))
		}
	})
}

// different leaves out what is there before: an enum has different values.
func different(list []string) []string {
	seen := make(map[string]bool, len(list))
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool {
		again := seen[s]
		seen[s] = true
		return again
	})
}

// link is "type:ouuid", or an array of them when multiple.
type link struct{ single }

func (link) add(c *compiler, into *node, f *Field, t *fieldType) error {
	n := c.leaf(into, f, t)
	n.types = set(f.Types)
	c.put(into, n)
	return nil
}

func (link) check(w *walker, n *node, v []byte, k rawjson.Kind) {
	w.values(n, v, k, false, linkValue)
}

func linkValue(w *walker, n *node, v []byte, k rawjson.Kind) {
	s, ok := rawjson.Bytes(v)
	if !ok {
		w.wrongType(k, "a string such as page:ouuid")
		return
	}
	if len(s) == 0 {
		return
	}
	typ, _, ok := splitLink(s)
	if !ok {
		w.soften("format", "must be a content type and an ouuid, such as page:ouuid")
		return
	}
	if n.types != nil {
		if _, allowed := n.types[string(typ)]; !allowed {
			w.soften("link_type", "may not point to a "+clip(string(typ)))
		}
	}
}

// splitLink cuts "type:ouuid". A link with an environment or a space in its
// ouuid is none.
func splitLink(s []byte) (typ, id []byte, ok bool) {
	typ, id, ok = bytes.Cut(s, []byte(":"))
	if !ok || len(typ) == 0 || len(id) == 0 {
		return nil, nil, false
	}
	for _, c := range typ {
		if !wordByte(c) {
			return nil, nil, false
		}
	}
	return typ, id, bytes.IndexByte(id, '\n') < 0
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

func (link) schema(s *schemaWriter, n *node) {
	s.values(n, func() {
		s.str("type", "string")
		kinds := "[a-zA-Z0-9_-]+"
		if len(n.field.Types) > 0 {
			quoted := make([]string, len(n.field.Types))
			for i, t := range n.field.Types {
				quoted[i] = regexp.QuoteMeta(t)
			}
			kinds = "(" + strings.Join(quoted, "|") + ")"
		}
		s.str("pattern", "^"+kinds+":.+$")
	})
}
