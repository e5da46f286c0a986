package content

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
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
	return s.ChangeAlias(ctx, alias, func(now []string) []string { return append(now, envName) })
}

// CreateAlias makes a managed alias without environments; Conflict when there
// is one.
func (s *Service) CreateAlias(ctx context.Context, name, label string) error {
	if x, err := s.store.entity(ctx, kindManagedAlias, name); err != nil || x != nil {
		return cmp.Or(err, error(problem.New(problem.Conflict, "there is a managed alias %q already", name).WithCode("alias_exists")))
	}
	export := rawjson.AppendString([]byte(`{"class":"EMS\\CoreBundle\\Entity\\ManagedAlias","arguments":[],"properties":{"name":`), name)
	export = rawjson.AppendString(append(export, `,"label":`...), cmp.Or(label, name))
	export = append(export, `,"color":null,"orderKey":9999},"replaced":[]}`...)
	return s.put(ctx, kindManagedAlias, export)
}

// put saves an entity given in its export form.
func (s *Service) put(ctx context.Context, kind string, export []byte) error {
	for _, k := range kinds() {
		if k.kind == kind {
			_, err := configEntity{k, s}.Put(ctx, "", export)
			return err
		}
	}
	return problem.New(problem.Internal, "there is no kind %q", kind)
}

// ChangeAlias puts other environments behind a managed alias, which may be
// named with or without the instance id, all at once. change gets those that
// it has; it may run twice. An environment that does not exist is NotFound.
func (s *Service) ChangeAlias(ctx context.Context, alias string, change func(now []string) []string) error {
	cat, err := s.types.reload(ctx, false)
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
		now := members(x.State)
		names := change(slices.Clone(now))
		slices.Sort(names)
		if names = slices.Compact(names); slices.Equal(names, now) {
			return nil
		}
		for _, name := range names {
			if env := cat.envs[name]; !slices.Contains(now, name) && (env == nil || !env.managed) {
				return unknownEnvironment(name)
			}
		}
		return s.saveMembers(ctx, cat, x, names)
	})
	if err != nil {
		return err
	}
	_, err = s.types.reload(ctx, false)
	return err
}

// saveMembers is setMembers for an alias that stays otherwise as it is.
func (s *Service) saveMembers(ctx context.Context, cat *catalog, x *entity, names []string) error {
	if err := s.setMembers(ctx, cat, x, names); err != nil {
		return err
	}
	// An export that names environments must bring back those of now.
	if p := value(x.Export, "properties"); rawjson.KindOf(value(p, "environments")) == rawjson.Array {
		x.Export = rawjson.Set(nil, x.Export, "properties", rawjson.Set(nil, p, "environments", appendStrings(nil, names)))
	}
	if err := s.store.saveEntity(ctx, x, s.now()); err != nil {
		return err
	}
	return s.emitConfig(ctx, x, "saved")
}

// leaveAliases takes an environment that is about to go out of every managed
// alias: one that gets its name later is another environment.
func (s *Service) leaveAliases(ctx context.Context, cat *catalog, env string) error {
	all, _, err := s.store.configs(ctx)
	if err != nil {
		return err
	}
	for _, x := range all {
		now := members(x.State)
		if x.Kind != kindManagedAlias || !slices.Contains(now, env) {
			continue
		}
		if err := s.saveMembers(ctx, cat, &x, slices.DeleteFunc(now, func(name string) bool { return name == env })); err != nil {
			return err
		}
	}
	return nil
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
	return nil, unknownAlias(name)
}

func unknownAlias(name string) error {
	return problem.New(problem.NotFound, "there is no managed alias %q", name).WithCode("unknown_alias")
}
