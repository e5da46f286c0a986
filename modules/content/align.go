package content

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
)

const (
	alignPage     = 512 // documents read at once
	alignParallel = 32  // publications at the same time: they share commits
	toldFailures  = 20  // failures of a command that are told one by one
)

var (
	// What is in one environment and not the same in another.
	selectUnaligned = db.SQL(`SELECT p.type_id, p.ouuid, p.revision_id FROM content_publication p
		LEFT JOIN content_publication q ON q.type_id = p.type_id AND q.ouuid = p.ouuid AND q.environment_id = ?
		WHERE p.environment_id = ? AND p.revision_id IS NOT NULL AND (q.revision_id IS NULL OR q.revision_id <> p.revision_id)
		AND (p.type_id, p.ouuid) > (?, ?) ORDER BY p.type_id, p.ouuid LIMIT ?`)
	selectInside = db.SQL(`SELECT type_id, ouuid, revision_id FROM content_publication
		WHERE environment_id = ? AND revision_id IS NOT NULL AND (type_id, ouuid) > (?, ?) ORDER BY type_id, ouuid LIMIT ?`)
)

// Selection says which documents of an environment are meant, and how to treat
// them.
type Selection struct {
	DryRun bool // only count
	// Query is an Elasticsearch query that the documents match in the index of
	// the environment; empty for all.
	Query []byte
}

// Moved counts what became of documents.
type Moved struct {
	Changed int `json:"changed"` // published or unpublished; under DryRun those that would be
	// Default counts documents that were left alone because the environment is
	// the default one of their content type.
	Default  int      `json:"default_environment"`
	Failed   int      `json:"failed"`
	Failures []string `json:"failures,omitempty"` // the first of them
}

// Align publishes in target what is published in source, as it is there.
// Documents that are only in target stay. progress, which may be nil, gets what
// was done so far. The rights of the caller are those of Publish.
func (s *Service) Align(ctx context.Context, source, target string, sel Selection, progress func(Moved)) (*Moved, error) {
	from, err := s.types.environmentByName(ctx, source)
	if err != nil {
		return nil, err
	}
	to, err := s.types.environmentByName(ctx, target)
	if err != nil {
		return nil, err
	}
	switch {
	case from.id == to.id:
		return nil, problem.New(problem.Invalid, "source and target are the same environment")
	case to.snapshot:
		return nil, problem.New(problem.Conflict, "environment %q is a snapshot and cannot be changed", target)
	}
	m := &mover{s: s, env: to, sel: sel, progress: progress, do: func(ctx context.Context, d placed) error {
		_, _, err := s.Publish(ctx, d.key.Type, d.key.OUUID, target, d.revision, false)
		return err
	}}
	return m.run(ctx, source, selectUnaligned, to.id, from.id)
}

// UnpublishAll takes documents out of an environment, but for those whose
// default environment it is.
func (s *Service) UnpublishAll(ctx context.Context, environment string, sel Selection, progress func(Moved)) (*Moved, error) {
	env, err := s.types.environmentByName(ctx, environment)
	if err != nil {
		return nil, err
	}
	if env.snapshot {
		return nil, problem.New(problem.Conflict, "environment %q is a snapshot and cannot be changed", environment)
	}
	m := &mover{s: s, env: env, sel: sel, progress: progress, do: func(ctx context.Context, d placed) error {
		_, err := s.Unpublish(ctx, d.key.Type, d.key.OUUID, environment, false)
		return err
	}}
	return m.run(ctx, environment, selectInside, env.id)
}

// Freeze makes an environment a snapshot, which nobody can publish to.
func (s *Service) Freeze(ctx context.Context, environment string) error {
	x, err := s.store.entity(ctx, kindEnvironment, environment)
	if err != nil {
		return err
	}
	if x == nil {
		return unknownEnvironment(environment)
	}
	properties := rawjson.Set(nil, value(x.Export, "properties"), "snapshot", []byte("true"))
	return s.put(ctx, kindEnvironment, rawjson.Set(nil, x.Export, "properties", properties))
}

// placed is a document as it is in an environment.
type placed struct {
	typeID   int64
	key      port.Key
	revision int64
}

// mover does something to many documents of an environment.
type mover struct {
	s        *Service
	env      *environment // that changes
	sel      Selection
	do       func(context.Context, placed) error
	progress func(Moved)
	alone    bool // no server runs that should make documents searchable

	mu  sync.Mutex
	out Moved
}

// run reads the documents page by page; statement takes args, then the document
// to begin behind, then how many.
func (m *mover) run(ctx context.Context, source string, statement *db.Statement, args ...any) (*Moved, error) {
	var only map[port.Key]struct{}
	if len(m.sel.Query) > 0 {
		if m.s.find == nil {
			return nil, problem.New(problem.Invalid, "documents cannot be chosen by a query: the module search is switched off")
		}
		only = map[port.Key]struct{}{}
		if err := m.s.find.Find(ctx, source, m.sel.Query, func(k port.Key) { only[k] = struct{}{} }); err != nil {
			return nil, err
		}
	}
	for after := (placed{}); ; {
		page, err := m.s.store.placed(ctx, statement, append(args[:len(args):len(args)], after.typeID, after.key.OUUID, alignPage)...)
		if err != nil || len(page) == 0 {
			return &m.out, err
		}
		after = page[len(page)-1]
		if err := m.page(ctx, page, only); err != nil {
			return &m.out, err
		}
	}
}

// page treats some documents and makes the outcome searchable.
func (m *mover) page(ctx context.Context, page []placed, only map[port.Key]struct{}) error {
	cat, err := m.s.types.get(ctx)
	if err != nil {
		return err
	}
	var running sync.WaitGroup
	places := make(chan struct{}, alignParallel)
	var done []port.Key
	for _, d := range page {
		ct := cat.typesByID[d.typeID]
		if ct == nil || !ct.usable() {
			continue
		}
		d.key.Type = ct.Name
		if _, meant := only[d.key]; only != nil && !meant {
			continue
		}
		if ct.env.id == m.env.id {
			m.count(func(o *Moved) { o.Default++ })
			continue
		}
		if done = append(done, d.key); m.sel.DryRun {
			m.count(func(o *Moved) { o.Changed++ })
			continue
		}
		places <- struct{}{}
		running.Go(func() {
			defer func() { <-places }()
			m.note(ctx, d, m.do(ctx, d))
		})
	}
	running.Wait()
	if m.progress != nil {
		m.progress(m.out)
	}
	if err := ctx.Err(); err != nil || m.sel.DryRun || len(done) == 0 || m.s.refresh == nil || m.alone {
		return err
	}
	within, cancel := context.WithTimeout(ctx, m.s.cfg.RefreshTimeout)
	defer cancel()
	err = m.s.refresh.Refresh(within, done)
	var p *problem.Problem
	if errors.As(err, &p) && p.Code == port.NoServer {
		m.alone = true
	} else if err != nil && ctx.Err() == nil {
		m.s.log.WarnContext(ctx, "documents were published and are not searchable yet", "environment", m.env.name, "error", err)
	}
	return nil
}

func (m *mover) count(fn func(*Moved)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	fn(&m.out)
}

// note counts the outcome of one document. What the server is to blame for is
// told without its cause, and so the log has it.
func (m *mover) note(ctx context.Context, d placed, err error) {
	m.count(func(o *Moved) {
		switch {
		case err == nil:
			o.Changed++
		case !errors.Is(err, context.Canceled):
			o.Failed++
			if len(o.Failures) < toldFailures {
				if problem.From(err).Kind.Status() >= 500 {
					m.s.log.ErrorContext(ctx, "a document could not be moved", "environment", m.env.name, "type", d.key.Type, "ouuid", d.key.OUUID, "error", err)
				}
				o.Failures = append(o.Failures, fmt.Sprintf("%s:%s: %s", d.key.Type, d.key.OUUID, problem.From(err).Detail))
			}
		}
	})
}

// placed gives what is in an environment; the name of the type is not set.
func (s store) placed(ctx context.Context, statement *db.Statement, args ...any) ([]placed, error) {
	return db.All(ctx, s.db, func(row db.Row) (d placed, err error) {
		err = row.Scan(&d.typeID, &d.key.OUUID, &d.revision)
		return d, err
	}, statement, args...)
}
