package content

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/web"
)

// source is what other modules read of the content store.
type source struct {
	store store
	types *catalogs
}

var (
	_ port.Documents    = (*source)(nil)
	_ port.ContentTypes = (*source)(nil)
)

var (
	selectStates = db.SQL(`SELECT p.environment_id, p.revision_id, p.published_at, r.raw FROM content_publication p
		LEFT JOIN content_revision r ON r.id = p.revision_id WHERE p.type_id = ? AND p.ouuid = ?`)
	selectPublished = db.SQL(`SELECT p.type_id, p.ouuid, p.environment_id, p.revision_id, p.published_at, r.raw FROM content_publication p
		JOIN content_revision r ON r.id = p.revision_id ORDER BY p.revision_id`)
	// A row is one text, because on SQLite to hand over a column costs as much
	// as to find the row. There the table lies in this order.
	selectHeads = db.Dual(`SELECT type_id || ' ' || environment_id || ' ' || revision_id || ' ' || published_at || ' ' || ouuid
		FROM content_publication WHERE revision_id IS NOT NULL`,
		`SELECT type_id || ' ' || environment_id || ' ' || revision_id || ' ' || published_at || ' ' || ouuid
		FROM content_publication WHERE revision_id IS NOT NULL ORDER BY type_id, ouuid COLLATE "C"`)
	selectSource = db.SQL(`SELECT r.raw, p.published_at FROM content_revision r JOIN content_publication p
		ON p.type_id = r.type_id AND p.ouuid = r.ouuid AND p.environment_id = ? WHERE r.id = ?`)
	selectSources = db.SQL(`SELECT r.id, r.raw, p.published_at FROM content_revision r JOIN content_publication p
		ON p.type_id = r.type_id AND p.ouuid = r.ouuid AND p.environment_id = ? WHERE r.id IN (?` + strings.Repeat(", ?", sourcesAtOnce-1) + `)`)
)

// sourcesAtOnce is how many sources of a long list one statement finds: on
// SQLite a statement costs more than a row.
const sourcesAtOnce = 64

// indexed adds what only the index knows: when the revision was published
// (contract-notes 1.5).
func indexed(raw []byte, publishedAt int64) []byte {
	b := make([]byte, 0, len(raw)+64)
	b = append(b, raw[:len(raw)-1]...)
	if len(b) > 1 {
		b = append(b, ',')
	}
	b = append(b, `"_published_datetime":"`...)
	b = db.Time(publishedAt).AppendFormat(b, web.Atom)
	return append(b, `"}`...)
}

// States implements port.Documents.
func (s *source) States(ctx context.Context, keys []port.Key, fn func(port.Published) error) error {
	cat, err := s.types.get(ctx)
	if err != nil {
		return err
	}
	var known []port.Key
	var args [][]any
	for _, k := range keys {
		if ct := cat.types[k.Type]; ct != nil {
			known, args = append(known, k), append(args, []any{ct.id, k.OUUID})
		}
	}
	return s.store.db.Each(ctx, selectStates, args, func(i int, rows db.Rows) error {
		for rows.Next() {
			var envID, at int64
			var rev *int64
			var raw []byte
			if err := rows.Scan(&envID, &rev, &at, &raw); err != nil {
				return err
			}
			env := cat.envsByID[envID]
			if env == nil {
				continue
			}
			p := port.Published{Key: known[i], Environment: env.name}
			if rev != nil {
				p.Revision, p.At, p.Raw = *rev, at, indexed(raw, at)
			}
			if err := fn(p); err != nil {
				return err
			}
		}
		return nil
	})
}

// Scan implements port.Documents.
func (s *source) Scan(ctx context.Context, fn func(port.Published) error) error {
	cat, err := s.types.get(ctx)
	if err != nil {
		return err
	}
	rows, err := s.store.db.Query(ctx, selectPublished)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var typeID, envID, at int64
		var p port.Published
		var raw []byte
		if err := rows.Scan(&typeID, &p.Key.OUUID, &envID, &p.Revision, &at, &raw); err != nil {
			return err
		}
		ct, env := cat.typesByID[typeID], cat.envsByID[envID]
		if ct == nil || env == nil {
			continue
		}
		p.Key.Type, p.Environment, p.At, p.Raw = ct.Name, env.name, at, indexed(raw, at)
		if err := fn(p); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Heads implements port.Documents.
func (s *source) Heads(ctx context.Context, fn func(port.Published) error) error {
	cat, err := s.types.get(ctx)
	if err != nil {
		return err
	}
	rows, err := s.store.db.Query(ctx, selectHeads)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var row string
		if err := rows.Scan(&row); err != nil {
			return err
		}
		var p port.Published
		var numbers [4]int64
		for i := range numbers {
			var n string
			n, row, _ = strings.Cut(row, " ")
			if numbers[i], err = strconv.ParseInt(n, 10, 64); err != nil {
				return err
			}
		}
		ct, env := cat.typesByID[numbers[0]], cat.envsByID[numbers[1]]
		if ct == nil || env == nil {
			continue
		}
		p.Key, p.Environment, p.Revision, p.At = port.Key{Type: ct.Name, OUUID: row}, env.name, numbers[2], numbers[3]
		if err := fn(p); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Sources implements port.Documents.
func (s *source) Sources(ctx context.Context, environment string, revisions []int64) ([][]byte, error) {
	cat, err := s.types.get(ctx)
	if err != nil {
		return nil, err
	}
	out := make([][]byte, len(revisions))
	env := cat.envs[environment]
	if env == nil { // it was removed while somebody read from it
		return out, nil
	}
	whole := len(revisions) - len(revisions)%sourcesAtOnce
	if err := s.sourceBlocks(ctx, env.id, revisions[:whole], out); err != nil {
		return nil, err
	}
	args := make([][]any, len(revisions)-whole)
	for i, id := range revisions[whole:] {
		args[i] = []any{env.id, id}
	}
	err = s.store.db.Each(ctx, selectSource, args, func(i int, rows db.Rows) error {
		var raw []byte
		var at int64
		if !rows.Next() {
			return nil
		}
		if err := rows.Scan(&raw, &at); err != nil {
			return err
		}
		out[whole+i] = indexed(raw, at)
		return nil
	})
	return out, err
}

// sourceBlocks is Sources for a multiple of sourcesAtOnce revisions.
func (s *source) sourceBlocks(ctx context.Context, environment int64, revisions []int64, out [][]byte) error {
	args := make([][]any, 0, len(revisions)/sourcesAtOnce)
	for block := range slices.Chunk(revisions, sourcesAtOnce) {
		list := append(make([]any, 0, sourcesAtOnce+1), environment)
		for _, id := range block {
			list = append(list, id)
		}
		args = append(args, list)
	}
	found := make(map[int64][]byte, sourcesAtOnce)
	return s.store.db.Each(ctx, selectSources, args, func(i int, rows db.Rows) error {
		clear(found)
		for rows.Next() {
			var id, at int64
			var raw []byte
			if err := rows.Scan(&id, &raw, &at); err != nil {
				return err
			}
			found[id] = indexed(raw, at)
		}
		for k := i * sourcesAtOnce; k < (i+1)*sourcesAtOnce; k++ {
			out[k] = found[revisions[k]]
		}
		return nil
	})
}

// All implements port.ContentTypes.
func (s *source) All(ctx context.Context) ([]port.ContentType, error) {
	cat, err := s.types.get(ctx)
	if err != nil {
		return nil, err
	}
	var all []port.ContentType
	for _, ct := range cat.sortedTypes {
		if ct.usable() {
			all = append(all, port.ContentType{Name: ct.Name, Environment: ct.env.name, Fields: fields(ct.compiled.Mapping()), Rights: ct.rights})
		}
	}
	return all, nil
}

// Visible implements port.ContentTypes.
func (s *source) Visible(ctx context.Context) ([]string, error) {
	id, err := auth.Require(ctx)
	if err != nil {
		return nil, err
	}
	cat, err := s.types.get(ctx)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(cat.sortedTypes))
	for _, ct := range cat.sortedTypes {
		if ct.usable() && ct.rights.Allows(id, auth.View) {
			names = append(names, ct.Name)
		}
	}
	return names, nil
}

// Environments implements port.ContentTypes.
func (s *source) Environments(ctx context.Context) ([]port.Environment, error) {
	cat, err := s.types.get(ctx)
	if err != nil {
		return nil, err
	}
	return cat.managed(), nil
}

// Aliases implements port.ContentTypes.
func (s *source) Aliases(ctx context.Context) (map[string][]string, error) {
	cat, err := s.types.get(ctx)
	if err != nil {
		return nil, err
	}
	all := map[string][]string{}
	for _, a := range cat.aliases {
		all[a.alias] = slices.DeleteFunc(slices.Clone(a.environments), func(name string) bool { return cat.envs[name] == nil })
	}
	return all, nil
}

// Analysis implements port.ContentTypes.
func (s *source) Analysis(ctx context.Context) (analyzers, filters map[string][]byte, err error) {
	cat, err := s.types.get(ctx)
	if err != nil {
		return nil, nil, err
	}
	return cat.analyzers, cat.filters, nil
}
