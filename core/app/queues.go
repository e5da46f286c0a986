package app

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/work"
)

// queues are the numbers of core/work, counted at most every few seconds
// however often they are asked for.
type queues struct {
	db     *db.DB
	config *Config

	mu  sync.Mutex
	at  time.Time
	all []work.TableStats
	err error
}

// countedFor is how long a count of the queues is good for.
const countedFor = 5 * time.Second

// get gives a count that is fresh enough. Whoever asks while one is made waits
// for it, and gets it too: so it does not end with the request that began it.
func (q *queues) get(ctx context.Context) ([]work.TableStats, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if time.Since(q.at) > countedFor {
		q.all, q.err = q.config.queues(context.WithoutCancel(ctx), q.db)
		q.at = time.Now()
	}
	return q.all, q.err
}

// queues counts the work there is, but for that of modules that are switched
// off: nobody is to do it, so it is neither late nor given up.
func (c *Config) queues(ctx context.Context, d *db.DB) ([]work.TableStats, error) {
	all, err := work.AllStats(ctx, d)
	kept := make([]work.TableStats, 0, len(all))
	for _, t := range all {
		owner, _, _ := strings.Cut(t.Table, "_")
		if c.off(owner) {
			continue
		}
		if t.Table == work.ScheduleTable {
			t.Queues = slices.DeleteFunc(t.Queues, func(s work.Stats) bool {
				owner, _, _ := strings.Cut(s.Queue, ".")
				return c.off(owner)
			})
		}
		kept = append(kept, t)
	}
	return kept, err
}

// off reports whether there is a module of the name and it is switched off.
func (c *Config) off(name string) bool { s := c.switches[name]; return s != nil && !s.Enabled }
