package content

import (
	"context"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
)

// Create starts a new document as a draft (POST create, draft). An ouuid that
// is taken is a Conflict; one in the trash continues its history.
func (s *Service) Create(ctx context.Context, typeName, ouuid string, raw []byte) (*Outcome, error) {
	ct, err := s.types.contentType(ctx, typeName)
	if err != nil {
		return nil, err
	}
	if err := ct.rights.Check(ctx, auth.Create); err != nil {
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
	found := ct.compiled.ValidateDraft(data)
	if len(found.Errors) > 0 {
		return nil, invalid(found.Errors)
	}
	r := s.draft(ctx, ct, ouuid, data)
	err = retry("", func() error {
		head, err := s.store.newest(ctx, ct.id, ouuid)
		if err != nil {
			return err
		}
		if head != nil && !head.Deleted {
			return problem.New(problem.Conflict, "there is a document %s:%s already", ct.Name, ouuid).WithCode("duplicate_ouuid")
		}
		return s.db().InTx(ctx, func(ctx context.Context) error {
			if head != nil {
				r.Number = head.Number + 1
				if err := s.store.setDeleted(ctx, ct.id, ouuid, false); err != nil {
					return err
				}
			}
			return s.store.insert(ctx, r)
		})
	})
	return &Outcome{Type: ct.Name, OUUID: ouuid, RevisionID: r.ID, Created: true, Warnings: found.Warnings, etag: r.etag()}, err
}

// Draft starts a new draft of an existing document, from the body alone or
// merged into the newest data (POST replace, merge). A document that has a
// draft already is a Conflict.
func (s *Service) Draft(ctx context.Context, w Write) (*Outcome, error) {
	ct, err := s.types.contentType(ctx, w.Type)
	if err != nil {
		return nil, err
	}
	if err := ct.rights.Check(ctx, auth.Edit); err != nil {
		return nil, err
	}
	body, err := s.body(w.Raw, false)
	if err != nil {
		return nil, err
	}
	o := &Outcome{Type: ct.Name, OUUID: w.OUUID}
	err = retry(w.IfMatch, func() error {
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
		data := body
		if w.Merge {
			base, err := s.base(ctx, head)
			if err != nil {
				return err
			}
			data = rawjson.Merge(nil, base, body)
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
			r.Number = head.Number + 1
			err = s.db().InTx(ctx, func(ctx context.Context) error { return s.store.insert(ctx, r) })
		}
		o.RevisionID, o.Warnings, o.etag = r.ID, found.Warnings, r.etag()
		return err
	})
	return o, err
}

// alive gives the newest revision of a document that exists.
func (s *Service) alive(ctx context.Context, ct *contentType, ouuid string) (*revision, error) {
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
// environment. A revision that is final already is left as it is.
func (s *Service) Finalize(ctx context.Context, typeName string, id int64, refresh bool) (*Outcome, error) {
	ct, err := s.types.contentType(ctx, typeName)
	if err != nil {
		return nil, err
	}
	if err := ct.rights.Check(ctx, auth.Edit); err != nil {
		return nil, err
	}
	r, err := s.ownRevision(ctx, ct, id)
	if err != nil {
		return nil, err
	}
	o := &Outcome{Type: ct.Name, OUUID: r.OUUID, RevisionID: r.ID, etag: r.etag()}
	switch {
	case r.Deleted:
		return nil, notFound(ct.Name, r.OUUID)
	case !r.Draft:
		o.Notices = []string{"the revision was finalized already"}
		return o, nil
	case r.lockedFor(who(ctx), s.now()):
		return nil, s.draftExists(ctx, r)
	}
	found := ct.compiled.Validate(r.Raw)
	if len(found.Errors) > 0 {
		return nil, invalid(found.Errors)
	}
	now := s.now()
	r.Raw = ct.seal(nil, r.Raw, who(ctx), now)
	r.FinalizedAt, r.FinalizedBy = db.Micros(now), who(ctx)
	err = s.db().InTx(ctx, func(ctx context.Context) error {
		if err := s.store.finalize(ctx, r); err != nil {
			return err
		}
		return s.published(ctx, ct, r)
	})
	if err != nil {
		return nil, err
	}
	o.Warnings = found.Warnings
	if refresh {
		s.refreshed(ctx, o)
	}
	return o, nil
}

// Discard throws the current draft of a document away; the revision before it
// is the newest again. Anything but a current draft is Invalid.
func (s *Service) Discard(ctx context.Context, typeName string, id int64) (*Outcome, error) {
	ct, err := s.types.contentType(ctx, typeName)
	if err != nil {
		return nil, err
	}
	if err := ct.rights.Check(ctx, auth.Edit); err != nil {
		return nil, err
	}
	r, err := s.ownRevision(ctx, ct, id)
	if err != nil {
		return nil, err
	}
	if !r.Draft || r.Deleted {
		return nil, problem.New(problem.Invalid, "revision %d is not the current draft of its document", id)
	}
	if r.lockedFor(who(ctx), s.now()) {
		return nil, s.draftExists(ctx, r)
	}
	return &Outcome{Type: ct.Name, OUUID: r.OUUID, RevisionID: r.ID}, s.store.discard(ctx, r)
}

// invalid makes one error of what a validation found.
func invalid(found []problem.FieldError) error {
	return &problem.Problem{Kind: problem.Unprocessable, Code: "validation", Detail: "the document breaks its content type", Fields: found}
}
