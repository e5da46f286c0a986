package job

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/web"
)

const (
	outputAtOnce = 1 << 20 // bytes of one answer, about
	keepAlive    = 15 * time.Second
)

type outputIn struct {
	JobPath
	From   int64  `query:"from" minimum:"0" doc:"how many bytes are known already"`
	LastID string `header:"Last-Event-ID" doc:"from, of a client that comes back"`
	Accept string `header:"Accept" doc:"application/json, text/plain, or text/event-stream to follow the output until the job is over"`
}

func outputOperation(s *Service) web.Operation {
	o := operation("job-output", http.MethodGet, "/api/admin/job/{job}/output", "Output of a job from an offset on",
		"JSON with output and next, the offset to go on from (about a MiB at a time); with Accept: text/plain only the text, with X-Job-Offset for next. "+
			"With Accept: text/event-stream it goes on until the job is over: events named output, whose id is the offset to come back with and whose data is a JSON string, and one named end.", 404)
	o.Answers = web.Media{Of: piece{}}
	o.Says = map[int]web.Media{http.StatusOK: {Type: "text/plain, text/event-stream", Doc: "the text, or a stream of events"}}
	return web.Op(o, s.opOutput)
}

// piece is some of the output.
type piece struct {
	JobDone
	JobID  string `json:"job_id"`
	From   int64  `json:"from"`
	Next   int64  `json:"next"`
	Output string `json:"output"`
	Over   bool   `json:"done"`
	State  State  `json:"state"`
}

func (s *Service) opOutput(ctx context.Context, in *outputIn) (*web.Stream, error) {
	id, err := parseID(in.Job)
	if err != nil {
		return nil, err
	}
	from := in.From
	if in.LastID != "" {
		if from, err = strconv.ParseInt(in.LastID, 10, 64); err != nil || from < 0 {
			return nil, problem.Field(problem.Invalid, "Last-Event-ID", "is not an offset")
		}
	}
	p, err := s.piece(ctx, id, from)
	if err != nil {
		return nil, err
	}
	return web.Direct(func(w http.ResponseWriter, r *http.Request) error {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		switch {
		case strings.Contains(in.Accept, "text/event-stream"):
			h.Set("Content-Type", "text/event-stream")
			h.Set("X-Accel-Buffering", "no") // a proxy must not collect it
			return s.follow(r.Context(), w, id, p)
		case strings.Contains(in.Accept, "text/plain"):
			h.Set("Content-Type", "text/plain; charset=utf-8")
			h.Set("X-Job-Offset", strconv.FormatInt(p.Next, 10))
			_, err := io.WriteString(w, p.Output)
			return err
		}
		h.Set("Content-Type", "application/json")
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		return enc.Encode(p)
	}), nil
}

// piece reads some output. The job is read first, so that what it wrote before
// it was over is never missing.
func (s *Service) piece(ctx context.Context, id, from int64) (*piece, error) {
	j, err := s.store.job(ctx, id)
	if err == nil {
		err = mayFollow(ctx, j)
	}
	if err != nil {
		return nil, err
	}
	if from > j.Size {
		return nil, problem.Field(problem.Invalid, "from", "is %d, but the output has %d bytes", from, j.Size)
	}
	text, err := s.store.output(ctx, id, from, outputAtOnce)
	if err != nil {
		return nil, err
	}
	to := from + int64(len(text))
	return &piece{
		JobDone: JobDone{true, true}, JobID: strconv.FormatInt(id, 10), From: from, Next: to, Output: string(text),
		Over: j.State.Over() && to >= j.Size, State: j.State,
	}, nil
}

// follow writes events until the job is over, the client leaves or the server
// stops.
func (s *Service) follow(ctx context.Context, w http.ResponseWriter, id int64, p *piece) error {
	rc := http.NewResponseController(w)
	alive := time.NewTicker(keepAlive)
	defer alive.Stop()
	for {
		woken, leave := s.hub.wait(jobKey(id))
		var err error
		if p, err = s.catchUp(ctx, w, id, p); err != nil || p.Over {
			leave()
			return err
		}
		if err := rc.Flush(); err != nil {
			leave()
			return err
		}
		look := time.NewTimer(lookEvery)
		stop := false
		select {
		case <-woken:
		case <-look.C:
		case <-alive.C:
			_, err = io.WriteString(w, ": the job is "+string(p.State)+"\n\n")
		case <-s.stopping:
			stop = true
		case <-ctx.Done():
			stop = true
		}
		look.Stop()
		leave()
		if stop || err != nil {
			return err
		}
		if ctx, err = auth.Again(ctx); err != nil {
			return err
		}
		if p, err = s.piece(ctx, id, p.Next); err != nil {
			return err
		}
	}
}

// catchUp writes all output there is, from a piece on, and the end.
func (s *Service) catchUp(ctx context.Context, w io.Writer, id int64, p *piece) (*piece, error) {
	for {
		if p.Output != "" {
			data, err := json.Marshal(p.Output)
			if err != nil {
				return nil, err
			}
			if _, err := fmt.Fprintf(w, "event: output\nid: %d\ndata: %s\n\n", p.Next, data); err != nil {
				return nil, err
			}
		}
		if p.Over {
			_, err := fmt.Fprintf(w, "event: end\ndata: {\"state\":%q,\"next\":%d}\n\n", p.State, p.Next)
			return p, err
		}
		more, err := s.piece(ctx, id, p.Next)
		if err != nil {
			return nil, err
		}
		if p = more; p.Output == "" && !p.Over {
			return p, nil
		}
	}
}
