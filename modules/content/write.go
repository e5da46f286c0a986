package content

import (
	"context"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
)

// Write is a request to store a document in one step.
type Write struct {
	Type    string
	OUUID   string // empty: a new document
	Raw     []byte // a JSON object, as it came
	Merge   bool   // keep the fields that Raw leaves out; the document must exist
	Refresh bool   // wait until it is searchable
	IfMatch string
}

// Index stores and finalizes a document (POST index and update). Findings of
// the validation are in the Outcome, and the data is kept as a failed draft,
// which the next Index replaces: clients of old read its id to discard it. A
// draft that somebody made on purpose is never overwritten: Conflict.
func (s *Service) Index(ctx context.Context, w Write) (*Outcome, error) {
	ct, err := s.types.contentType(ctx, w.Type)
	if err != nil {
		return nil, err
	}
	body, err := s.body(w.Raw, true)
	if err != nil {
		return nil, err
	}
	o := &Outcome{Type: ct.Name, OUUID: w.OUUID}
	if w.OUUID == "" {
		o.OUUID, o.Created = newOUUID(), true
	} else if err := checkOUUID(w.OUUID); err != nil {
		return nil, err
	}
	if err := retry(w.IfMatch, func() error { return s.index(ctx, ct, w, body, o) }); err != nil {
		return nil, err
	}
	if w.Refresh && o.Ok() {
		s.refreshed(ctx, o)
	}
	return o, nil
}

// index is one attempt: read the head, work out the new data, write.
func (s *Service) index(ctx context.Context, ct *contentType, w Write, body []byte, o *Outcome) error {
	var head *revision
	var err error
	if w.OUUID != "" {
		if head, err = s.store.newest(ctx, ct.id, o.OUUID); err != nil {
			return err
		}
	}
	alive := head != nil && !head.Deleted
	if err := s.mayWrite(ctx, ct, w, head, alive); err != nil {
		return err
	}
	data := body
	if w.Merge {
		base, err := s.base(ctx, head)
		if err != nil {
			return err
		}
		data = rawjson.Merge(make([]byte, 0, len(base)+len(body)), base, body)
	}
	found := ct.compiled.Validate(data)
	o.Errors, o.Warnings, o.Created = found.Errors, found.Warnings, !alive
	if !o.Ok() {
		return s.keepFailed(ctx, ct, head, data, o)
	}
	now := s.now()
	final := &revision{
		TypeID: ct.id, OUUID: o.OUUID, Number: 1, CreatedAt: db.Micros(now), CreatedBy: who(ctx), FinalizedAt: db.Micros(now), FinalizedBy: who(ctx),
		Raw: ct.seal(make([]byte, 0, len(data)+256), data, who(ctx), now),
	}
	err = s.db().InTx(ctx, func(ctx context.Context) error {
		if alive && head.Failed { // the next number replaces the failed draft
			if err := s.store.discard(ctx, head); err != nil {
				return err
			}
		}
		if head != nil {
			final.Number = head.Number + 1
		}
		if head != nil && head.Deleted {
			if err := s.store.setDeleted(ctx, ct.id, o.OUUID, false); err != nil {
				return err
			}
		}
		if err := s.store.insert(ctx, final); err != nil {
			return err
		}
		return s.published(ctx, ct, final)
	})
	o.RevisionID, o.etag = final.ID, final.etag()
	return err
}

func (s *Service) db() *db.DB { return s.store.db }

// mayWrite checks rights, If-Match, drafts and locks.
func (s *Service) mayWrite(ctx context.Context, ct *contentType, w Write, head *revision, alive bool) error {
	right := auth.Edit
	if !alive {
		right = auth.Create
	}
	if err := ct.rights.Check(ctx, right); err != nil {
		return err
	}
	if !alive && w.Merge {
		return notFound(ct.Name, w.OUUID)
	}
	if err := matches(w.IfMatch, head); err != nil {
		return err
	}
	if alive && head.Draft && !head.Failed {
		return s.draftExists(ctx, head)
	}
	return nil
}

// draftExists tells whose draft is in the way.
func (s *Service) draftExists(ctx context.Context, head *revision) error {
	if head.lockedFor(who(ctx), s.now()) {
		return problem.New(problem.Locked, "the document is locked by %s until %s", head.LockBy, db.Time(head.LockUntil).Format(atom))
	}
	return problem.New(problem.Conflict, "the document has a draft, revision %d by %s: finalize or discard it first", head.ID, head.CreatedBy).WithCode("draft_exists")
}

// base is what an update merges into: the newest data, but never what failed.
func (s *Service) base(ctx context.Context, head *revision) ([]byte, error) {
	if head.Failed {
		final, err := s.store.newestFinal(ctx, head.TypeID, head.OUUID)
		if err != nil {
			return nil, err
		}
		if final == nil {
			return []byte("{}"), nil
		}
		head = final
	}
	return rawjson.Without(make([]byte, 0, len(head.Raw)), head.Raw, systemFields...), nil
}

// published puts a finalized revision into the default environment and emits
// its event.
func (s *Service) published(ctx context.Context, ct *contentType, r *revision) error {
	if err := s.store.publish(ctx, r, ct.env.id, r.FinalizedAt, r.FinalizedBy); err != nil {
		return err
	}
	return s.emit(ctx, "content.finalize", ct, r.OUUID, ct.env, r.Raw)
}

// keepFailed stores data that did not pass as a draft, for the client to look
// at or discard.
func (s *Service) keepFailed(ctx context.Context, ct *contentType, head *revision, data []byte, o *Outcome) error {
	r := s.draft(ctx, ct, o.OUUID, data)
	r.Failed, r.LockBy, r.LockUntil = true, "", 0
	if head != nil && head.Failed && !head.Deleted {
		r.ID, r.Edits = head.ID, head.Edits
		if err := s.store.edit(ctx, r); err != nil {
			return err
		}
	} else {
		if head != nil {
			r.Number = head.Number + 1
		}
		err := s.db().InTx(ctx, func(ctx context.Context) error {
			if head != nil && head.Deleted {
				if err := s.store.setDeleted(ctx, ct.id, o.OUUID, false); err != nil {
					return err
				}
			}
			return s.store.insert(ctx, r)
		})
		if err != nil {
			return err
		}
	}
	o.RevisionID, o.etag = r.ID, r.etag()
	return nil
}

// draft makes a draft that is locked for its author.
func (s *Service) draft(ctx context.Context, ct *contentType, ouuid string, data []byte) *revision {
	now := s.now()
	return &revision{
		TypeID: ct.id, OUUID: ouuid, Number: 1, Draft: true, Raw: data, CreatedAt: db.Micros(now), CreatedBy: who(ctx),
		LockBy: who(ctx), LockUntil: db.Micros(now.Add(s.cfg.LockTime)),
	}
}

func notFound(contentType, ouuid string) error {
	return problem.New(problem.NotFound, "there is no document %s:%s", contentType, ouuid).WithCode("unknown_document")
}
