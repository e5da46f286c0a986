package double

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"strconv"
	"strings"
)

// readBody splits a document into its keys. The messages are those of a line
// of an import.
func readBody(line []byte) (map[string]json.RawMessage, *failure) {
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.UseNumber()
	var whole json.RawMessage
	switch err := dec.Decode(&whole); {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fail(400, fmt.Sprintf("Bad JSON: [json.exception.parse_error.101] parse error at line 1, column %d: "+
			"syntax error while parsing object - unexpected end of input; expected '}'", len(line)+1))
	case err != nil:
		return nil, fail(400, "Bad JSON: [json.exception.parse_error.101] parse error at line 1, column 1: "+err.Error())
	}
	var body map[string]json.RawMessage
	if whole[0] != '{' || json.Unmarshal(whole, &body) != nil {
		return nil, fail(400, "Bad JSON: not a properly formed document.")
	}
	return body, nil
}

// idOf reads the id of a document; without one it is empty.
func idOf(body map[string]json.RawMessage) (string, *failure) {
	raw, ok := body["id"]
	if !ok {
		return "", nil
	}
	var id string
	if raw[0] != '"' || json.Unmarshal(raw, &id) != nil {
		return "", fail(400, "Document's `id` field should be a string.")
	}
	if id == "" {
		return "", fail(400, "The `id` should not be empty.")
	}
	return id, nil
}

// write stores one document by the action of the request and gives the id and
// the stored keys.
func (s *Server) write(c *collection, line []byte, action string) (string, map[string]json.RawMessage, *failure) {
	body, err := readBody(line)
	if err != nil {
		return "", nil, err
	}
	id, err := idOf(body)
	if err != nil {
		return id, nil, err
	}
	for key := range body {
		if len(key) > maxFieldName {
			return id, nil, s.fatal("document %q: the key %.40s… has %d bytes; long names kill the server at every start", id, key, len(key))
		}
	}
	seq, exists := c.ids[id]
	switch {
	case exists && action == "create":
		return id, nil, fail(409, "A document with id "+id+" already exists.")
	case !exists && action == "update":
		return id, nil, fail(404, "Could not find a document with id: "+id)
	case exists && action != "upsert":
		body = merge(c.docs[seq].body, body)
	}
	if id == "" {
		id = c.freeID()
		body["id"] = json.RawMessage(strconv.Quote(id))
	}
	c.expand(body)
	values, err := s.check(c, id, body)
	if err != nil {
		return id, nil, err
	}
	c.put(id, body, values)
	return id, body, nil
}

// merge lays a partial document over a stored one: objects are merged, all
// else is replaced. A null stays, for check to remove.
func merge(old, patch map[string]json.RawMessage) map[string]json.RawMessage {
	out := maps.Clone(old)
	for key, raw := range patch {
		var a, b map[string]json.RawMessage
		if raw[0] == '{' && len(out[key]) > 0 && out[key][0] == '{' &&
			json.Unmarshal(out[key], &a) == nil && json.Unmarshal(raw, &b) == nil {
			raw, _ = json.Marshal(merge(a, b))
		}
		out[key] = raw
	}
	return out
}

// check reads the values of the document's fields and removes nulls of
// optional fields, as the server does.
func (s *Server) check(c *collection, id string, body map[string]json.RawMessage) (map[string]value, *failure) {
	values := map[string]value{}
	for _, f := range c.schema {
		if f.pattern() {
			continue
		}
		raw, present := body[f.Name]
		null := present && string(raw) == "null"
		switch {
		case !present && !f.Optional:
			return nil, fail(400, "Field `"+f.Name+"` has been declared in the schema, but is not found in the document.")
		case null && f.Optional:
			delete(body, f.Name)
			continue
		case !present:
			continue
		}
		v, err := s.read(f, id, raw)
		if err != nil {
			return nil, err
		}
		if f.Index {
			values[f.Name] = v
		}
		if f.Reference != "" {
			if err := s.checkReference(f, v); err != nil {
				return nil, err
			}
		}
	}
	return values, nil
}

func (s *Server) checkReference(f schemaField, v value) *failure {
	name, key, _ := strings.Cut(f.Reference, ".")
	parent := s.resolve(name)
	if parent == nil {
		return fail(400, "Referenced collection `"+name+"` not found.")
	}
	for _, t := range v.texts {
		if _, ok := parent.ids[t.raw]; !ok {
			return fail(400, "Referenced document having `"+key+": "+t.raw+"` not found in the collection `"+name+"`.")
		}
	}
	return nil
}

// read reads the value of one field, strictly: nothing is converted.
func (s *Server) read(f schemaField, id string, raw json.RawMessage) (value, *failure) {
	var v value
	if f.scalar() == "geopoint" {
		return s.readPoints(f, raw)
	}
	var elements []json.RawMessage
	switch {
	case !f.array():
		elements = []json.RawMessage{raw}
	case raw[0] != '[' || json.Unmarshal(raw, &elements) != nil:
		return v, fail(400, "Field `"+f.Name+"` must be an array.")
	}
	for _, e := range elements {
		switch ok, err := s.readOne(f, id, e, &v); {
		case err != nil:
			return v, err
		case ok:
		case f.array():
			return v, fail(400, "Field `"+f.Name+"` must be an array of "+f.scalar()+".")
		default:
			return v, fail(400, "Field `"+f.Name+"` must be "+article(f.Type)+" "+f.Type+".")
		}
	}
	return v, nil
}

func article(word string) string {
	if strings.HasPrefix(word, "int") {
		return "an"
	}
	return "a"
}

// readOne appends one element to v; false when it has another type.
func (s *Server) readOne(f schemaField, id string, raw json.RawMessage, v *value) (bool, *failure) {
	switch literal := string(raw); f.scalar() {
	case "string":
		var t string
		if raw[0] != '"' || !reads(raw, &t) {
			return false, nil
		}
		one := text{raw: t}
		if f.Index {
			one.tokens = tokens(t)
		}
		v.texts = append(v.texts, one)
	case "int32", "int64":
		n, integer, inside := inInt64(literal)
		if !inside && reads(raw, new(uint64)) {
			return false, s.fatal("document %q: %s of field %s is outside int64", id, literal, f.Name)
		}
		if !integer || !inside {
			return false, nil // beyond 64 bits the server takes it for a double
		}
		if n != int64(int32(n)) && f.scalar() == "int32" {
			s.violate("document %q: %s of field %s is outside int32 and would be indexed as another number", id, literal, f.Name)
		}
		v.ints = append(v.ints, n)
	case "float":
		var n *float64
		if !reads(raw, &n) || n == nil {
			return false, nil
		}
		v.floats = append(v.floats, *n)
	case "bool":
		if literal != "true" && literal != "false" {
			return false, nil
		}
		v.ints = append(v.ints, map[string]int64{"false": 0, "true": 1}[literal])
	}
	return true, nil
}

// reads tells whether JSON can be read into a variable, and does it.
func reads(raw json.RawMessage, to any) bool { return json.Unmarshal(raw, to) == nil }

// readPoints reads one point or, for geopoint[], a list of points. The server
// takes any two numbers; the double reports those off the globe.
func (s *Server) readPoints(f schemaField, raw json.RawMessage) (value, *failure) {
	var list [][]float64
	if f.array() {
		if json.Unmarshal(raw, &list) != nil {
			return value{}, fail(400, "Field `"+f.Name+"` must be an array of geopoint.")
		}
	} else {
		var one []float64
		if json.Unmarshal(raw, &one) != nil {
			return value{}, fail(400, "Field `"+f.Name+"` must be a 2 element array: [lat, lng].")
		}
		list = append(list, one)
	}
	var v value
	for _, p := range list {
		if len(p) != 2 {
			return v, fail(400, "Field `"+f.Name+"` must be a 2 element array: [lat, lng].")
		}
		if p[0] < -90 || p[0] > 90 || p[1] < -180 || p[1] > 180 {
			s.violate("field %s: (%v, %v) is not on the globe", f.Name, p[0], p[1])
		}
		v.points = append(v.points, point{p[0], p[1]})
	}
	return v, nil
}

// inInt64 tells whether a literal is an integer that int64 can hold; what is
// no integer at all comes back as (0, false, true).
func inInt64(literal string) (n int64, integer, inside bool) {
	n, err := strconv.ParseInt(literal, 10, 64)
	if err == nil {
		return n, true, true
	}
	if _, ok := new(big.Int).SetString(literal, 10); ok {
		return 0, true, false
	}
	return 0, false, true
}
