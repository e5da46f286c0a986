package content

import (
	"context"
	"slices"
	"strings"

	"github.com/quoin-cms/quoin/core/problem"
)

// setMembers puts environments behind a managed alias, in its state, and emits
// what changed. The caller saves the entity.
func (s *Service) setMembers(ctx context.Context, cat *catalog, x *entity, names []string) error {
	slices.Sort(names)
	names = slices.Compact(names)
	before := members(x.State)
	x.State = append(appendStrings([]byte(`{"environments":`), names), '}')
	return s.emitAlias(ctx, cat, x.Name, before, names)
}

// emitAlias tells which indexes joined and left a managed alias (spec.md 6.2).
func (s *Service) emitAlias(ctx context.Context, cat *catalog, name string, before, after []string) error {
	diff := func(a, b []string) []string {
		var only []string
		for _, n := range a {
			if env := cat.envs[n]; env != nil && !slices.Contains(b, n) {
				only = append(only, env.index)
			}
		}
		return only
	}
	added, removed := diff(after, before), diff(before, after)
	if len(added)+len(removed) == 0 {
		return nil
	}
	data := appendStrings([]byte(`{"actions":{"add":`), added)
	data = append(appendStrings(append(data, `,"remove":`...), removed), `}}`...)
	return s.tell(ctx, "manage_alias.update."+s.types.instance+name, "managed-alias:"+name, data)
}

// AttachAlias adds an environment to a managed alias, which may be named with
// or without the instance id. It changes nothing when it is there already.
func (s *Service) AttachAlias(ctx context.Context, alias, envName string) error {
	if _, err := s.types.environmentByName(ctx, envName); err != nil {
		return err
	}
	cat, err := s.types.get(ctx)
	if err != nil {
		return err
	}
	err = s.db().InTx(ctx, func(ctx context.Context) error {
		if err := s.store.holdConfig(ctx); err != nil {
			return err
		}
		x, err := s.alias(ctx, alias)
		if err != nil {
			return err
		}
		names := members(x.State)
		if slices.Contains(names, envName) {
			return nil
		}
		if err := s.setMembers(ctx, cat, x, append(names, envName)); err != nil {
			return err
		}
		if err := s.store.saveEntity(ctx, x, s.now()); err != nil {
			return err
		}
		return s.emitConfig(ctx, x, "saved")
	})
	if err != nil {
		return err
	}
	_, err = s.types.reload(ctx, false)
	return err
}

func (s *Service) alias(ctx context.Context, name string) (*entity, error) {
	for _, n := range []string{name, strings.TrimPrefix(name, s.types.instance)} {
		if !entityName(n) {
			break
		}
		if x, err := s.store.entity(ctx, kindManagedAlias, n); err != nil || x != nil {
			return x, err
		}
	}
	return nil, problem.New(problem.NotFound, "there is no managed alias %q", name)
}
