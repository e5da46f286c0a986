package content

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/problem"
)

// Publish puts a finalized revision of a document into an environment; id 0
// takes the newest one. already tells that it was there.
func (s *Service) Publish(ctx context.Context, typeName, ouuid, envName string, id int64, refresh bool) (o *Outcome, already bool, err error) {
	ct, env, err := s.publishTarget(ctx, typeName, envName)
	if err != nil {
		return nil, false, err
	}
	r, err := s.publishable(ctx, ct, ouuid, id)
	if err != nil {
		return nil, false, err
	}
	if err := ct.inCircle(ctx, r.Raw); err != nil {
		return nil, false, err
	}
	o = &Outcome{Type: ct.Name, OUUID: ouuid, RevisionID: r.ID}
	err = s.db().InTx(ctx, func(ctx context.Context) error {
		if err := s.store.hold(ctx, ct.id, ouuid); err != nil {
			return err
		}
		if there, err := s.store.keep(ctx, r.ID); err != nil || !there {
			return cmp.Or(err, notFound(ct.Name, ouuid))
		}
		in, err := s.store.publications(ctx, ct.id, ouuid)
		if err != nil {
			return err
		}
		if already = in[env.id] == r.ID; already {
			return nil
		}
		if env.id == ct.env.id {
			if err := s.newestOnly(ctx, ct, r); err != nil {
				return err
			}
		}
		if err := s.store.publish(ctx, r, env.id, db.Micros(s.now()), auth.Username(ctx)); err != nil {
			return err
		}
		return s.emit(ctx, "content.published."+env.name, ct, ouuid, env, r.Raw)
	})
	if err == nil && refresh && !already {
		s.refreshed(ctx, o)
	}
	return o, already, err
}

// newestOnly refuses an old revision in the default environment, which holds
// the newest finalized one. (It can lack it: the default may have changed.)
func (s *Service) newestOnly(ctx context.Context, ct *contentType, r *revision) error {
	newest, err := s.store.newestFinal(ctx, ct.id, r.OUUID)
	if err == nil && newest != nil && newest.ID != r.ID {
		err = problem.New(problem.Conflict, "%s is the default environment of %s: it holds the newest revision, %d; restore revision %d to bring it back",
			ct.env.name, ct.Name, newest.ID, r.ID)
	}
	return err
}

func (s *Service) publishTarget(ctx context.Context, typeName, envName string) (*contentType, *environment, error) {
	ct, err := s.allowed(ctx, typeName, auth.Publish)
	if err != nil {
		return nil, nil, err
	}
	env, err := s.types.environmentByName(ctx, envName)
	if err != nil {
		return nil, nil, err
	}
	if env.snapshot {
		return nil, nil, problem.New(problem.Conflict, "environment %q is a snapshot and cannot be changed", envName)
	}
	return ct, env, env.mayPublish(ctx)
}

// mayPublish checks the role and the circles that an environment asks of
// whoever publishes to it.
func (env *environment) mayPublish(ctx context.Context) error {
	if role, _ := stringProperty(env.export, "rolePublish"); role != "" && role != "not-defined" {
		if err := auth.RequireRoles(ctx, nil, []string{role, auth.RoleSuperAdmin}); err != nil {
			return err
		}
	}
	id := auth.From(ctx)
	circles := stringsOf(property(env.export, "circles"))
	if len(circles) == 0 || id.Has(auth.RoleAdmin) || slices.ContainsFunc(circles, func(c string) bool { return slices.Contains(id.Circles, c) }) {
		return nil
	}
	return problem.New(problem.Forbidden, "environment %q belongs to circles that you are not in: %s", env.name, strings.Join(circles, ", ")).WithCode("circles")
}

// publishable gives the revision to publish.
func (s *Service) publishable(ctx context.Context, ct *contentType, ouuid string, id int64) (*revision, error) {
	if err := checkOUUID(ouuid); err != nil {
		return nil, err
	}
	var r *revision
	var err error
	if id == 0 {
		if r, err = s.store.newestFinal(ctx, ct.id, ouuid); err == nil && (r == nil || r.Deleted) {
			r, err = s.store.newest(ctx, ct.id, ouuid) // a draft, if anything
		}
	} else {
		r, err = s.ownRevision(ctx, ct, id)
	}
	switch {
	case err != nil:
		return nil, err
	case r == nil || r.Deleted:
		return nil, notFound(ct.Name, ouuid)
	case r.OUUID != ouuid:
		return nil, problem.New(problem.Invalid, "revision %d is not one of %s:%s", id, ct.Name, ouuid)
	case r.Draft:
		return nil, problem.New(problem.Conflict, "revision %d is a draft: finalize it first", r.ID).WithCode("draft_exists")
	}
	return r, nil
}

// Unpublish takes a document out of an environment other than its default one.
// was tells whether it had been there.
func (s *Service) Unpublish(ctx context.Context, typeName, ouuid, envName string, refresh bool) (was bool, err error) {
	ct, env, err := s.publishTarget(ctx, typeName, envName)
	if err != nil {
		return false, err
	}
	if env.id == ct.env.id {
		return false, problem.New(problem.Conflict, "%s is the default environment of %s: delete the document instead", env.name, ct.Name)
	}
	head, err := s.alive(ctx, ct, ouuid)
	if err != nil {
		return false, err
	}
	if err := ct.inCircle(ctx, head.Raw); err != nil {
		return false, err
	}
	err = s.db().InTx(ctx, func(ctx context.Context) error {
		if was, err = s.store.unpublish(ctx, ct.id, ouuid, env.id, db.Micros(s.now()), auth.Username(ctx)); err != nil || !was {
			return err
		}
		return s.emit(ctx, "content.unpublish", ct, ouuid, env, nil)
	})
	if err == nil && was && refresh {
		s.refreshed(ctx, &Outcome{Type: ct.Name, OUUID: ouuid})
	}
	return was, err
}

// Delete puts a document into the trash and takes it out of every environment.
func (s *Service) Delete(ctx context.Context, typeName, ouuid, ifMatch string, refresh bool) (*Outcome, error) {
	ct, err := s.allowed(ctx, typeName, auth.Delete)
	if err != nil {
		return nil, err
	}
	err = s.retry(ctx, ct.id, ouuid, func() error {
		return s.db().InTx(ctx, func(ctx context.Context) error { return s.delete(ctx, ct, ouuid, ifMatch) })
	})
	if err != nil {
		return nil, err
	}
	o := &Outcome{Type: ct.Name, OUUID: ouuid}
	if refresh {
		s.refreshed(ctx, o)
	}
	return o, nil
}

// delete is one attempt of Delete, inside a transaction.
func (s *Service) delete(ctx context.Context, ct *contentType, ouuid, ifMatch string) error {
	head, err := s.alive(ctx, ct, ouuid)
	if err != nil {
		return err
	}
	if err := matches(ifMatch, head); err != nil {
		return err
	}
	if head.lockedFor(auth.Username(ctx), s.now()) {
		return s.draftExists(ctx, head)
	}
	if err := ct.inCircle(ctx, head.Raw); err != nil {
		return err
	}
	// Unpublishing comes first: a write in another transaction holds the same
	// row. What such a write made in the meantime is in the trash now as well,
	// unchecked, or published from no environment, and so all begins anew.
	if err := s.store.unpublishAll(ctx, ct.id, ouuid, db.Micros(s.now()), auth.Username(ctx)); err != nil {
		return err
	}
	if err := s.store.setDeleted(ctx, ct.id, ouuid, true); err != nil {
		return err
	}
	if gone, err := s.store.gone(ctx, head); err != nil || !gone {
		return cmp.Or(err, error(errChanged))
	}
	return s.emit(ctx, "content.delete", ct, ouuid, ct.env, nil)
}

// Restore makes the data of an old revision the newest one again, as a new
// revision. It brings a document back from the trash. Data that breaks the
// content type of today is Unprocessable.
func (s *Service) Restore(ctx context.Context, typeName, ouuid string, id int64, refresh bool, ifMatch string) (*Outcome, error) {
	ct, err := s.allowed(ctx, typeName, auth.Edit)
	if err != nil {
		return nil, err
	}
	old, err := s.ownRevision(ctx, ct, id)
	if err != nil {
		return nil, err
	}
	if old.OUUID != ouuid {
		return nil, problem.New(problem.Invalid, "revision %d is not one of %s:%s", id, ct.Name, ouuid)
	}
	return s.Index(ctx, Write{Type: typeName, OUUID: ouuid, Raw: withoutSystem(old.Raw), Refresh: refresh, IfMatch: ifMatch, strict: true})
}
