package job

import (
	"context"
	"strconv"

	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
)

// maxNames is how many jobs a list names.
const maxNames = 10_000

// entity serves jobs in the export form, as other clients of /api/admin expect
// them. It implements port.Entity.
type entity struct{ s *Service }

var _ port.Entity = entity{}

// Names implements port.Entity.
func (entity) Names() []string { return []string{"job", "jobs"} }

// List implements port.Entity: the numbers of the newest jobs.
func (e entity) List(ctx context.Context) ([]string, error) { return e.s.names(ctx) }

func (s *Service) names(ctx context.Context) ([]string, error) {
	ids, err := s.store.ids(ctx, selectIDs, maxNames)
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = strconv.FormatInt(id, 10)
	}
	return names, err
}

// Get implements port.Entity.
func (e entity) Get(ctx context.Context, name string) ([]byte, error) {
	id, err := parseID(name)
	if err != nil {
		return nil, err
	}
	j, err := e.s.store.job(ctx, id)
	if err == nil {
		err = mayFollow(ctx, j)
	}
	if err != nil {
		return nil, err
	}
	b := []byte(`{"class":"EMS\\CoreBundle\\Entity\\Job","arguments":[],"properties":{"command":`)
	b = append(rawjson.AppendString(b, j.Command), `,"tag":`...)
	if j.Tag == "" {
		b = append(b, "null"...)
	} else {
		b = rawjson.AppendString(b, j.Tag)
	}
	return append(b, `},"replaced":[]}`...), nil
}

// Put implements port.Entity. A job cannot be changed.
func (e entity) Put(ctx context.Context, name string, export []byte) (string, error) {
	if name != "" {
		return "", problem.New(problem.Conflict, "a job cannot be changed; create another one").WithCode("job_fixed")
	}
	j, err := e.s.createFrom(ctx, export, "properties")
	if err != nil {
		return "", err
	}
	return strconv.FormatInt(j.ID, 10), nil
}

// Delete implements port.Entity.
func (e entity) Delete(ctx context.Context, name string) (string, error) {
	id, err := parseID(name)
	if err != nil {
		return "", err
	}
	return name, e.s.Delete(ctx, id)
}

// properties gives those of an export.
func properties(raw []byte) ([]byte, error) {
	p, given := rawjson.Get(raw, "properties")
	if p = rawjson.Object(p); !given || rawjson.KindOf(p) != rawjson.Map {
		return nil, problem.Field(problem.Invalid, "properties", "must be an object")
	}
	return p, nil
}
