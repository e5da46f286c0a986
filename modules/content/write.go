package content

import (
	"context"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
	"github.com/quoin-cms/quoin/core/web"
)

// Write is a request to store a document in one step.
type Write struct {
	Type    string
	OUUID   string // empty: a new document
	Raw     []byte // a JSON object, as it came
	Merge   bool   // keep the fields that Raw leaves out; the document must exist
	Refresh bool   // wait until it is searchable
	IfMatch string

	strict bool // findings are an error, nothing is kept
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
	body = ct.compiled.Stored(body)
	o := &Outcome{Type: ct.Name, OUUID: w.OUUID}
	if w.OUUID == "" && !w.Merge {
		o.OUUID = newOUUID()
	} else if err := checkOUUID(w.OUUID); err != nil {
		return nil, err
	}
	if err := s.retry(ctx, ct.id, o.OUUID, func() error { return s.index(ctx, ct, w, body, o) }); err != nil {
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
	data, err := s.compose(ctx, ct, head, w.Merge, body)
	if err != nil {
		return err
	}
	found := ct.compiled.Validate(data)
	o.Errors, o.Warnings, o.Created = found.Errors, found.Warnings, !alive
	switch {
	case !o.Ok() && w.strict:
		return invalid(found.Errors)
	case !o.Ok():
		return s.keepFailed(ctx, ct, head, data, o)
	}
	now := s.now()
	final := &revision{
		TypeID: ct.id, OUUID: o.OUUID, CreatedAt: db.Micros(now), CreatedBy: auth.Username(ctx), FinalizedAt: db.Micros(now), FinalizedBy: auth.Username(ctx),
		Raw: ct.seal(make([]byte, 0, len(data)+256), data, auth.Username(ctx), now),
	}
	err = s.db().InTx(ctx, func(ctx context.Context) error {
		var err error
		if final.Number, err = s.follow(ctx, head); err != nil {
			return err
		}
		if head != nil && (head.Deleted || head.Failed) { // a failed draft may stand on a document in the trash
			if err := s.store.setDeleted(ctx, ct.id, o.OUUID, false); err != nil {
				return err
			}
		}
		if err := s.store.insert(ctx, final); err != nil {
			return err
		}
		if err := s.published(ctx, ct, final); err != nil {
			return err
		}
		return s.store.unlessDeleted(ctx, head)
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
	if head.lockedFor(auth.Username(ctx), s.now()) {
		return problem.New(problem.Locked, "the document is locked by %s until %s", head.LockBy, db.Time(head.LockUntil).Format(web.Atom))
	}
	return problem.New(problem.Conflict, "the document has a draft, revision %d by %s: finalize or discard it first", head.ID, head.CreatedBy).WithCode("draft_exists")
}

// follow gives the number of the revision after the newest one. A draft that
// failed, or that went into the trash with its document, makes room.
func (s *Service) follow(ctx context.Context, head *revision) (number int64, err error) {
	switch {
	case head == nil:
		return 1, nil
	case head.Draft:
		return head.Number, s.store.discard(ctx, head)
	}
	return head.Number + 1, nil
}

// compose gives the data that a write leads to: the body, or the body merged
// into what is stored, after checking what the caller may not change.
func (s *Service) compose(ctx context.Context, ct *contentType, head *revision, merge bool, body []byte) ([]byte, error) {
	if !merge && !ct.fenced(auth.From(ctx)) {
		return body, nil
	}
	base, err := s.base(ctx, head)
	if err != nil {
		return nil, err
	}
	return s.overlay(ctx, ct, base, merge, body)
}

// overlay is compose over what is known to be stored.
func (s *Service) overlay(ctx context.Context, ct *contentType, base []byte, merge bool, body []byte) (data []byte, err error) {
	data = body
	if merge {
		data = rawjson.Merge(make([]byte, 0, len(base)+len(body)), base, body)
	}
	if ct.fenced(auth.From(ctx)) {
		if data, err = ct.permit(ctx, base, data); err != nil {
			return nil, err
		}
	}
	if len(data) > int(s.cfg.MaxDocument) {
		return nil, problem.New(problem.TooLarge, "the document would be larger than %s", s.cfg.MaxDocument)
	}
	return data, nil
}

// base is what a write changes: the newest data, but never what failed or what
// is in the trash. It is nil when there is nothing.
func (s *Service) base(ctx context.Context, head *revision) ([]byte, error) {
	if head != nil && head.Failed && !head.Deleted {
		final, err := s.store.newestFinal(ctx, head.TypeID, head.OUUID)
		if err != nil {
			return nil, err
		}
		head = final
	}
	if head == nil || head.Deleted {
		return nil, nil
	}
	return withoutSystem(head.Raw), nil
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
	} else if err := s.add(ctx, head, r); err != nil {
		return err
	}
	o.RevisionID, o.etag = r.ID, r.etag()
	return nil
}

// add stores a draft after the newest revision. Revisions in the trash stay
// there until the draft is finalized: discarding it must bring nothing back.
func (s *Service) add(ctx context.Context, head, draft *revision) error {
	return s.db().InTx(ctx, func(ctx context.Context) error {
		var err error
		if draft.Number, err = s.follow(ctx, head); err != nil {
			return err
		}
		if err := s.store.insert(ctx, draft); err != nil {
			return err
		}
		return s.store.unlessDeleted(ctx, head)
	})
}

// draft makes a draft that is locked for its author.
func (s *Service) draft(ctx context.Context, ct *contentType, ouuid string, data []byte) *revision {
	now := s.now()
	return &revision{
		TypeID: ct.id, OUUID: ouuid, Draft: true, Raw: data, CreatedAt: db.Micros(now), CreatedBy: auth.Username(ctx),
		LockBy: auth.Username(ctx), LockUntil: db.Micros(now.Add(s.cfg.LockTime)),
	}
}

func notFound(contentType, ouuid string) error {
	return problem.New(problem.NotFound, "there is no document %s:%s", contentType, ouuid).WithCode("unknown_document")
}
