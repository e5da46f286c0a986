package search

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/dsl"
)

// defaultKeep is how long a scroll waits for the next call when the call does
// not say (contract-notes 1.8).
const defaultKeep = 3 * time.Minute

// InitScroll opens a scroll over what a search object finds now and gives its
// id and its first page. Sort and from do not matter, size is that of each
// page. It belongs to the user of the context. TooManyRequests when there are
// too many.
func (s *Service) InitScroll(ctx context.Context, text []byte, expire string) (id string, out *search.Response, err error) {
	user, err := auth.Require(ctx)
	if err != nil {
		return "", nil, err
	}
	keep, err := s.keep(expire)
	if err != nil {
		return "", nil, err
	}
	err = s.evaluate(ctx, text, func(ctx context.Context, t search.Target, r *search.Request) error {
		scrollOf(r)
		r.Now = time.Now()
		cursor, err := s.engine.Scroll(ctx, t, r)
		if err != nil {
			return err
		}
		if portable, ok := cursor.(search.Portable); ok {
			id, out, err = s.openHeld(ctx, heldScroll{User: user.UserID, Now: r.Now.UnixNano(), Search: string(text)}, portable, t.Types, keep)
			return err
		}
		sc, err := s.scrolls.add(user.UserID, cursor, keep)
		if err != nil {
			return err
		}
		if out, err = s.scrolls.page(ctx, sc, t.Types); err != nil {
			s.scrolls.forget(sc) // nobody knows its id
		}
		id = sc.id
		return err
	})
	return id, out, err
}

// scrollOf makes the request of a scroll of that of a search.
func scrollOf(r *search.Request) {
	r.Source.Includes = withSystem(r.Source.Includes)
	r.Sort, r.From = nil, 0
}

// openHeld gives the first page of a scroll that its id holds.
func (s *Service) openHeld(ctx context.Context, h heldScroll, c search.Portable, types []string, keep time.Duration) (string, *search.Response, error) {
	out, err := c.Next(ctx, types)
	if err != nil {
		return "", nil, err
	}
	id, err := s.ids.pack(h, c, keep)
	if err == nil && len(id) > maxScrollID {
		err = problem.Field(problem.Invalid, "search", "the id of a scroll holds the search, and for this one it has %d bytes, above the limit of %d: shorten the search", len(id), maxScrollID)
	}
	return id, out, err
}

// nextHeld gives the next page of a scroll that its id holds, and the id of the
// page behind it.
func (s *Service) nextHeld(ctx context.Context, user int64, id string, types []string, keep time.Duration) (next string, out *search.Response, err error) {
	h, err := s.ids.unpack(id, user)
	if err != nil {
		return "", nil, err
	}
	c := s.ids.atUse.take(h.code)
	if c == nil {
		if c, err = s.resume(h); err != nil {
			return "", nil, err
		}
	}
	err = s.within(ctx, func(ctx context.Context) (err error) {
		if out, err = c.Next(ctx, types); err == nil {
			next, err = s.ids.pack(*h, c, keep)
		}
		return err
	})
	return next, out, err
}

// resume makes the cursor that an id holds.
func (s *Service) resume(h *heldScroll) (search.Portable, error) {
	engine, ok := s.engine.(search.Resumer)
	if !ok {
		return nil, noScroll()
	}
	r, err := dsl.Parse([]byte(h.Search))
	if err != nil {
		return nil, err
	}
	scrollOf(r)
	r.Now = time.Unix(0, h.Now)
	c, err := engine.Resume(r, h.Place)
	if err != nil {
		return nil, err
	}
	return c.(search.Portable), nil
}

// NextScroll gives the next page of a scroll of the user of the context, with
// what the user may view now, and the id with which to ask for the page behind
// it; one without hits is the end. NotFound when there is no such scroll, which
// is all that other users learn of it.
func (s *Service) NextScroll(ctx context.Context, id, expire string) (next string, out *search.Response, err error) {
	user, err := auth.Require(ctx)
	if err != nil {
		return "", nil, err
	}
	keep, err := s.keep(expire)
	if err != nil {
		return "", nil, err
	}
	visible, err := s.visible(ctx)
	if err != nil {
		return "", nil, err
	}
	if strings.HasPrefix(id, scrollMark) {
		return s.nextHeld(ctx, user.UserID, id, visible, keep)
	}
	sc, err := s.scrolls.find(user.UserID, id, keep)
	if err != nil {
		return "", nil, err
	}
	err = s.within(ctx, func(ctx context.Context) (err error) {
		out, err = s.scrolls.page(ctx, sc, visible)
		return err
	})
	return id, out, err
}

// keep reads how long a scroll is to be kept: digits and a unit of
// Elasticsearch, such as 3m; empty means defaultKeep.
func (s *Service) keep(text string) (time.Duration, error) {
	if text == "" {
		return min(defaultKeep, s.cfg.ScrollKeepAlive), nil
	}
	digits := strings.TrimRight(text, "abcdefghijklmnopqrstuvwxyz")
	n, err := strconv.ParseUint(digits, 10, 31)
	unit := map[string]time.Duration{
		"nanos": time.Nanosecond, "micros": time.Microsecond, "ms": time.Millisecond,
		"s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour,
	}[text[len(digits):]]
	if err != nil || unit == 0 || n == 0 {
		return 0, problem.Field(problem.Invalid, "expire-time", "must be a number above 0 and a unit, such as 30s, 3m or 1h, not %.20q", text)
	}
	if n > uint64(s.cfg.ScrollKeepAlive/unit) {
		return 0, problem.Field(problem.Invalid, "expire-time", "%s is above the limit of %s", text, s.cfg.ScrollKeepAlive)
	}
	return time.Duration(n) * unit, nil
}
