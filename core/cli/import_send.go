package cli

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
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
	path := "/api/admin/" + url.PathEscape(kind) + "/" + url.PathEscape(name)
	status, old, err := i.api.do(ctx, http.MethodGet, path, nil)
	if err != nil && status != http.StatusNotFound {
		return 0, err
	}
	if status == http.StatusOK && rawjson.Equal(old, export) {
		return unchanged, nil
	}
	_, _, err = i.api.do(ctx, http.MethodPost, path, export)
	if status == http.StatusOK {
		return updated, err
	}
	return created, err
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
	base := "/api/data/" + url.PathEscape(contentType) + "/"
	status, answer, err := i.api.do(ctx, http.MethodGet, base+url.PathEscape(ouuid), nil)
	if err != nil && status != http.StatusNotFound {
		return 0, err
	}
	if old, ok := rawjson.Get(answer, "revision"); status == http.StatusOK && ok && sameContent(old, raw) {
		return unchanged, nil
	}
	_, answer, err = i.api.do(ctx, http.MethodPost, base+"index/"+url.PathEscape(ouuid), raw)
	if err == nil {
		if ok, _ := rawjson.Get(answer, "success"); string(ok) != "true" {
			err = errors.New(reason(answer))
		}
	}
	if status == http.StatusOK {
		return updated, err
	}
	return created, err
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
