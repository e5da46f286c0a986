package content

import (
	"context"
	"encoding/json"
	"math"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/web"
)

// Document is a revision as a read answers it.
type Document struct {
	Type  string
	OUUID string
	ID    int64
	Raw   string // the JSON object
	ETag  string
}

// Get gives the newest revision of a document, which may be a draft.
func (s *Service) Get(ctx context.Context, typeName, ouuid string) (*Document, error) {
	ct, err := s.allowed(ctx, typeName, auth.View)
	if err != nil {
		return nil, err
	}
	if err := checkOUUID(ouuid); err != nil {
		return nil, err
	}
	r, err := s.store.head(ctx, ct.id, ouuid)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return nil, notFound(typeName, ouuid)
	}
	r.Type, r.OUUID = ct.Name, ouuid
	return r, nil
}

// RevisionInfo is a revision in a list.
type RevisionInfo struct {
	ID           int64    `json:"id"`
	Number       int64    `json:"number" doc:"counts the revisions of the document from 1"`
	OUUID        string   `json:"ouuid"`
	Type         string   `json:"type"`
	Draft        bool     `json:"draft"`
	Deleted      bool     `json:"deleted"`
	Created      string   `json:"created"`
	CreatedBy    string   `json:"created_by"`
	Finalized    string   `json:"finalized,omitempty"`
	FinalizedBy  string   `json:"finalized_by,omitempty"`
	LockedBy     string   `json:"locked_by,omitempty"`
	Environments []string `json:"environments" doc:"where this revision is published"`

	raw []byte
}

// Revisions lists the revisions of a document, newest first, below a number
// (0: from the newest).
func (s *Service) Revisions(ctx context.Context, typeName, ouuid string, before int64, limit int) ([]RevisionInfo, error) {
	ct, err := s.allowed(ctx, typeName, auth.View)
	if err != nil {
		return nil, err
	}
	if err := checkOUUID(ouuid); err != nil {
		return nil, err
	}
	if before <= 0 {
		before = math.MaxInt64
	}
	rows, err := s.store.list(ctx, selectRevisions, ct.id, ouuid, before, limit)
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 && before == math.MaxInt64 {
		return nil, notFound(typeName, ouuid)
	}
	return s.describe(ctx, ct, ouuid, rows)
}

// Revision gives one revision with its data.
func (s *Service) Revision(ctx context.Context, typeName, ouuid string, id int64) (*RevisionInfo, error) {
	ct, err := s.allowed(ctx, typeName, auth.View)
	if err != nil {
		return nil, err
	}
	if err := checkOUUID(ouuid); err != nil {
		return nil, err
	}
	r, err := s.ownRevision(ctx, ct, id)
	if err != nil {
		return nil, err
	}
	if r.OUUID != ouuid {
		return nil, problem.New(problem.NotFound, "revision %d is not one of %s:%s", id, typeName, ouuid)
	}
	list, err := s.describe(ctx, ct, ouuid, []*revision{r})
	if err != nil {
		return nil, err
	}
	return &list[0], nil
}

func (s *Service) describe(ctx context.Context, ct *contentType, ouuid string, rows []*revision) ([]RevisionInfo, error) {
	in, err := s.store.publications(ctx, ct.id, ouuid)
	if err != nil {
		return nil, err
	}
	cat, err := s.types.get(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]RevisionInfo, 0, len(rows))
	for _, r := range rows {
		info := RevisionInfo{
			ID: r.ID, Number: r.Number, OUUID: r.OUUID, Type: ct.Name, Draft: r.Draft, Deleted: r.Deleted,
			Created: db.Time(r.CreatedAt).Format(web.Atom), CreatedBy: r.CreatedBy, FinalizedBy: r.FinalizedBy,
			Environments: []string{}, raw: r.Raw,
		}
		if r.FinalizedAt != 0 {
			info.Finalized = db.Time(r.FinalizedAt).Format(web.Atom)
		}
		if r.Draft && r.LockUntil > db.Micros(s.now()) {
			info.LockedBy = r.LockBy
		}
		for _, env := range cat.sortedEnvs {
			if in[env.id] == r.ID {
				info.Environments = append(info.Environments, env.name)
			}
		}
		list = append(list, info)
	}
	return list, nil
}

// answer is the envelope of a read with the facts of the revision beside it.
func (r *RevisionInfo) answer() (*web.Raw, error) {
	facts, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	b := append([]byte(`{"acknowledged":true,"success":true,"revision":`), r.raw...)
	b = append(append(b, ','), facts[1:]...)
	return web.JSON(b)
}
