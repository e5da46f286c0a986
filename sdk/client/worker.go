package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// ErrCancelled is the cause of the context of a job that should end: somebody
// cancelled it, or it was given to another worker.
var ErrCancelled = errors.New("the job was cancelled, or given to another worker")

// workLease is for how long a worker may be silent, and workWait how long it
// waits for a job with one call.
const (
	workLease = time.Minute
	workWait  = 30 * time.Second
)

// Work takes jobs with a tag, one after the other, and does them until ctx ends,
// which is its error then. do gets the command and a writer for the output; its
// error fails the job, and its context ends with ErrCancelled as the cause when
// the job should end. While do runs the server is told that the worker lives. A
// job that ctx ended in the middle goes to another worker when its lease is over.
//
// When the server cannot be reached, Work waits and tries again; it gives up
// when the server refuses the worker (401, 403, 404).
func (j *Jobs) Work(ctx context.Context, tag string, do func(ctx context.Context, c *Claim, output io.Writer) error) error {
	for failed := 0; ; {
		c, err := j.Next(ctx, tag, workWait, workLease)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && Status(err) >= 400 && Status(err) < 500 && Status(err) != http.StatusTooManyRequests:
			return err
		case err != nil:
			if failed++; !pause(ctx, err, min(failed, 8)) && ctx.Err() != nil {
				return ctx.Err()
			}
			continue
		}
		if failed = 0; c == nil {
			continue
		}
		c.run(ctx, do)
	}
}

// run does one job. What the server says about its end is of no use here: a
// claim that was lost is another worker's.
func (c *Claim) run(ctx context.Context, do func(context.Context, *Claim, io.Writer) error) {
	job, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w := &jobWriter{ctx: job, c: c, cancel: cancel}
	var beating sync.WaitGroup
	beating.Go(func() { c.beat(job, cancel) })
	err := do(job, c, w)
	if left := w.flush(); err == nil {
		err = left
	}
	cancel(nil)
	beating.Wait()
	end, stop := context.WithTimeout(context.WithoutCancel(ctx), workLease)
	defer stop()
	switch cause := context.Cause(job); {
	case errors.Is(cause, ErrCancelled):
		c.end(end, func() error { return c.Fail(end, cause.Error(), 0) })
	case err != nil && ctx.Err() != nil: // not the fault of the job
	case err != nil:
		c.end(end, func() error { return c.Fail(end, err.Error(), 0) })
	default:
		c.end(end, func() error { return c.Complete(end) })
	}
}

// end tells the server how the job ended, until it has heard or the lease is
// over: what is done would be done again by another worker.
func (c *Claim) end(ctx context.Context, tell func() error) {
	for failed := 1; ; failed++ {
		err := tell()
		if err == nil || !c.j.c.passing(err) || !pause(ctx, err, min(failed, 8)) {
			return
		}
	}
}

// beat tells that the worker lives, three times in a lease.
func (c *Claim) beat(ctx context.Context, cancel context.CancelCauseFunc) {
	every := max(c.Lease, 3*time.Second) / 3
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if ended, err := c.Heartbeat(ctx); ended || Status(err) == http.StatusConflict || Status(err) == http.StatusNotFound {
			cancel(ErrCancelled)
			return
		}
	}
}

// jobWriter sends what is written as output. The server takes text, so a
// character that was written in two pieces is sent in one.
type jobWriter struct {
	mu     sync.Mutex
	ctx    context.Context //nolint:containedctx // an io.Writer has none of its own
	c      *Claim
	cancel context.CancelCauseFunc
	begun  []byte // of a character whose end was not written yet
}

// Write implements io.Writer.
func (w *jobWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := append(w.begun[:len(w.begun):len(w.begun)], p...)
	whole := len(text) - unfinished(text)
	if err := w.print(text[:whole]); err != nil {
		return 0, err
	}
	w.begun = text[whole:]
	return len(p), nil
}

// flush sends what is no whole character and will not become one.
func (w *jobWriter) flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := w.begun
	w.begun = nil
	return w.print(text)
}

func (w *jobWriter) print(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	ended, err := w.c.Print(w.ctx, string(text))
	if ended || Status(err) == http.StatusConflict {
		w.cancel(ErrCancelled)
	}
	return err
}

// unfinished counts the bytes at the end of a text that begin a character.
func unfinished(text []byte) int {
	for n := 1; n <= min(len(text), utf8.UTFMax-1); n++ {
		if tail := text[len(text)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

// Follow gives the output of a job from an offset on, as it comes, until the job
// is over. It goes on after a broken connection. GET /api/admin/job/{job}/output.
func (j *Jobs) Follow(ctx context.Context, id string, from int64) iter.Seq2[*Output, error] {
	return func(yield func(*Output, error) bool) {
		for failed := 0; ; {
			at, err := j.follow(ctx, id, from, yield)
			if at > from {
				from, failed = at, 0
			}
			switch {
			case err == nil || errors.Is(err, errLeft):
				return
			case errors.Is(err, io.ErrUnexpectedEOF) && ctx.Err() == nil: // the server stopped, or a proxy cut it off
			case !j.c.passing(err):
				yield(nil, err)
				return
			}
			if failed++; failed > j.c.settings.retries || !pause(ctx, err, failed) {
				yield(nil, err)
				return
			}
		}
	}
}

// errLeft says that nobody reads on.
var errLeft = errors.New("left")

// follow reads one stream of events; at is the offset that it came to. The error
// is nil when the job is over.
func (j *Jobs) follow(ctx context.Context, id string, from int64, yield func(*Output, error) bool) (at int64, err error) {
	k := get("/api/admin/job/{}/output", id).number("from", from)
	k.header.Set("Accept", "text/event-stream")
	resp, err := j.c.open(ctx, k)
	if err != nil {
		return from, err
	}
	defer func() { _ = resp.Body.Close() }()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, int(min(j.c.settings.limit, 1<<30)))
	var name, eventID, data string
	for at = from; lines.Scan(); {
		field, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case field == "event":
			name = value
		case field == "id":
			eventID = value
		case field == "data":
			data = value
		case lines.Text() != "" || name == "": // a comment, or nothing at all
		default:
			o, err := event(name, eventID, data, at)
			if err != nil {
				return at, err
			}
			if at = o.Next; !yield(o, nil) {
				return at, errLeft
			}
			if o.Done {
				return at, nil
			}
			name, eventID, data = "", "", ""
		}
	}
	if err := lines.Err(); err != nil {
		return at, err
	}
	return at, io.ErrUnexpectedEOF
}

// event reads one event of an output.
func event(name, id, data string, from int64) (*Output, error) {
	o := &Output{From: from}
	var err error
	switch name {
	case "output":
		o.State = "running"
		if _, err = fmt.Sscan(id, &o.Next); err == nil {
			err = json.Unmarshal([]byte(data), &o.Text)
		}
	case "end":
		o.Done = true
		err = json.Unmarshal([]byte(data), o)
	default:
		o.Next = from
	}
	if err != nil {
		return nil, &broken{fmt.Errorf("the server sends an output that cannot be read: %w", err)}
	}
	return o, nil
}
