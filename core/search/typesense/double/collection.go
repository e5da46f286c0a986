package double

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
)

// document is a stored document: its keys and their JSON.
type document struct {
	seq  uint32
	id   string
	body map[string]json.RawMessage
}

// collection holds the documents of one schema.
type collection struct {
	name     string
	created  int64
	schema   []schemaField // patterns included, in the order the server lists
	patterns map[string]*regexp.Regexp
	fields   map[string]*field
	links    []*field // those that refer to another collection
	docs     map[uint32]*document
	ids      map[string]uint32
	all      *roaring.Bitmap
	next     uint32
}

func newCollection(name string, schema []schemaField) *collection {
	c := &collection{
		name: name, created: time.Now().Unix(),
		patterns: map[string]*regexp.Regexp{}, fields: map[string]*field{},
		docs: map[uint32]*document{}, ids: map[string]uint32{}, all: roaring.New(),
	}
	for _, f := range schema {
		c.addField(f)
	}
	return c
}

func (c *collection) addField(f schemaField) {
	c.schema = append(c.schema, f)
	if f.pattern() {
		c.patterns[f.Name] = patternOf(f.Name)
		return
	}
	c.fields[f.Name] = newField(f)
	if f.Reference != "" {
		c.links = append(c.links, c.fields[f.Name])
	}
}

// expand makes concrete fields of the keys that match a pattern, in the order
// of their names, whether the document will be accepted or not.
func (c *collection) expand(body map[string]json.RawMessage) {
	for _, key := range slices.Sorted(maps.Keys(body)) {
		if key == "id" || c.fields[key] != nil {
			continue
		}
		for _, f := range c.schema {
			if re := c.patterns[f.Name]; re != nil && re.MatchString(key) {
				f.Name = key
				c.addField(f)
				break
			}
		}
	}
}

// put stores a document whose values were read; a document of the same id is
// replaced and keeps its place.
func (c *collection) put(id string, body map[string]json.RawMessage, values map[string]value) {
	seq, known := c.ids[id]
	if known {
		for _, f := range c.fields {
			f.drop(seq)
		}
	} else {
		seq = c.next
		c.next++
	}
	for key := range body {
		if f := c.fields[key]; f != nil && !f.Store {
			delete(body, key)
		}
	}
	c.ids[id] = seq
	c.docs[seq] = &document{seq: seq, id: id, body: body}
	c.all.Add(seq)
	for name, v := range values {
		c.fields[name].put(seq, v)
	}
}

func (c *collection) remove(seq uint32) {
	d := c.docs[seq]
	if d == nil {
		return
	}
	for _, f := range c.fields {
		f.drop(seq)
	}
	delete(c.docs, seq)
	delete(c.ids, d.id)
	c.all.Remove(seq)
}

// freeID is the id of a document that came without.
func (c *collection) freeID() string { return strconv.FormatUint(uint64(c.next), 10) }

func (c *collection) describe() map[string]any {
	return map[string]any{
		"created_at":            c.created,
		"default_sorting_field": "",
		"enable_nested_fields":  false,
		"fields":                c.schema,
		"name":                  c.name,
		"num_documents":         len(c.docs),
		"symbols_to_index":      []string{},
		"token_separators":      []string{},
	}
}
