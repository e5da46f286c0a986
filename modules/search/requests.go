package search

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/work"
)

const (
	requestPoll  = 250 * time.Millisecond
	requestsMany = 8
	// patience is how long a request waits for somebody to begin.
	patience = 5 * time.Second
	// silence is after how long without a sign of life whoever works on a
	// request is taken for dead.
	silence      = 15 * time.Second
	requestsKept = time.Hour
)

// requests is how a process without the index, such as the command line, asks
// the one that holds it: rows of a table, which need no address and no token.
type requests struct {
	store store
	log   *slog.Logger
}

// errNobody tells that no server has taken a request.
var errNobody = problem.New(problem.Unavailable, "no running server has taken the request within %s: start one with `quoin serve` on the same data and run the command again", patience).
	WithCode(port.NoServer)

// ask gives the answer of the process that holds the index, as JSON. It tells
// progress lines as they change.
func (q *requests) ask(ctx context.Context, what string, argument any, progress func(string)) (json.RawMessage, error) {
	raw, err := json.Marshal(argument)
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	id, err := q.store.add(ctx, what, raw, begin)
	if err != nil {
		return nil, err
	}
	defer func() { // also when ctx has ended; what has begun goes on
		_, _ = q.store.exec(context.WithoutCancel(ctx), removeRequest, id)
	}()
	tick := time.NewTicker(requestPoll / 2)
	defer tick.Stop()
	for said := ""; ; {
		r, err := q.store.request(ctx, id)
		switch {
		case err != nil:
			return nil, err
		case r.Failure != "":
			return nil, errors.New(r.Failure)
		case r.DoneAt > 0:
			return r.Answer, nil
		case r.BeatAt == 0 && time.Since(begin) > patience:
			if n, err := q.store.exec(ctx, withdrawn, id); err != nil || n > 0 {
				return nil, cmp.Or(err, error(errNobody))
			}
		case r.BeatAt > 0 && time.Since(time.UnixMicro(r.BeatAt)) > 2*silence:
			return nil, errors.New("the server that worked on it has stopped: start it and run the command again")
		case r.Progress != said:
			said = r.Progress
			progress(said)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// performer does what a request asks for.
type performer func(ctx context.Context, what string, argument json.RawMessage, progress func(string)) (any, error)

// serve answers requests until ctx ends.
func (q *requests) serve(ctx context.Context, do performer) {
	var running sync.WaitGroup
	defer running.Wait()
	places := make(chan struct{}, requestsMany)
	tick := time.NewTicker(requestPoll)
	defer tick.Stop()
	for swept := (time.Time{}); ctx.Err() == nil; {
		if time.Since(swept) > requestsKept {
			swept = time.Now()
			_, _ = q.store.exec(ctx, sweepRequests, swept.Add(-requestsKept).UnixMicro(), swept.Add(-silence).UnixMicro())
		}
		open, err := q.store.open(ctx, time.Now().Add(-silence), requestsMany-len(places))
		if err != nil && ctx.Err() == nil {
			q.log.WarnContext(ctx, "requests to the search index could not be read; trying again", "error", err)
		}
		for _, r := range open {
			now := time.Now()
			if n, err := q.store.exec(ctx, takeRequest, now.UnixMicro(), r.ID, now.Add(-silence).UnixMicro()); err != nil || n == 0 {
				continue // somebody else has it
			}
			places <- struct{}{}
			running.Go(func() {
				defer func() { <-places }()
				q.work(ctx, r, do)
			})
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// work answers one request. It shows signs of life as long as it takes.
func (q *requests) work(ctx context.Context, r request, do performer) {
	var line atomic.Pointer[string]
	line.Store(new(string))
	working, end := context.WithCancel(ctx)
	var beating sync.WaitGroup
	beating.Go(func() {
		work.Every(working, 4*requestPoll, func() {
			_, _ = q.store.exec(working, beatRequest, time.Now().UnixMicro(), *line.Load(), r.ID)
		})
	})
	answer, err := do(auth.With(ctx, auth.System("command line")), r.What, r.Argument, func(s string) { line.Store(&s) })
	end()
	beating.Wait()
	if err != nil && ctx.Err() != nil { // the process ends: the next one begins again
		return
	}
	failure, text := "", []byte{}
	if err == nil {
		text, err = json.Marshal(answer)
	}
	if err != nil {
		failure = problem.From(err).Detail
		q.log.WarnContext(ctx, "a request to the search index failed", "what", r.What, "error", err)
	}
	if _, err := q.store.exec(ctx, finishRequest, time.Now().UnixMicro(), string(text), failure, r.ID); err != nil {
		q.log.WarnContext(ctx, "the answer to a request could not be kept", "what", r.What, "error", err)
	}
}
