package schema

import "github.com/quoin-cms/quoin/core/rawjson"

// asset is the metadata object of a file (spec 2.5), or an array of them when
// multiple. The indexed kind also carries what was extracted from the file.
type asset struct{ single }

// assetKeys are the members of a file object: the deprecated names beside the
// ones with an underscore, then what extraction and editors add.
var assetKeys = []struct {
	name, kind, index string
}{
	{"_hash", "string", KindKeyword}, {"_size", "integer", KindInteger}, {"_name", "string", KindText},
	{"_type", "string", KindKeyword}, {"_algo", "string", KindKeyword},
	{"sha1", "string", KindKeyword}, {"filesize", "integer", KindInteger}, {"filename", "string", KindText},
	{"mimetype", "string", KindKeyword}, {"_image_resized_hash", "string", KindKeyword},
	{"_title", "string", KindText}, {"_content", "string", KindText}, {"_author", "string", KindText},
	{"_date", "string", KindDate}, {"_language", "string", KindKeyword},
}

func (asset) check(w *walker, n *node, v []byte, k rawjson.Kind) {
	w.values(n, v, k, true, assetValue)
}

func assetValue(w *walker, n *node, v []byte, k rawjson.Kind) {
	if k != rawjson.Map {
		if k != rawjson.Array || !isEmpty(v, k) {
			w.wrongType(k, "a file object")
		}
		return
	}
	if isEmpty(v, k) {
		return
	}
	hash := false
	for it := rawjson.Iterate(v); it.Next(); {
		key, value := it.Key(), it.Value()
		kind := rawjson.KindOf(value)
		if kind == rawjson.Null {
			continue
		}
		at := assetKey(key)
		if at < 0 {
			w.unknown(key)
			continue
		}
		w.push(assetKeys[at].name)
		if assetKeys[at].kind == "integer" {
			checkSize(w, value, kind)
		} else if kind != rawjson.Text {
			w.wrongType(kind, "a string")
		} else if (at == 0 || assetKeys[at].name == "sha1") && len(value) > 2 {
			hash = true
		}
		w.pop()
	}
	if !hash {
		w.fail("hash", "needs the hash of the file in _hash")
	}
}

func assetKey(key []byte) int {
	for i := range assetKeys {
		if assetKeys[i].name == string(key) {
			return i
		}
	}
	return -1
}

// checkSize accepts whole numbers, and the strings of digits that the upload
// widgets of old clients send.
func checkSize(w *walker, v []byte, k rawjson.Kind) {
	digits := v
	if k == rawjson.Text {
		digits, _ = rawjson.Bytes(v)
	} else if k != rawjson.Number {
		w.wrongType(k, "an integer")
		return
	}
	for _, c := range digits {
		if !digit(c) {
			w.fail("type", "must be an integer")
			return
		}
	}
}

func (asset) schema(s *schemaWriter, n *node) {
	ref := s.define("_file", "_file", func() {
		s.str("type", "object")
		s.str("description", "A stored file. Upload it first, then give its hash.")
		s.key("properties")
		s.open('{')
		for _, k := range assetKeys {
			s.key(k.name)
			s.open('{')
			s.str("type", k.kind)
			s.close('}')
		}
		s.close('}')
		s.raw("anyOf", `[{"required":["_hash"]},{"required":["sha1"]}]`)
		s.bool("additionalProperties", false)
	})
	s.values(n, func() { s.str("$ref", ref) })
}

func (asset) mapping(m *mapper, n *node) {
	m.add(IndexField{Path: n.path, Kind: KindNested})
	outer := m.nested
	m.nested = n.path
	for _, k := range assetKeys {
		f := IndexField{Path: n.path + "." + k.name, Kind: k.index}
		switch k.name {
		case "_title", "_content", "_author":
			f.Analyzer, f.CopyTo = n.field.Mapping.Analyzer, n.field.Mapping.CopyTo
		}
		m.add(f)
	}
	m.nested = outer
}
