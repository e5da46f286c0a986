package typesense

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/quoin-cms/quoin/core/search"
)

// ParseName takes the name of a field apart, for tests.
func ParseName(name string) (prefix, path, tag string, ok bool) { return parseName(name) }

// Rows gives what is in an index: the keys of its documents and the ids of its
// nested rows.
func (e *Engine) Rows(ctx context.Context, index string) (main, nested []string, err error) {
	g, err := e.open(ctx, index)
	if err != nil {
		return nil, nil, err
	}
	read := func(collection, field string) (out []string) {
		if err == nil {
			err = e.client.export(ctx, collection, "", "id,"+field, func(row []byte) error {
				var r map[string]string
				if err := json.Unmarshal(row, &r); err != nil {
					return err
				}
				out = append(out, r[field])
				return nil
			})
		}
		return out
	}
	main = read(g.main, fieldKey)
	return main, read(g.rows, "id"), err
}

// AgeRetired makes everything look as if it had been replaced long ago.
func (e *Engine) AgeRetired(ctx context.Context) {
	err := e.catalog.change(ctx, func(s *state) error {
		for main := range s.Retired {
			s.Retired[main] = 1
		}
		return nil
	})
	if err != nil {
		panic(err)
	}
}

// Purge drops everything under the prefix of the engine.
func (e *Engine) Purge(ctx context.Context) error {
	s, err := e.catalog.load(ctx)
	if err != nil {
		return err
	}
	for _, p := range s.Indices {
		e.dropGeneration(ctx, p.Main)
	}
	for main := range s.Retired {
		e.dropGeneration(ctx, main)
	}
	return e.client.dropCollection(ctx, e.catalog.collection)
}

// Check is what every request passes.
func Check(req *http.Request) error { return check(req) }

// MakeRows gives the rows of a document.
func MakeRows(s search.Settings, d *search.Doc) (main string, nested []string, err error) {
	g, err := newGeneration("one", "qi_1", "", s)
	if err != nil {
		return "", nil, err
	}
	made, err := newMaker(g).make(d)
	for _, line := range made.nested {
		nested = append(nested, string(line))
	}
	return string(made.main), nested, err
}

// RowMaker gives a function that makes rows and forgets them.
func RowMaker(s search.Settings) (func(*search.Doc) error, error) {
	g, err := newGeneration("one", "qi_1", "", s)
	if err != nil {
		return nil, err
	}
	m := newMaker(g)
	return func(d *search.Doc) error {
		_, err := m.make(d)
		return err
	}, nil
}
