package job

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/work"
)

// channel is where processes on one PostgreSQL tell each other what has
// changed; quiet is the least time between two messages of a process.
const (
	channel = "quoin_job"
	quiet   = 20 * time.Millisecond
	maxKeys = 100 // in one message; more are told as "*"
)

// hub wakes who waits for a job to claim (key: its queue) or for news of a job
// (key: jobKey). It is only a hint: everybody who waits looks from time to
// time as well.
type hub struct {
	db  *db.DB
	log *slog.Logger

	mu      sync.Mutex
	waiting map[string][]chan struct{}
	dirty   map[string]bool
	told    chan struct{}
	server  func() // wakes the runner of this process

	end     context.CancelFunc
	running sync.WaitGroup
}

func newHub(d *db.DB, log *slog.Logger) *hub {
	return &hub{db: d, log: log, waiting: map[string][]chan struct{}{}, dirty: map[string]bool{}, told: make(chan struct{}, 1), server: func() {}}
}

func jobKey(id int64) string { return "job:" + strconv.FormatInt(id, 10) }

// wait gives a channel that gets a value at the next wake of the key, and the
// function that ends the waiting.
func (h *hub) wait(key string) (<-chan struct{}, func()) {
	c := make(chan struct{}, 1)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waiting[key] = append(h.waiting[key], c)
	return c, func() { h.leave(key, c) }
}

// leave ends a waiting. A wake that came and was not taken goes to the next.
func (h *hub) leave(key string, c chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := h.waiting[key]
	if i := slices.Index(list, c); i >= 0 {
		list = slices.Delete(list, i, i+1)
		h.waiting[key] = list
		if len(list) == 0 {
			delete(h.waiting, key)
		}
		return
	}
	if len(c) > 0 {
		h.wakeLocked(key)
	}
}

// wake tells this process and the others.
func (h *hub) wake(key string) {
	h.mu.Lock()
	h.wakeLocked(key)
	if h.db.Dialect() == db.Postgres {
		h.dirty[key] = true
	}
	h.mu.Unlock()
	select {
	case h.told <- struct{}{}:
	default:
	}
}

// wakeLocked wakes all who wait for news of a job, but one of those who wait
// for a job to claim: there is one.
func (h *hub) wakeLocked(key string) {
	if key == serverQueue {
		h.server()
		return
	}
	list := h.waiting[key]
	n := len(list)
	if !strings.HasPrefix(key, "job:") {
		n = min(n, 1)
	}
	for _, c := range list[:n] {
		c <- struct{}{}
	}
	if n == len(list) {
		delete(h.waiting, key)
		return
	}
	h.waiting[key] = slices.Delete(list, 0, n)
}

func (h *hub) wakeAll() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, list := range h.waiting {
		for _, c := range list {
			c <- struct{}{}
		}
	}
	clear(h.waiting)
	h.server()
}

// start begins to talk to other processes, which only PostgreSQL can have.
func (h *hub) start(ctx context.Context) error {
	if h.db.Dialect() != db.Postgres {
		return nil
	}
	background, end := context.WithCancel(context.WithoutCancel(ctx))
	h.end = end
	h.running.Go(func() { h.tell(background) })
	h.running.Go(func() { h.hear(background) })
	return nil
}

func (h *hub) stop(context.Context) error {
	if h.end != nil {
		h.end()
		h.running.Wait()
	}
	return nil
}

// tell sends what is dirty, a while after the first of it.
func (h *hub) tell(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.told:
		}
		h.mu.Lock()
		keys := slices.Collect(maps.Keys(h.dirty))
		clear(h.dirty)
		h.mu.Unlock()
		text := strings.Join(keys, "\n")
		if len(keys) > maxKeys || len(text) > 7000 { // a message has room for 8000 bytes
			text = "*"
		}
		if text != "" {
			within, cancel := context.WithTimeout(ctx, 5*time.Second)
			if err := h.db.Notify(within, channel, text); err != nil && ctx.Err() == nil {
				h.log.Warn("other processes could not be told of jobs; they find them by polling", "error", err)
			}
			cancel()
		}
		work.Pause(ctx, quiet)
	}
}

// hear wakes when another process tells. What this process told comes back as
// well and finds nobody, or somebody who looks once too often.
func (h *hub) hear(ctx context.Context) {
	h.db.Follow(ctx, channel, func(text string) {
		if text == "" || text == "*" {
			h.wakeAll()
			return
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		for key := range strings.SplitSeq(text, "\n") {
			h.wakeLocked(key)
		}
	}, func(err error) { h.log.Warn("no notifications of jobs; they are found by polling", "error", err) })
}
