package content

import (
	"context"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/problem"
)

// Create starts a new document as a draft (POST create, draft). An ouuid that
// is taken is a Conflict; one in the trash continues its history.
func (s *Service) Create(ctx context.Context, typeName, ouuid string, raw []byte) (*Outcome, error) {
	ct, err := s.allowed(ctx, typeName, auth.Create)
	if err != nil {
		return nil, err
	}
	data, err := s.body(raw, false)
	if err != nil {
		return nil, err
	}
	if ouuid == "" {
		ouuid = newOUUID()
	} else if err := checkOUUID(ouuid); err != nil {
		return nil, err
	}
	if data, err = s.compose(ctx, ct, nil, false, ct.compiled.Stored(data)); err != nil {
		return nil, err
	}
	found := ct.compiled.ValidateDraft(data)
	if len(found.Errors) > 0 {
		return nil, invalid(found.Errors)
	}
	r := s.draft(ctx, ct, ouuid, data)
	err = s.retry(ctx, ct.id, ouuid, func() error {
		head, err := s.store.newest(ctx, ct.id, ouuid)
		if err != nil {
			return err
		}
		if head != nil && !head.Deleted {
			return problem.New(problem.Conflict, "there is a document %s:%s already", ct.Name, ouuid).WithCode("duplicate_ouuid")
		}
		return s.add(ctx, head, r)
	})
	if err != nil {
		return nil, err
	}
	return &Outcome{Type: ct.Name, OUUID: ouuid, RevisionID: r.ID, Created: true, Warnings: found.Warnings, etag: r.etag()}, nil
}

// Draft starts a new draft of an existing document, from the body alone or
// merged into the newest data (POST replace, merge). A document that has a
// draft already is a Conflict.
func (s *Service) Draft(ctx context.Context, w Write) (*Outcome, error) {
	ct, err := s.allowed(ctx, w.Type, auth.Edit)
	if err != nil {
		return nil, err
	}
	body, err := s.body(w.Raw, false)
	if err != nil {
		return nil, err
	}
	body = ct.compiled.Stored(body)
	o := &Outcome{Type: ct.Name, OUUID: w.OUUID}
	err = s.retry(ctx, ct.id, w.OUUID, func() error {
		head, err := s.alive(ctx, ct, w.OUUID)
		if err != nil {
			return err
		}
		if err := matches(w.IfMatch, head); err != nil {
			return err
		}
		if head.Draft && !head.Failed {
			return s.draftExists(ctx, head)
		}
		data, err := s.compose(ctx, ct, head, w.Merge, body)
		if err != nil {
			return err
		}
		found := ct.compiled.ValidateDraft(data)
		if len(found.Errors) > 0 {
			return invalid(found.Errors)
		}
		r := s.draft(ctx, ct, w.OUUID, data)
		if head.Failed {
			r.ID, r.Edits = head.ID, head.Edits
			err = s.store.edit(ctx, r)
		} else {
			err = s.add(ctx, head, r)
		}
		o.RevisionID, o.Warnings, o.etag = r.ID, found.Warnings, r.etag()
		return err
	})
	if err != nil {
		return nil, err
	}
	return o, nil
}

// Redraft changes the draft that a document has, in place: from the body alone
// or merged into its data. NotFound with the code no_draft when it has none.
func (s *Service) Redraft(ctx context.Context, w Write) (*Outcome, error) {
	ct, err := s.allowed(ctx, w.Type, auth.Edit)
	if err != nil {
		return nil, err
	}
	body, err := s.body(w.Raw, false)
	if err != nil {
		return nil, err
	}
	body = ct.compiled.Stored(body)
	o := &Outcome{Type: ct.Name, OUUID: w.OUUID}
	err = s.retry(ctx, ct.id, w.OUUID, func() error { return s.redraft(ctx, ct, w, body, o) })
	if err != nil {
		return nil, err
	}
	return o, nil
}

// redraft is one attempt of Redraft.
func (s *Service) redraft(ctx context.Context, ct *contentType, w Write, body []byte, o *Outcome) error {
	head, err := s.alive(ctx, ct, w.OUUID)
	switch {
	case err != nil:
		return err
	case !head.Draft || head.Failed:
		return problem.New(problem.NotFound, "the document has no draft").WithCode("no_draft")
	case head.lockedFor(auth.Username(ctx), s.now()):
		return s.draftExists(ctx, head)
	}
	if err := matches(w.IfMatch, head); err != nil {
		return err
	}
	if err := ct.inCircle(ctx, head.Raw); err != nil {
		return err
	}
	data, err := s.compose(ctx, ct, head, w.Merge, body)
	if err != nil {
		return err
	}
	found := ct.compiled.ValidateDraft(data)
	if len(found.Errors) > 0 {
		return invalid(found.Errors)
	}
	r := s.draft(ctx, ct, w.OUUID, data)
	r.ID, r.Edits = head.ID, head.Edits
	if err := s.store.edit(ctx, r); err != nil {
		return err
	}
	o.RevisionID, o.Warnings, o.etag = r.ID, found.Warnings, r.etag()
	return nil
}

// alive gives the newest revision of a document that exists.
func (s *Service) alive(ctx context.Context, ct *contentType, ouuid string) (*revision, error) {
	if err := checkOUUID(ouuid); err != nil {
		return nil, err
	}
	head, err := s.store.newest(ctx, ct.id, ouuid)
	if err == nil && (head == nil || head.Deleted) {
		err = notFound(ct.Name, ouuid)
	}
	return head, err
}

// ownRevision gives a revision of the content type.
func (s *Service) ownRevision(ctx context.Context, ct *contentType, id int64) (*revision, error) {
	r, err := s.store.byID(ctx, id)
	if err == nil && (r == nil || r.TypeID != ct.id) {
		err = problem.New(problem.NotFound, "there is no revision %d of content type %q", id, ct.Name).WithCode("unknown_revision")
	}
	return r, err
}

// Finalize ends a draft: its data is validated, sealed and put into the default
// environment. Fields in raw, which may be empty, take their place in it first.
// A revision that is final already is left as it is; with raw, it is a Conflict.
func (s *Service) Finalize(ctx context.Context, typeName string, id int64, raw []byte, refresh bool) (*Outcome, error) {
	return s.finalize(ctx, typeName, id, "", raw, refresh)
}

// finalize is Finalize for a revision in the state that ifMatch names, if any.
func (s *Service) finalize(ctx context.Context, typeName string, id int64, ifMatch string, raw []byte, refresh bool) (*Outcome, error) {
	ct, err := s.allowed(ctx, typeName, auth.Edit)
	if err != nil {
		return nil, err
	}
	body, err := s.body(raw, true)
	if err != nil {
		return nil, err
	}
	more := len(body) > len("{}")
	r, err := s.ownRevision(ctx, ct, id)
	if err != nil {
		return nil, err
	}
	o := &Outcome{Type: ct.Name, OUUID: r.OUUID, RevisionID: r.ID, etag: r.etag()}
	switch {
	case r.Deleted:
		return nil, notFound(ct.Name, r.OUUID)
	case ifMatch != "" && r.etag() != ifMatch:
		return nil, changedSince(id, ifMatch)
	case !r.Draft && more:
		return nil, problem.New(problem.Conflict, "revision %d is final: its data cannot be changed any more", id)
	case !r.Draft:
		o.Notices = []string{"the revision was finalized already"}
		return o, nil
	case r.lockedFor(auth.Username(ctx), s.now()):
		return nil, s.draftExists(ctx, r)
	}
	if err := ct.inCircle(ctx, r.Raw); err != nil {
		return nil, err
	}
	if more {
		if r.Raw, err = s.overlay(ctx, ct, r.Raw, true, ct.compiled.Stored(body)); err != nil {
			return nil, err
		}
	}
	found := ct.compiled.Validate(r.Raw)
	if len(found.Errors) > 0 {
		return nil, invalid(found.Errors)
	}
	now := s.now()
	r.Raw = ct.seal(nil, r.Raw, auth.Username(ctx), now)
	r.FinalizedAt, r.FinalizedBy = db.Micros(now), auth.Username(ctx)
	err = s.db().InTx(ctx, func(ctx context.Context) error {
		if err := s.store.finalize(ctx, r); err != nil {
			return err
		}
		if r.Number > 1 { // the draft may stand on a document in the trash
			if err := s.store.setDeleted(ctx, ct.id, r.OUUID, false); err != nil {
				return err
			}
		}
		return s.published(ctx, ct, r)
	})
	if err != nil {
		return nil, err
	}
	r.Draft = false
	o.Warnings, o.etag = found.Warnings, r.etag()
	if refresh {
		s.refreshed(ctx, o)
	}
	return o, nil
}

func changedSince(id int64, ifMatch string) error {
	return problem.New(problem.PreconditionFailed, "revision %d is not in the state %s any more: read it again", id, ifMatch)
}

// Discard throws the current draft of a document away; the revision before it
// is the newest again. Anything but a current draft is Invalid.
func (s *Service) Discard(ctx context.Context, typeName string, id int64) (*Outcome, error) {
	return s.discard(ctx, typeName, id, "")
}

// discard is Discard for a draft in the state that ifMatch names, if any.
func (s *Service) discard(ctx context.Context, typeName string, id int64, ifMatch string) (*Outcome, error) {
	ct, err := s.allowed(ctx, typeName, auth.Edit)
	if err != nil {
		return nil, err
	}
	r, err := s.ownRevision(ctx, ct, id)
	if err != nil {
		return nil, err
	}
	if ifMatch != "" && r.etag() != ifMatch {
		return nil, changedSince(id, ifMatch)
	}
	if !r.Draft || r.Deleted {
		return nil, problem.New(problem.Invalid, "revision %d is not the current draft of its document", id)
	}
	if r.lockedFor(auth.Username(ctx), s.now()) {
		return nil, s.draftExists(ctx, r)
	}
	if err := ct.inCircle(ctx, r.Raw); err != nil {
		return nil, err
	}
	if err := s.store.discard(ctx, r); err != nil {
		return nil, err
	}
	return &Outcome{Type: ct.Name, OUUID: r.OUUID, RevisionID: r.ID}, nil
}

// invalid makes one error of what a validation found.
func invalid(found []problem.FieldError) error {
	return &problem.Problem{Kind: problem.Unprocessable, Code: "validation", Detail: "the document breaks its content type", Fields: found}
}
