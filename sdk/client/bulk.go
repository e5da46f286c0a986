package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
)

// BulkLine is one thing to do of many.
type BulkLine struct {
	Op          string          `json:"op,omitempty"`    // index (also when empty), update, create, delete, publish or unpublish
	OUUID       string          `json:"ouuid,omitempty"` // empty: the server chooses one
	Data        json.RawMessage `json:"data,omitempty"`
	IfMatch     string          `json:"if_match,omitempty"`
	Environment string          `json:"environment,omitempty"` // of publish and unpublish
}

// BulkResult is what became of a line. Err gives what went wrong with it.
type BulkResult struct {
	Line     int      `json:"line"` // counts from 1
	Success  bool     `json:"success"`
	Status   int      `json:"status"` // as if the line had been a call of its own
	OUUID    string   `json:"ouuid"`
	Revision int64    `json:"revision_id"`
	Messages []string `json:"error"`
}

// Err gives what went wrong with a line as an *Error, nil when nothing did.
func (r *BulkResult) Err() error {
	if r.Success {
		return nil
	}
	return &Error{Method: "line", Path: fmt.Sprint(r.Line), Status: r.Status, Messages: r.Messages}
}

// Bulk does many things with one call, and gives the results in the order of the
// lines while these are still being read: neither side holds all of them. A line
// that fails leaves the others alone. An error ends the results, and so does
// leaving the loop; what was done by then stays done. POST
// /api/data/{type}/_bulk.
func (d *Documents) Bulk(ctx context.Context, lines iter.Seq[BulkLine], options ...WriteOption) iter.Seq2[*BulkResult, error] {
	return func(yield func(*BulkResult, error) bool) {
		var w write
		for _, o := range options {
			o(&w)
		}
		r, out := io.Pipe()
		written := make(chan struct{})
		go func() { defer close(written); _ = out.CloseWithError(writeLines(out, lines)) }()
		defer func() { _ = r.Close(); <-written }()
		k := d.post("/_bulk")
		if k.stream, k.wait = r, forever; w.refresh {
			k.set("refresh", "true")
		}
		k.header.Set("Content-Type", "application/x-ndjson")
		resp, err := d.c.open(ctx, k)
		if err != nil {
			yield(nil, err)
			return
		}
		defer func() { _ = resp.Body.Close() }()
		readResults(resp.Body, yield)
	}
}

func writeLines(to io.Writer, lines iter.Seq[BulkLine]) error {
	buffered := bufio.NewWriterSize(to, 64<<10)
	e := json.NewEncoder(buffered)
	e.SetEscapeHTML(false)
	for line := range lines {
		if err := e.Encode(line); err != nil {
			return err
		}
	}
	return buffered.Flush()
}

func readResults(from io.Reader, yield func(*BulkResult, error) bool) {
	for results := json.NewDecoder(from); ; {
		var r BulkResult
		switch err := results.Decode(&r); {
		case errors.Is(err, io.EOF):
			return
		case err != nil:
			yield(nil, fmt.Errorf("the results of the bulk break off: %w", err))
			return
		case !yield(&r, nil):
			return
		}
	}
}
