package cli

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
	"github.com/quoin-cms/quoin/sdk/client"
)

// config sends one configuration entity, unless the server has it already.
func (i *importer) config(ctx context.Context, kind, file string) (outcome, error) {
	export, err := readObject(file, 400)
	if err != nil {
		return 0, err
	}
	name := strings.TrimSuffix(filepath.Base(file), ".json")
	properties, _ := rawjson.Get(export, "properties")
	for _, key := range []string{"identifier", "name"} {
		if v, ok := rawjson.Get(properties, key); ok {
			if s, ok := rawjson.String(v); ok && s != "" {
				name = s
			}
		}
	}
	old, err := i.api.Config.Get(ctx, kind, name)
	o, err := compare(err, rawjson.Equal(old, export))
	if err == nil && o != unchanged {
		_, err = i.api.Config.Put(ctx, kind, name, export)
	}
	return o, err
}

// compare tells what has to be done about something that was asked for.
func compare(err error, same bool) (outcome, error) {
	switch {
	case client.Status(err) == http.StatusNotFound:
		return created, nil
	case err == nil && same:
		return unchanged, nil
	}
	return updated, err
}

// documents sends the documents of one content type, several at a time.
func (i *importer) documents(ctx context.Context, g *importGroup) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	files := make(chan string)
	for range i.parallel {
		wg.Go(func() {
			for file := range files {
				o, err := i.document(ctx, g.Name, file)
				mu.Lock()
				i.count(ctx, g, file, o, err)
				mu.Unlock()
			}
		})
	}
	for _, file := range g.files {
		if ctx.Err() != nil {
			break
		}
		files <- file
	}
	close(files)
	wg.Wait()
}

func (i *importer) document(ctx context.Context, contentType, file string) (outcome, error) {
	raw, err := readObject(file, 64)
	if err != nil {
		return 0, err
	}
	ouuid := strings.TrimSuffix(filepath.Base(file), ".json")
	documents := i.api.Documents(contentType)
	old, err := documents.Get(ctx, ouuid)
	o, err := compare(err, err == nil && sameContent(old.Data, raw))
	if err == nil && o != unchanged {
		_, err = documents.Put(ctx, ouuid, raw)
	}
	return o, err
}

// sameContent compares what people wrote, not what servers add.
func sameContent(a, b []byte) bool {
	system := []string{"_contenttype", "_finalization_datetime", "_finalized_by", "_sha1", "_published_datetime", "_signature"}
	return rawjson.Equal(rawjson.Without(nil, a, system...), rawjson.Without(nil, b, system...))
}

func readObject(file string, depth int) ([]byte, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if err := rawjson.CheckObject(raw, rawjson.Limits{Depth: depth}); err != nil {
		return nil, errors.New(problem.From(err).Detail)
	}
	return rawjson.Object(raw), nil
}
