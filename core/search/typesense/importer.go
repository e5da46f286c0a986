package typesense

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/typesense/typesense-go/v3/typesense"
	"github.com/typesense/typesense-go/v3/typesense/api"
)

// Sizes of requests that write.
const (
	maxLines  = 2000    // of an import
	maxImport = 4 << 20 // bytes of an import, unless one line is longer
	maxQuery  = 3500    // bytes of a filter in a URL, of which 4000 are taken
)

// verdict is what the server says to one line of an import.
type verdict struct {
	Success bool   `json:"success"`
	Code    int    `json:"code"`
	Error   string `json:"error"`
}

// importLines writes rows, each a JSON object without a line break, and gives a
// verdict for each. When it returns, what was accepted can be found.
func (c *client) importLines(ctx context.Context, collection string, action api.IndexAction, lines [][]byte) ([]verdict, error) {
	out := make([]verdict, 0, len(lines))
	for len(lines) > 0 {
		n, size := 0, 0
		for n < len(lines) && n < maxLines && (n == 0 || size+len(lines[n]) <= maxImport) {
			size += len(lines[n]) + 1
			n++
		}
		part, err := c.importPart(ctx, collection, action, bytes.Join(lines[:n], []byte("\n")), n)
		if err != nil {
			return out, err
		}
		out, lines = append(out, part...), lines[n:]
	}
	return out, nil
}

func (c *client) importPart(ctx context.Context, collection string, action api.IndexAction, body []byte, lines int) ([]verdict, error) {
	reject := api.DirtyValues("reject")
	params := &api.ImportDocumentsParams{Action: &action, DirtyValues: &reject}
	var out []verdict
	err := c.do(ctx, writeTimeout, action == api.Upsert, func(ctx context.Context, n *node) error {
		res, err := n.api.Collection(collection).Documents().ImportJsonl(ctx, bytes.NewReader(body), params)
		if err != nil {
			return err
		}
		defer func() { _ = res.Close() }()
		text, err := io.ReadAll(io.LimitReader(res, maxAnswer))
		if err != nil {
			return err
		}
		out, err = verdicts(text, lines)
		return err
	})
	return out, err
}

// verdicts reads the answer to an import. Lines are told by their place alone,
// so there must be as many as were sent.
func verdicts(text []byte, lines int) ([]verdict, error) {
	out := make([]verdict, 0, lines)
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		var v verdict
		if err := json.Unmarshal(line, &v); err != nil {
			return nil, fmt.Errorf("line %d of the answer to an import: %w", len(out)+1, io.ErrUnexpectedEOF)
		}
		out = append(out, v)
	}
	if len(out) != lines {
		return nil, fmt.Errorf("the answer to an import has %d of %d lines: %w", len(out), lines, io.ErrUnexpectedEOF)
	}
	return out, nil
}

// deleteByIDs deletes the rows of which the field (id or _root) has one of the
// values. Those that are not there are no error.
func (c *client) deleteByIDs(ctx context.Context, collection, field string, ids []string) error {
	for len(ids) > 0 {
		var b strings.Builder
		b.WriteString(field + ":=[")
		n := 0
		for size := 0; n < len(ids) && (n == 0 || size+len(ids[n]) < maxQuery); n++ {
			size += len(ids[n]) + len("%2C")
			if n > 0 {
				b.WriteByte(',')
			}
			b.WriteString(ids[n])
		}
		b.WriteByte(']')
		filter := b.String()
		params := &api.DeleteDocumentsParams{FilterBy: &filter}
		err := c.do(ctx, writeTimeout, true, func(ctx context.Context, nd *node) error {
			_, err := nd.api.Collection(collection).Documents().Delete(ctx, params)
			return err
		})
		if err != nil {
			return err
		}
		ids = ids[n:]
	}
	return nil
}

// createCollection makes a collection; Conflict when there is one.
func (c *client) createCollection(ctx context.Context, schema *api.CollectionSchema) error {
	return c.do(ctx, callTimeout, false, func(ctx context.Context, n *node) error {
		_, err := n.api.Collections().Create(ctx, schema)
		return err
	})
}

// dropCollection removes a collection if it is there. The name must not be that
// of an alias, whose collection would go.
func (c *client) dropCollection(ctx context.Context, name string) error {
	return c.do(ctx, writeTimeout, true, func(ctx context.Context, n *node) error {
		_, err := n.api.Collection(name).Delete(ctx)
		var h *typesense.HTTPError
		if errors.As(err, &h) && h.Status == http.StatusNotFound {
			return nil
		}
		return err
	})
}

// fieldsOf gives the names of the fields that a collection has by now.
func (c *client) fieldsOf(ctx context.Context, collection string) ([]string, error) {
	var names []string
	err := c.do(ctx, callTimeout, true, func(ctx context.Context, n *node) error {
		res, err := n.api.Collection(collection).Retrieve(ctx)
		if err != nil {
			return err
		}
		names = names[:0]
		for _, f := range res.Fields {
			if !strings.Contains(f.Name, "*") {
				names = append(names, f.Name)
			}
		}
		return nil
	})
	return names, err
}

// healthy asks a node whether it can serve.
func (c *client) healthy(ctx context.Context) error {
	return c.do(ctx, healthTimeout, false, func(ctx context.Context, n *node) error {
		ok, err := n.api.Health(ctx, healthTimeout)
		if err == nil && !ok {
			return &typesense.HTTPError{Status: http.StatusServiceUnavailable, Body: []byte("not ok")}
		}
		return err
	})
}
