package schema

import (
	"strings"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
)

// Result is what Validate found. Both lists are nil when there is nothing to
// tell, and hold at most maxFindings entries and one that says there are more.
type Result struct {
	Errors   []problem.FieldError // the document breaks its content type
	Warnings []problem.FieldError // worth telling; the document is fine
}

// OK tells whether the document may be finalized.
func (r Result) OK() bool { return len(r.Errors) == 0 }

// maxFindings keeps a hostile document from making a huge answer.
const maxFindings = 100

// Validate checks a document against the content type. raw has passed
// rawjson.CheckObject. The package comment says where it is lenient.
//
// Codes of findings: required, type, choice, format, link_type, hash, json,
// min, max, min_items, max_items, node_type, depth, unknown, single, more.
func (c *Compiled) Validate(raw []byte) Result { return c.validate(raw, false) }

// ValidateDraft is Validate for work in progress: nothing is mandatory yet.
func (c *Compiled) ValidateDraft(raw []byte) Result { return c.validate(raw, true) }

func (c *Compiled) validate(raw []byte, draft bool) Result {
	raw = rawjson.Object(raw)
	w := c.walkers.Get().(*walker)
	w.root, w.draft = raw, draft
	if k := rawjson.KindOf(raw); k != rawjson.Map {
		w.wrongType(k, "an object")
	} else {
		w.object(c.root, raw)
	}
	res := w.res
	*w = walker{path: w.path[:0]}
	c.walkers.Put(w)
	return res
}

// walker goes through one document. Its path is kept as parts, and becomes a
// string only when there is something to tell.
type walker struct {
	root  []byte
	draft bool
	soft  int // above 0 inside a menu
	nodes int // how deep in the nodes of a menu
	path  []step
	res   Result
}

// step is a key, or the index of an element when the key is empty.
type step struct {
	key   string
	index int
}

func (w *walker) push(key string) { w.path = append(w.path, step{key: key}) }

func (w *walker) pop() { w.path = w.path[:len(w.path)-1] }

func (w *walker) at() string {
	var path string
	for _, s := range w.path {
		if s.key == "" {
			path = rawjson.Index(path, s.index)
		} else {
			path = rawjson.Join(path, s.key)
		}
	}
	return path
}

func add(list []problem.FieldError, path, code, message string) []problem.FieldError {
	switch {
	case len(list) < maxFindings:
		return append(list, problem.FieldError{Path: path, Code: code, Message: message})
	case len(list) == maxFindings:
		return append(list, problem.FieldError{Code: "more", Message: "there are more findings"})
	}
	return list
}

// fail reports an error at the current path.
func (w *walker) fail(code, message string) {
	w.res.Errors = add(w.res.Errors, w.at(), code, message)
}

func (w *walker) warn(code, message string) {
	w.res.Warnings = add(w.res.Warnings, w.at(), code, message)
}

// soften reports an error that is only a warning inside a menu.
func (w *walker) soften(code, message string) {
	if w.soft > 0 {
		w.warn(code, message)
		return
	}
	w.fail(code, message)
}

func (w *walker) wrongType(got rawjson.Kind, want string) {
	w.fail("type", "must be "+want+", not "+got.String())
}

// unknown reports a key that no field consumes.
func (w *walker) unknown(key []byte) {
	name := string(key)
	switch {
	case len(w.path) == 0 && systemFields[name], w.soft > 0 && name == "label", name == "_ems_internal_deleted":
		return
	}
	if name == "" {
		name = `""` // a step without a key is an index
	}
	w.push(clip(name))
	w.warn("unknown", "data not consumed: "+w.at())
	w.pop()
}

// systemFields are top-level keys that the service itself writes.
var systemFields = map[string]bool{
	"_contenttype": true, "_sha1": true, "_signature": true, "_finalized_by": true, "_finalization_datetime": true,
	"_published_datetime": true, "_version_uuid": true, "_version_tag": true, "_sync_metadata": true,
}

// object checks the members of an object, then what is missing.
func (w *walker) object(n *node, raw []byte) {
	var have uint64
	for it := rawjson.Iterate(raw); it.Next(); {
		i, ok := n.index[string(it.Key())]
		if !ok {
			w.unknown(it.Key())
			continue
		}
		child, value := n.props[i], it.Value()
		k := rawjson.KindOf(value)
		if k == rawjson.Null {
			continue
		}
		if child.demand >= 0 && child.demand < 64 && !isEmpty(value, k) {
			have |= 1 << child.demand
		}
		w.push(child.name)
		child.behave.check(w, child, value, k)
		w.pop()
	}
	if !w.draft {
		w.missing(n, raw, have)
	}
}

// missing reports the mandatory members that hold nothing. have has a bit for
// each of the first 64 that do; the others are looked up.
func (w *walker) missing(n *node, raw []byte, have uint64) {
	for i, child := range n.demands {
		if i < 64 && have&(1<<i) != 0 {
			continue
		}
		if i >= 64 {
			if v, ok := rawjson.Get(raw, child.name); ok && !isEmpty(v, rawjson.KindOf(v)) {
				continue
			}
		}
		if child.requiredIf != "" && !w.holds(child.requiredIf, raw) {
			continue
		}
		w.push(child.name)
		w.soften("required", "is required")
		w.pop()
	}
}

// holds tells whether the path of a condition leads to something. A path that
// starts with a dot begins at the object around the field, others at the
// document. %locale% is not replaced, as in the original, so a condition with
// it never holds.
func (w *walker) holds(path string, parent []byte) bool {
	v := w.root
	if rest, relative := strings.CutPrefix(path, "."); relative {
		v, path = parent, rest
	}
	for key := range strings.SplitSeq(path, ".") {
		var ok bool
		if v, ok = rawjson.Get(v, key); !ok {
			return false
		}
	}
	switch string(v) {
	case "false", "0", `"0"`:
		return false
	}
	return !isEmpty(v, rawjson.KindOf(v))
}

// isEmpty tells whether a value counts as nothing for a mandatory field: null,
// the empty string, the empty array and the empty object.
func isEmpty(v []byte, k rawjson.Kind) bool {
	switch k {
	case rawjson.None, rawjson.Null:
		return true
	case rawjson.Text:
		return len(v) == 2
	case rawjson.Array, rawjson.Map:
		it := rawjson.Iterate(v)
		return !it.Next()
	}
	return false
}

// checkValue checks one value of a field that may hold several.
type checkValue func(w *walker, n *node, v []byte, k rawjson.Kind)

// values checks a field that holds one value, or an array of them when
// multiple. loose lets a single field hold an array of one, with a warning.
func (w *walker) values(n *node, v []byte, k rawjson.Kind, loose bool, one checkValue) {
	many := n.field.Multiple
	switch {
	case k == rawjson.Array && many, k != rawjson.Text && isEmpty(v, k):
		w.elements(n, v, one)
	case k == rawjson.Array:
		it := rawjson.Iterate(v)
		it.Next()
		first := it.Value()
		if !loose || it.Next() {
			w.fail("type", "must be a single value, not an array")
			return
		}
		w.warn("single", "should be a single value, not an array")
		one(w, n, first, rawjson.KindOf(first))
	default:
		one(w, n, v, k)
		if many && !isEmpty(v, k) {
			w.warn("single", "should be an array")
		}
	}
}

// elements checks the elements of an array and gives their number. null
// elements count and are not checked.
func (w *walker) elements(n *node, v []byte, one checkValue) int {
	it := rawjson.Iterate(v)
	i := 0
	for ; it.Next(); i++ {
		value := it.Value()
		k := rawjson.KindOf(value)
		if k == rawjson.Null {
			continue
		}
		w.path = append(w.path, step{index: i})
		one(w, n, value, k)
		w.pop()
	}
	return i
}

// detail gives the sentence of a problem without its path.
func detail(err error) string { return problem.From(err).Detail }
