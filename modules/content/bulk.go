package content

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
	"github.com/quoin-cms/quoin/core/web"
	"github.com/quoin-cms/quoin/core/work"
)

// bulkWindow is how many lines of a bulk request are worked on at once: they
// share commits, which is where the speed of a bulk comes from.
const bulkWindow = 64

// bulkRoom is how many documents of the largest size the lines that are worked
// on may amount to: each is in memory several times on its way.
const bulkRoom = 4

// bulkLine is one line of a bulk request.
type bulkLine struct {
	Op          string          `json:"op" required:"false" enum:"index,update,create,delete,publish,unpublish" default:"index" doc:"what to do"`
	OUUID       string          `json:"ouuid" required:"false" doc:"identifier of the document; a new one when it is missing"`
	Data        json.RawMessage `json:"data" required:"false" doc:"the fields of the document"`
	IfMatch     string          `json:"if_match" required:"false" doc:"ETag or revision id that the document must be at"`
	Environment string          `json:"environment" required:"false" doc:"of publish and unpublish"`
}

// bulkOperation is POST /api/data/{type}/_bulk: one JSON object per line in,
// one result per line out, in order, while the request is still being read.
func bulkOperation(s *Service) web.Operation {
	return web.Op(web.Operation{
		ID: "data-bulk", Method: http.MethodPost, Path: "/api/data/{type}/_bulk", Tag: tag, MaxBody: -1,
		Summary: "Write many documents", Errors: []int{403, 404},
		Takes:   web.Media{Type: "application/x-ndjson", Of: bulkLine{}},
		Answers: web.Media{Type: "application/x-ndjson", Of: bulkResult{}},
		Doc: "NDJSON: each line is {\"op\":\"index|update|create|delete|publish|unpublish\",\"ouuid\":…,\"data\":{…},\"if_match\":…,\"environment\":…}; " +
			"op defaults to index. Each line is answered by {\"line\":n,\"success\":…,\"status\":…,\"ouuid\":…,\"revision_id\":…} or by {\"line\":n,\"success\":false,\"status\":…,\"error\":[…]}; one that fails leaves the others alone. " +
			"Lines about the same document take effect in their order. With refresh=true the last results come when everything is searchable.",
	}, func(ctx context.Context, in *struct {
		TypePath
		Refresh bool `query:"refresh" doc:"give the last results when everything is searchable"`
	}) (*web.Stream, error) {
		if _, err := s.types.contentType(ctx, in.Type); err != nil {
			return nil, err
		}
		return web.Streaming("application/x-ndjson", func(ctx context.Context, r io.Reader, w io.Writer, flush func()) {
			b := &bulk{s: s, typeName: in.Type, refresh: in.Refresh}
			b.run(ctx, r, w, flush)
		}), nil
	})
}

// bulkLogged is how many failures of one bulk request are logged: when the
// database is away, every line fails for the same cause.
const bulkLogged = 20

type bulk struct {
	s        *Service
	typeName string
	refresh  bool
	failures atomic.Int64 // that are the fault of the server
	held     atomic.Int64 // bytes of the lines that have no answer yet
	freed    chan struct{}
}

// result is a line being worked on.
type result struct {
	ouuid string
	size  int
	done  chan struct{}
	text  []byte
}

// run reads lines, starts each, and writes the results in order. The window
// and the room bound memory; a slow reader of the answers slows the reading of
// the lines.
func (b *bulk) run(ctx context.Context, r io.Reader, w io.Writer, flush func()) {
	window := make(chan *result, bulkWindow)
	b.freed = make(chan struct{}, 1)
	written := make(chan struct{})
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		defer close(written)
		for res := range window {
			<-res.done
			if _, err := w.Write(res.text); err != nil {
				cancel() // nobody reads the answers any more
			}
			b.free(res.size)
			if len(window) == 0 {
				flush()
			}
		}
	}()
	b.read(ctx, r, window)
	close(window)
	<-written
	flush()
}

func (b *bulk) read(ctx context.Context, r io.Reader, window chan<- *result) {
	lines := lineReader{Reader: bufio.NewReaderSize(r, 64<<10), max: int(b.s.cfg.MaxDocument) + 4096}
	busy := map[string]*result{} // the last line about each document in the window
	for n := 1; ctx.Err() == nil; n++ {
		text, err := lines.next()
		if errors.Is(err, io.EOF) {
			return
		}
		var line bulkLine
		switch {
		case errors.Is(err, bufio.ErrTooLong):
			err = problem.New(problem.TooLarge, "the line is larger than %s", b.s.cfg.MaxDocument)
		case err != nil:
			err = problem.Wrap(err, problem.Invalid, "the request ended in the middle of a line")
		case len(text) == 0:
			continue
		default:
			line, err = parseBulkLine(text, b.s.cfg.MaxDepth)
		}
		if !b.hold(ctx, len(text)) {
			return
		}
		res := &result{ouuid: line.OUUID, size: len(text), done: make(chan struct{})}
		before := busy[line.OUUID]
		if line.OUUID != "" {
			busy[line.OUUID] = res
		}
		select {
		case window <- res:
		case <-ctx.Done():
			return
		}
		go b.one(ctx, n, line, err, before, res)
		if n%1024 == 0 {
			forget(busy)
		}
		if lines.broken {
			return
		}
	}
}

// hold waits until there is room for a line; false when ctx ends before. One
// goroutine calls it.
func (b *bulk) hold(ctx context.Context, size int) bool {
	for held := b.held.Load(); held > 0 && held+int64(size) > bulkRoom*int64(b.s.cfg.MaxDocument); held = b.held.Load() {
		select {
		case <-b.freed:
		case <-ctx.Done():
			return false
		}
	}
	b.held.Add(int64(size))
	return true
}

func (b *bulk) free(size int) {
	b.held.Add(-int64(size))
	select {
	case b.freed <- struct{}{}:
	default: // it will look anyway
	}
}

// lineReader reads lines up to a length.
type lineReader struct {
	*bufio.Reader
	max    int
	broken bool
}

// next gives a line without the white space around it, io.EOF after the last
// one, and bufio.ErrTooLong for one that is too long, which is skipped.
func (l *lineReader) next() ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := l.ReadSlice('\n')
		if long = long || len(line)+len(part) > l.max; !long {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && (long || len(bytes.TrimSpace(line)) > 0):
			err = nil // the last line needs no newline
		case err != nil:
			l.broken = true
			return nil, err
		}
		if long {
			return nil, bufio.ErrTooLong
		}
		return bytes.TrimSpace(line), err
	}
}

// forget drops the documents whose lines are done.
func forget(busy map[string]*result) {
	for k, r := range busy {
		select {
		case <-r.done:
			delete(busy, k)
		default:
		}
	}
}

func parseBulkLine(text []byte, depth int) (line bulkLine, err error) {
	if err := rawjson.CheckObject(text, rawjson.Limits{Depth: depth + 1}); err != nil {
		return line, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&line); err != nil {
		return line, problem.Wrap(err, problem.Invalid, "the line is not {op, ouuid, data, if_match, environment}")
	}
	return line, nil
}

func (b *bulk) one(ctx context.Context, n int, line bulkLine, err error, before, res *result) {
	defer close(res.done)
	if before != nil {
		<-before.done
	}
	var o *Outcome
	if err == nil {
		err = work.Protect(func() (err error) { // nobody else would, on this goroutine
			o, err = b.apply(ctx, line)
			return err
		})
	}
	if err != nil && problem.From(err).Kind.Status() >= 500 && ctx.Err() == nil && b.failures.Add(1) <= bulkLogged {
		b.s.log.ErrorContext(ctx, "a line of a bulk request failed", "type", b.typeName, "line", n, "ouuid", line.OUUID, "error", err)
	}
	res.text = lineAnswer(n, line.OUUID, o, err)
}

func (b *bulk) apply(ctx context.Context, l bulkLine) (*Outcome, error) {
	ctx, err := auth.Again(ctx) // the request may have begun hours ago
	if err != nil {
		return nil, err
	}
	switch l.Op {
	case "", "index", "update", "create":
		if l.Data == nil {
			return nil, problem.Field(problem.Invalid, "data", "is missing")
		}
	}
	switch l.Op {
	case "", "index":
		return b.s.Index(ctx, Write{Type: b.typeName, OUUID: l.OUUID, Raw: l.Data, Refresh: b.refresh, IfMatch: l.IfMatch})
	case "update":
		return b.s.Index(ctx, Write{Type: b.typeName, OUUID: l.OUUID, Raw: l.Data, Merge: true, Refresh: b.refresh, IfMatch: l.IfMatch})
	case "create":
		return b.s.Create(ctx, b.typeName, l.OUUID, l.Data)
	case "delete":
		return b.s.Delete(ctx, b.typeName, l.OUUID, l.IfMatch, b.refresh)
	case "publish":
		o, _, err := b.s.Publish(ctx, b.typeName, l.OUUID, l.Environment, 0, b.refresh)
		return o, err
	case "unpublish":
		_, err := b.s.Unpublish(ctx, b.typeName, l.OUUID, l.Environment, b.refresh)
		return &Outcome{Type: b.typeName, OUUID: l.OUUID}, err
	}
	return nil, problem.Field(problem.Invalid, "op", "%q is not one of index, update, create, delete, publish, unpublish", l.Op)
}

// lineAnswer renders the result of a line, with its newline.
func lineAnswer(n int, ouuid string, o *Outcome, err error) []byte {
	b := strconv.AppendInt([]byte(`{"line":`), int64(n), 10)
	if err != nil {
		p := problem.From(err)
		b = strconv.AppendInt(append(b, `,"success":false,"status":`...), int64(p.Kind.Status()), 10)
		if ouuid != "" {
			b = rawjson.AppendString(append(b, `,"ouuid":`...), ouuid)
		}
		if p.Code != "" {
			b = rawjson.AppendString(append(b, `,"code":`...), p.Code)
		}
		messages := slices.DeleteFunc(sentences(p.Fields), func(s string) bool { return s == p.Detail })
		b = list(b, "error", slices.Insert(messages, 0, p.Detail))
		return append(b, '}', '\n')
	}
	b = strconv.AppendBool(append(b, `,"success":`...), o.Ok())
	b = append(b, `,"status":200`...)
	b = rawjson.AppendString(append(b, `,"ouuid":`...), o.OUUID)
	if o.RevisionID != 0 {
		b = strconv.AppendInt(append(b, `,"revision_id":`...), o.RevisionID, 10)
	}
	b = list(list(b, "warning", sentences(o.Warnings)), "error", sentences(o.Errors))
	return append(b, '}', '\n')
}
