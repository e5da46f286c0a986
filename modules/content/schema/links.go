package schema

import (
	"bytes"
	"slices"

	"github.com/quoin-cms/quoin/core/rawjson"
)

// Links is what a document points to, each once, in the order of the document.
type Links struct {
	Documents []Link   // other documents
	Files     []string // hashes of files
}

// Link names a document.
type Link struct {
	Type  string // content type; empty when an ems:// link names none
	OUUID string
}

// String gives the link as data link fields hold it.
func (l Link) String() string { return l.Type + ":" + l.OUUID }

// Links finds what a document points to: the values of link fields, file
// objects, and ems://object: and ems://asset: links in any string, also inside
// menus. Data that no field consumes is searched as well, except for link
// fields, which only their type can tell. raw has passed rawjson.CheckObject.
func (c *Compiled) Links(raw []byte) Links {
	var l linker
	l.object(c.root, raw, 0)
	return l.out
}

type linker struct{ out Links }

// linkDepth bounds the recursion for data that Check has not seen.
const linkDepth = 200

func (l *linker) document(typ, id []byte) {
	link := Link{Type: string(typ), OUUID: string(id)}
	if len(id) > 0 && !slices.Contains(l.out.Documents, link) {
		l.out.Documents = append(l.out.Documents, link)
	}
}

func (l *linker) file(hash []byte) {
	if h := string(hash); h != "" && !slices.Contains(l.out.Files, h) {
		l.out.Files = append(l.out.Files, h)
	}
}

// object goes through the members of an object; n is nil where no field
// describes it.
func (l *linker) object(n *node, raw []byte, depth int) {
	for it := rawjson.Iterate(raw); it.Next(); {
		key := it.Key()
		var child *node
		if n != nil {
			if i, ok := n.index[string(key)]; ok {
				child = n.props[i]
			}
		}
		switch string(key) {
		case "_hash", "sha1", "_image_resized_hash":
			if s, ok := rawjson.Bytes(it.Value()); ok && child == nil && hashLike(s) {
				l.file(s)
			}
		}
		l.value(child, it.Value(), depth+1)
	}
}

func (l *linker) value(n *node, v []byte, depth int) {
	if depth > linkDepth {
		return
	}
	switch rawjson.KindOf(v) {
	case rawjson.Map:
		l.object(n, v, depth)
	case rawjson.Array:
		for it := rawjson.Iterate(v); it.Next(); {
			if m, ok := menuOf(n); ok {
				l.menuNode(m, it.Value(), depth+1)
			} else {
				l.value(n, it.Value(), depth+1)
			}
		}
	case rawjson.Text:
		l.text(n, v, depth)
	}
}

func (l *linker) text(n *node, v []byte, depth int) {
	if m, ok := menuOf(n); ok {
		s, _ := rawjson.Bytes(v)
		if rawjson.KindOf(s) == rawjson.Array && rawjson.Check(s, rawjson.Limits{Depth: 4 * menuDepth}) == nil {
			l.value(m, s, depth+1)
		}
		return
	}
	if n != nil {
		if _, is := n.behave.(link); is {
			if s, ok := rawjson.Bytes(v); ok {
				if typ, id, ok := splitLink(s); ok {
					l.document(typ, id)
				}
			}
			return
		}
	}
	if !bytes.Contains(v, []byte("ems:")) {
		return
	}
	s, _ := rawjson.Bytes(v)
	l.scan(s)
}

// menuOf gives the node when it is a menu.
func menuOf(n *node) (*node, bool) {
	if n == nil {
		return nil, false
	}
	_, is := n.behave.(menu)
	return n, is
}

func (l *linker) menuNode(n *node, v []byte, depth int) {
	if depth > linkDepth {
		return
	}
	var variant *node
	if name, ok := rawjson.Get(v, "type"); ok {
		s, _ := rawjson.Bytes(name)
		variant = n.variant(s)
	}
	for it := rawjson.Iterate(v); it.Next(); {
		switch string(it.Key()) {
		case "object":
			l.value(variant, it.Value(), depth+1)
		case "children":
			l.value(n, it.Value(), depth+1)
		}
	}
}

// scan finds ems://object:type:ouuid and ems://asset:hash in a text.
func (l *linker) scan(s []byte) {
	scheme := []byte("ems://")
	for {
		i := bytes.Index(s, scheme)
		if i < 0 {
			return
		}
		s = s[i+len(scheme):]
		kind, rest, ok := bytes.Cut(s, []byte(":"))
		if !ok {
			return
		}
		first := word(rest)
		var second []byte
		if len(rest) > len(first) && rest[len(first)] == ':' {
			second = word(rest[len(first)+1:])
		}
		switch string(kind) {
		case "object":
			if second != nil {
				l.document(first, second)
			} else {
				l.document(nil, first)
			}
		case "asset", "file":
			l.file(first)
		}
	}
}

// word gives what s starts with that may stand in an identifier.
func word(s []byte) []byte {
	n := 0
	for n < len(s) && wordByte(s[n]) {
		n++
	}
	return s[:n]
}

// hashLike tells whether s may be the hash of a file.
func hashLike(s []byte) bool {
	return len(s) >= 32 && len(s) <= 128 && len(word(s)) == len(s)
}
