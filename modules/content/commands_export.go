package content

import (
	"context"
	"errors"
	"fmt"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/module"
	"github.com/quoin-cms/quoin/core/rawjson"
)

func runExport(ctx context.Context, s *Service, call *module.Call) error {
	ctx = module.Operator(ctx)
	query, drafts := "", call.Bool("drafts")
	switch {
	case len(call.Args) > 1 && call.Args[1] != "json":
		return errors.New("FORMAT must be json")
	case drafts && call.String("environment") != "":
		return errors.New("give either --drafts or --environment: drafts are in no environment")
	case len(call.Args) > 2:
		query = call.Args[2]
	}
	types, err := s.typesNamed(ctx, call.Args[:1])
	if err != nil {
		return advise(err)
	}
	for _, ct := range types {
		in := ct.env
		if name := call.String("environment"); name != "" {
			if in, err = s.types.environmentByName(ctx, name); err != nil {
				return advise(err)
			}
		}
		if _, err := s.allowed(ctx, ct.Name, auth.View); err != nil {
			return advise(err)
		}
		err := s.documents(ctx, ct, in, query, func(ouuid string) error {
			raw, err := s.store.publishedIn(ctx, ct.id, ouuid, in.id)
			if drafts {
				raw, err = s.newestRaw(ctx, ct, ouuid)
			}
			if err != nil || raw == "" {
				return err
			}
			line := rawjson.AppendString([]byte(`{"ouuid":`), ouuid)
			line = append(append(append(line, `,"data":`...), raw...), '}', '\n')
			_, err = call.Out.Write(line)
			return err
		})
		if err != nil {
			return advise(err)
		}
	}
	return nil
}

// newestRaw gives the newest revision of a document; empty if it has gone.
func (s *Service) newestRaw(ctx context.Context, ct *contentType, ouuid string) (string, error) {
	d, err := s.store.head(ctx, ct.id, ouuid)
	if err != nil || d == nil {
		return "", err
	}
	return d.Raw, nil
}

var selectPublishedIn = db.SQL(`SELECT r.raw FROM content_publication p JOIN content_revision r ON r.id = p.revision_id
	WHERE p.type_id = ? AND p.ouuid = ? AND p.environment_id = ?`)

// publishedIn gives a document as it is in an environment; empty if it is not
// there.
func (s store) publishedIn(ctx context.Context, typeID int64, ouuid string, environmentID int64) (raw string, err error) {
	err = s.db.Row(ctx, selectPublishedIn, typeID, ouuid, environmentID).Scan(&raw)
	if errors.Is(err, db.ErrNotFound) {
		return "", nil
	}
	return raw, err
}

// typeView is a content type as the command line shows it.
type typeView struct {
	Name        string `json:"name"`
	Label       string `json:"label"`
	Environment string `json:"environment"` // the default one
	Documents   int64  `json:"documents"`   // published in it
	State       string `json:"state"`       // active, inactive, deleted, or what it lacks
}

func (ct *contentType) state() string {
	switch {
	case ct.Deleted:
		return "deleted"
	case !ct.Active:
		return "inactive"
	case ct.env == nil:
		return "without an environment"
	case !ct.env.managed:
		return "of an external environment"
	}
	return "active"
}

func runListTypes(ctx context.Context, s *Service, call *module.Call) error {
	cat, err := s.types.reload(ctx, false)
	if err != nil {
		return err
	}
	counts, err := s.store.publishedByType(ctx)
	if err != nil {
		return err
	}
	all, rows := []typeView{}, [][]string{}
	for _, ct := range cat.sortedTypes {
		if ct.Deleted && !call.Bool("all") {
			continue
		}
		v := typeView{Name: ct.Name, Label: ct.Plural, Environment: ct.Environment, State: ct.state()}
		if ct.env != nil {
			v.Environment, v.Documents = ct.env.name, counts[[2]int64{ct.id, ct.env.id}]
		}
		all = append(all, v)
		rows = append(rows, []string{v.Name, v.Label, v.Environment, fmt.Sprint(v.Documents), v.State})
	}
	return call.Table(all, []string{"name", "label", "environment", "documents", "state"}, rows)
}

var countByType = db.SQL(`SELECT type_id, environment_id, count(*) FROM content_publication WHERE revision_id IS NOT NULL GROUP BY type_id, environment_id`)

// publishedByType counts the documents of each type in each environment, by the
// ids of both.
func (s store) publishedByType(ctx context.Context) (map[[2]int64]int64, error) {
	rows, err := s.db.Query(ctx, countByType)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	counts := map[[2]int64]int64{}
	for rows.Next() {
		var of [2]int64
		var n int64
		if err := rows.Scan(&of[0], &of[1], &n); err != nil {
			return nil, err
		}
		counts[of] = n
	}
	return counts, rows.Err()
}
