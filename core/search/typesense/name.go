package typesense

import (
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"github.com/quoin-cms/quoin/core/search/mapping"
)

// maxName is the longest name of a field in bytes. A name of 60 kB ends the
// server's process, at each of its starts.
const maxName = 200

// Prefixes of fields, by what they hold.
const (
	inKeyword    = "k"  // codes of keywords, listed by facets
	inText       = "t"  // token codes of each text
	inLong       = "l"  // numbers of the integer kinds
	inDouble     = "n"  // other numbers
	inDate       = "d"  // milliseconds
	inBoolean    = "b"  // 0 or 1
	inGeo        = "g"  // codes of points
	inTokens     = "f"  // keyword codes of the tokens of a text that is listed
	inLength     = "w"  // how many words an object has in a text, a plain integer
	inSort       = "sk" // smallest keyword of all keyword fields of the path
	inSortNumber = "sn" // smallest number of all numeric fields of the path
)

// Fields that every row has beside those of families.
const (
	fieldSource   = "_src"  // the JSON of the document, not indexed
	fieldKey      = "_key"  // "type:ouuid" of the document, not indexed
	fieldRef      = "_ref"  // search.Doc.Ref, not indexed
	fieldOrder    = "_n"    // 63 bits of the hash of the id: order of ties and scrolls
	fieldPaths    = "_p"    // keyword codes of paths with a value and of those around them
	fieldRepeated = "_dup"  // keyword codes of paths with a number that occurs twice
	fieldRoot     = "_root" // of nested rows: id of the document
	fieldUp       = "_up"   // of nested rows: id of the row or document around it
	fieldSpace    = "_path" // of nested rows: keyword code of the nested path
)

func prefixOf(f mapping.Family) string {
	switch f {
	case mapping.Text:
		return inText
	case mapping.Keyword:
		return inKeyword
	case mapping.Long:
		return inLong
	case mapping.Date:
		return inDate
	case mapping.Boolean:
		return inBoolean
	case mapping.Geo:
		return inGeo
	}
	return inDouble
}

func familyOf(prefix string) (mapping.Family, bool) {
	switch prefix {
	case inText:
		return mapping.Text, true
	case inKeyword:
		return mapping.Keyword, true
	case inLong:
		return mapping.Long, true
	case inDate:
		return mapping.Date, true
	case inBoolean:
		return mapping.Boolean, true
	case inDouble:
		return mapping.Double, true
	case inGeo:
		return mapping.Geo, true
	}
	return 0, false
}

// FieldName gives the name of the field that holds a path: the prefix, the path
// in letters that a filter understands, and a tag that tells apart fields of
// the same path and family that were made in different ways; it may be empty.
// A path that is too long is replaced by its hash.
func FieldName(prefix, path, tag string) string {
	var b strings.Builder
	b.Grow(len(prefix) + 1 + len(path) + 16)
	b.WriteString(prefix)
	b.WriteByte('_')
	for i := range len(path) {
		switch c := path[i]; {
		case c == '.':
			b.WriteString("_d")
		case c == '_':
			b.WriteString("__")
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9':
			b.WriteByte(c)
		default:
			b.WriteString("_x")
			b.WriteString(hex.EncodeToString([]byte{c}))
		}
	}
	name := b.String()
	if len(name) > maxName-16 { // room for a tag and _max
		name = prefix + "_" + "_h" + hash40(path)
	}
	if tag != "" {
		name += "_a" + tag
	}
	return name
}

// SortName gives the name of the field by which a path is sorted, numbers or
// keywords; greatest asks for the one with the largest instead of the smallest
// value of a document. Who has a value has both.
func SortName(numbers bool, path string, greatest bool) string {
	prefix := inSort
	if numbers {
		prefix = inSortNumber
	}
	name := FieldName(prefix, path, "")
	if greatest {
		name += "_max"
	}
	return name
}

// parseName takes the name of a field apart; false when its path is hashed or
// it is none of FieldName.
func parseName(name string) (prefix, path, tag string, ok bool) {
	prefix, rest, ok := strings.Cut(name, "_")
	if !ok || prefix == "" {
		return "", "", "", false
	}
	out := make([]byte, 0, len(rest))
	for i := 0; i < len(rest); i++ {
		if rest[i] != '_' {
			out = append(out, rest[i])
			continue
		}
		i++
		if i == len(rest) {
			return "", "", "", false
		}
		switch rest[i] {
		case 'd':
			out = append(out, '.')
		case '_':
			out = append(out, '_')
		case 'x':
			b, err := hex.DecodeString(rest[i+1 : min(i+3, len(rest))])
			if err != nil || len(b) != 1 {
				return "", "", "", false
			}
			out = append(out, b[0])
			i += 2
		case 'a':
			return prefix, string(out), rest[i+1:], utf8.Valid(out)
		default:
			return "", "", "", false
		}
	}
	return prefix, string(out), "", utf8.Valid(out)
}
