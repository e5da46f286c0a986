package search

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/dsl"
)

var (
	_ port.Finder   = (*Service)(nil)
	_ port.Searcher = (*Service)(nil)
)

// SearchDocuments implements port.Searcher.
func (s *Service) SearchDocuments(ctx context.Context, object []byte) ([]byte, error) {
	out, err := s.Search(ctx, object)
	if err != nil {
		return nil, err
	}
	return out.AppendJSON(nil), nil
}

const (
	askFind  = "find"
	findPage = 1000
)

// Find implements port.Finder. It knows no rights.
func (s *Service) Find(ctx context.Context, environment string, query []byte, fn func(port.Key)) error {
	var keys []port.Key
	if err := s.Ask(ctx, askFind, question{Environment: environment, Query: query}, &keys, nil); err != nil {
		return err
	}
	for _, k := range keys {
		fn(k)
	}
	return nil
}

// keys is Find where the index is.
func (s *Service) keys(ctx context.Context, environment string, query []byte) ([]port.Key, error) {
	if err := s.index.searchable(); err != nil {
		return nil, err
	}
	object, err := json.Marshal(map[string]json.RawMessage{"queryArray": query, "size": fmt.Append(nil, findPage)})
	if err != nil {
		return nil, err
	}
	r, err := dsl.Parse(object)
	if err != nil {
		return nil, err
	}
	r.Source = search.SourceFilter{Includes: []string{"_contenttype"}}
	if err := s.index.RefreshAll(ctx); err != nil {
		return nil, err
	}
	index, err := s.index.indexOf(environment)
	if err != nil {
		return nil, err
	}
	cursor, err := s.engine.Scroll(ctx, search.Target{Indices: []string{index}}, r)
	if err != nil {
		return nil, err
	}
	keys := []port.Key{}
	for {
		page, err := cursor.Next(ctx, nil)
		if err != nil || len(page.Hits) == 0 {
			return keys, err
		}
		for _, h := range page.Hits {
			keys = append(keys, port.Key(h.Key))
		}
	}
}

// indexOf gives the index that answers for an environment.
func (ix *Indexer) indexOf(environment string) (string, error) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if p := ix.places[environment]; p != nil {
		return p.index, nil
	}
	return "", unknownEnvironment(environment)
}
