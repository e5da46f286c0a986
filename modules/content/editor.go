package content

import (
	"context"
	"slices"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/problem"
)

// editor is the Service as other modules work with it.
type editor struct{ *Service }

var _ port.Editor = editor{}

// Types implements port.Editor.
func (e editor) Types(ctx context.Context) ([]port.DocumentType, error) {
	id, err := auth.Require(ctx)
	if err != nil {
		return nil, err
	}
	cat, err := e.types.get(ctx)
	if err != nil {
		return nil, err
	}
	var all []port.DocumentType
	for _, ct := range cat.sortedTypes {
		if !ct.usable() || !ct.rights.Allows(id, auth.View) {
			continue
		}
		t := port.DocumentType{Name: ct.Name, Singular: ct.Singular, Plural: ct.Plural, Description: ct.Description, Environment: ct.env.name}
		for _, r := range []auth.Right{auth.View, auth.Create, auth.Edit, auth.Publish, auth.Delete} {
			if ct.rights.Allows(id, r) {
				t.Rights = append(t.Rights, r)
			}
		}
		all = append(all, t)
	}
	return all, nil
}

// Schema implements port.Editor.
func (e editor) Schema(ctx context.Context, contentType string) ([]byte, error) {
	ct, err := e.allowed(ctx, contentType, auth.View)
	if err != nil {
		return nil, err
	}
	return ct.compiled.For(auth.From(ctx).Has).JSONSchema(), nil
}

// ConfigVersion implements port.Editor.
func (e editor) ConfigVersion(ctx context.Context) (int64, error) {
	cat, err := e.types.get(ctx)
	if err != nil {
		return 0, err
	}
	return cat.version, nil
}

// Read implements port.Editor.
func (e editor) Read(ctx context.Context, k port.Key, revision int64) (*port.Revision, error) {
	ct, err := e.allowed(ctx, k.Type, auth.View)
	if err != nil {
		return nil, err
	}
	if revision == 0 {
		head, err := e.alive(ctx, ct, k.OUUID)
		if err != nil {
			return nil, err
		}
		return e.one(ctx, ct, head)
	}
	if err := checkOUUID(k.OUUID); err != nil {
		return nil, err
	}
	r, err := e.ownRevision(ctx, ct, revision)
	if err != nil {
		return nil, err
	}
	if r.OUUID != k.OUUID {
		return nil, problem.New(problem.NotFound, "revision %d is not one of %s:%s", revision, k.Type, k.OUUID)
	}
	return e.one(ctx, ct, r)
}

// Published implements port.Editor.
func (e editor) Published(ctx context.Context, k port.Key, environment string) (*port.Revision, error) {
	ct, err := e.allowed(ctx, k.Type, auth.View)
	if err != nil {
		return nil, err
	}
	if err := checkOUUID(k.OUUID); err != nil {
		return nil, err
	}
	env, err := e.types.environmentByName(ctx, environment)
	if err != nil {
		return nil, err
	}
	in, err := e.store.publications(ctx, ct.id, k.OUUID)
	if err != nil {
		return nil, err
	}
	if in[env.id] == 0 {
		return nil, problem.New(problem.NotFound, "%s:%s is not published in %s", k.Type, k.OUUID, environment).WithCode("unknown_document")
	}
	return e.Read(ctx, k, in[env.id])
}

// one tells about a revision.
func (e editor) one(ctx context.Context, ct *contentType, r *revision) (*port.Revision, error) {
	list, err := e.describe(ctx, ct, r.OUUID, []*revision{r})
	if err != nil {
		return nil, err
	}
	out := revisionOf(&list[0])
	out.Raw, out.ETag = r.Raw, r.etag()
	return out, nil
}

// revisionOf hands what is known of a revision, without its data, to other
// modules.
func revisionOf(r *RevisionInfo) *port.Revision {
	return &port.Revision{
		Key: port.Key{Type: r.Type, OUUID: r.OUUID}, ID: r.ID, Draft: r.Draft, Created: r.Created, CreatedBy: r.CreatedBy, Environments: r.Environments,
	}
}

// History implements port.Editor.
func (e editor) History(ctx context.Context, k port.Key, limit int) ([]port.Revision, error) {
	list, err := e.Revisions(ctx, k.Type, k.OUUID, 0, limit)
	if err != nil {
		return nil, err
	}
	out := make([]port.Revision, 0, len(list))
	for i := range list {
		out = append(out, *revisionOf(&list[i]))
	}
	return out, nil
}

// CreateDraft implements port.Editor.
func (e editor) CreateDraft(ctx context.Context, k port.Key, raw []byte) (*port.Saved, error) {
	return drafted(e.Create(ctx, k.Type, k.OUUID, raw))
}

// UpdateDraft implements port.Editor.
func (e editor) UpdateDraft(ctx context.Context, k port.Key, raw []byte, merge bool, etag string) (*port.Saved, error) {
	w := Write{Type: k.Type, OUUID: k.OUUID, Raw: raw, Merge: merge, IfMatch: etag}
	o, err := e.Redraft(ctx, w)
	if problem.Is(err, problem.NotFound) && problem.From(err).Code == "no_draft" {
		o, err = e.Draft(ctx, w)
	}
	return drafted(o, err)
}

// Finalize implements port.Editor.
func (e editor) Finalize(ctx context.Context, k port.Key, revision int64, etag string) (*port.Saved, error) {
	return settled(e.finalize(ctx, k.Type, revision, etag, nil, false))
}

// Publish implements port.Editor.
func (e editor) Publish(ctx context.Context, k port.Key, revision int64, environment string) (*port.Saved, error) {
	o, already, err := e.Service.Publish(ctx, k.Type, k.OUUID, environment, revision, false)
	if already {
		o.Notices = append(slices.Clip(o.Notices), "the revision was published there already")
	}
	return settled(o, err)
}

// Discard implements port.Editor.
func (e editor) Discard(ctx context.Context, k port.Key, revision int64, etag string) (*port.Saved, error) {
	if _, err := e.Read(ctx, k, revision); err != nil {
		return nil, err
	}
	return settled(e.discard(ctx, k.Type, revision, etag))
}

// drafted hands the outcome of a write that leads to a draft to other modules.
func drafted(o *Outcome, err error) (*port.Saved, error) {
	out, err := settled(o, err)
	if err == nil {
		out.Draft = true
	}
	return out, err
}

// settled hands the outcome of a write to other modules.
func settled(o *Outcome, err error) (*port.Saved, error) {
	if err != nil {
		return nil, err
	}
	return &port.Saved{
		Key: port.Key{Type: o.Type, OUUID: o.OUUID}, Revision: o.RevisionID, Created: o.Created, ETag: o.etag,
		Warnings: o.Warnings, Notices: o.Notices,
	}, nil
}
