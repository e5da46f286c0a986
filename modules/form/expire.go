package form

import (
	"context"
	"time"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/work"
)

// upkeep are the things done now and then, by one of all processes.
func (s *Service) upkeep() []work.Task {
	return []work.Task{
		{Name: "form.expire", Every: s.cfg.ExpireEvery, Run: func(ctx context.Context) error { _, err := s.Expire(ctx); return err }},
		{Name: "form.trash", Every: time.Minute, Run: s.Trash},
	}
}

// Expired is what an expiry removed.
type Expired struct {
	Submissions int64 `json:"submissions"`
	Files       int64 `json:"files"`
	Codes       int64 `json:"codes"`
}

// together is how many submissions one transaction removes.
const together = 200

// Expire removes the submissions whose day has come, with their files, and the
// codes that are no longer valid. It is also what the command runs.
func (s *Service) Expire(ctx context.Context) (Expired, error) {
	var out Expired
	now := s.now()
	for {
		ids, err := s.store.strings(ctx, expired, db.Micros(now), together)
		if err != nil {
			return out, err
		}
		if len(ids) == 0 {
			break
		}
		files, err := s.remove(ctx, ids)
		if err != nil {
			return out, err
		}
		out.Submissions += int64(len(ids))
		out.Files += files
	}
	var err error
	if out.Codes, err = s.store.db.Exec(ctx, expiredCodes, db.Micros(now)); err != nil {
		return out, err
	}
	if _, err = s.store.db.Exec(ctx, sweepAccess, db.Micros(now.Add(-s.cfg.AccessLog))); err != nil {
		return out, err
	}
	if out != (Expired{}) {
		s.log.InfoContext(ctx, "expired submissions were removed", "submissions", out.Submissions, "files", out.Files, "codes", out.Codes)
	}
	return out, s.Trash(ctx)
}

// remove deletes submissions in one transaction.
func (s *Service) remove(ctx context.Context, ids []string) (files int64, err error) {
	err = s.store.db.InTx(ctx, func(ctx context.Context) error {
		files = 0
		for _, id := range ids {
			n, err := s.store.remove(ctx, id, s.now())
			if err != nil {
				return err
			}
			files += n
		}
		return nil
	})
	return files, err
}

// grace is how long bytes may wait for the transaction of their submission.
const grace = time.Hour

// Trash deletes the bytes of files that are no more. One that cannot be deleted
// now is tried again.
func (s *Service) Trash(ctx context.Context) error {
	before := db.Micros(s.now().Add(-grace))
	for after := ""; ; {
		keys, err := s.store.strings(ctx, listTrash, after, together)
		if err != nil || len(keys) == 0 {
			return err
		}
		for _, key := range keys {
			if err := s.burn(ctx, key, before); err != nil {
				return err
			}
		}
		after = keys[len(keys)-1]
	}
}

// burn deletes the bytes of one file, unless a submission is just being stored
// with it: then the time is negative.
func (s *Service) burn(ctx context.Context, key string, before int64) error {
	var at int64
	_, err := db.Found(&at, s.store.db.Row(ctx, trashedAt, key).Scan(&at))
	if err != nil || at == 0 || at < 0 && -at > before {
		return err
	}
	if err := s.blobs.Delete(ctx, key); err != nil {
		return told(err)
	}
	_, err = s.store.db.Exec(ctx, emptyTrash, key)
	return err
}
