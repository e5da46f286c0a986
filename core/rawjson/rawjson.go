// Package rawjson works on JSON documents that are kept as bytes, so that the
// order of keys, the literal of each number and the difference between {} and
// [] survive storage, merging and answering.
//
// Check and CheckObject are the door: what comes from outside passes there
// once, and is well formed from then on. All other functions expect checked
// input; given anything else they never panic and never loop, but the result
// has no meaning. Functions that build a document append to dst and give the
// grown slice back; dst must not overlap the input.
package rawjson

// DefaultDepth is the deepest nesting of arrays and objects that Check allows
// when Limits gives none.
const DefaultDepth = 64

// MaxNumberLen is the longest number literal that Check accepts, in bytes.
const MaxNumberLen = 100

// Limits bounds what Check accepts.
type Limits struct {
	// Depth is how deep arrays and objects may nest; a flat object has depth
	// 1. Zero stands for DefaultDepth.
	Depth int
}

// Kind is the type of a JSON value.
type Kind uint8

// The types of RFC 8259. None is the kind of what is no JSON value.
const (
	None Kind = iota
	Null
	Bool
	Number
	Text
	Array
	Map
)

// kindNames are the names as messages to clients use them.
var kindNames = [...]string{"nothing", "null", "boolean", "number", "string", "array", "object"}

// String gives the name of the type as JSON Schema spells it.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return kindNames[None]
}

// KindOf tells the type of a value by its first byte.
func KindOf(value []byte) Kind {
	i := skipSpace(value, 0)
	if i == len(value) {
		return None
	}
	switch c := value[i]; {
	case c == '{':
		return Map
	case c == '[':
		return Array
	case c == '"':
		return Text
	case c == 't' || c == 'f':
		return Bool
	case c == 'n':
		return Null
	case c == '-' || c >= '0' && c <= '9':
		return Number
	}
	return None
}
