package mcp

import (
	"encoding/json"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// schema prepares a JSON Schema to check arguments.
func schema(text string) (*jsonschema.Resolved, error) {
	var s jsonschema.Schema
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return nil, err
	}
	return s.Resolve(nil)
}

// schemas remembers the prepared schemas of tools of other modules, by their
// text: preparing one takes longer than most calls.
type schemas struct {
	mu  sync.Mutex
	all map[string]*jsonschema.Resolved
}

// get gives the prepared schema.
func (c *schemas) get(text string) (*jsonschema.Resolved, error) {
	c.mu.Lock()
	resolved := c.all[text]
	c.mu.Unlock()
	if resolved != nil {
		return resolved, nil
	}
	resolved, err := schema(text)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil || len(c.all) >= maxCached {
		c.all = map[string]*jsonschema.Resolved{}
	}
	c.all[text] = resolved
	return resolved, nil
}
