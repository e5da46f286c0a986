package typesense

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/typesense/typesense-go/v3/typesense/api"
)

// How long generations stay that nothing names any more: searches and scrolls
// may still read the retired ones, and another process may be about to put a
// new one into the catalog.
const (
	retiredFor = 30 * time.Second
	orphanFor  = time.Hour
)

// Sweep drops generations that were replaced a while ago, and now and then those
// that a process which died has left behind. It is to be called every few
// seconds; what fails is tried again.
func (e *Engine) Sweep(ctx context.Context) {
	now, err := e.catalog.load(ctx)
	if err != nil {
		return
	}
	e.forget(now)
	limit := time.Now().Add(-retiredFor).Unix()
	var gone []string
	for main, since := range now.Retired {
		if since <= limit && e.dropGeneration(ctx, main) {
			gone = append(gone, main)
		}
	}
	if len(gone) > 0 {
		err := e.catalog.change(ctx, func(s *state) error {
			for _, main := range gone {
				delete(s.Retired, main)
			}
			return nil
		})
		if err != nil {
			e.log.DebugContext(ctx, "old collections were dropped, and the catalog still names them", "error", err)
		}
	}
	e.mu.Lock()
	due := time.Since(e.sweptAt) > orphanFor
	if due {
		e.sweptAt = time.Now()
	}
	e.mu.Unlock()
	if due {
		e.dropOrphans(ctx)
	}
}

// dropOrphans removes generations that the catalog does not know.
func (e *Engine) dropOrphans(ctx context.Context) {
	var found []*api.CollectionResponse
	err := e.client.do(ctx, callTimeout, true, func(ctx context.Context, n *node) (err error) {
		found, err = n.api.Collections().Retrieve(ctx)
		return err
	})
	if err != nil {
		e.log.DebugContext(ctx, "the collections could not be listed", "error", err)
		return
	}
	e.catalog.expire()
	now, err := e.catalog.load(ctx)
	if err != nil {
		return
	}
	known := map[string]bool{}
	for _, p := range now.Indices {
		known[p.Main] = true
	}
	for main := range now.Retired {
		known[main] = true
	}
	for _, c := range found {
		main := strings.TrimSuffix(c.Name, "~n")
		number, ours := strings.CutPrefix(main, e.prefix+"_")
		n, err := strconv.ParseInt(number, 10, 64)
		if !ours || err != nil || n < 1 || n >= now.Next || known[main] || c.CreatedAt == nil || time.Since(time.Unix(*c.CreatedAt, 0)) < orphanFor {
			continue
		}
		known[main] = true
		e.dropGeneration(ctx, main)
	}
}
