package content

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
)

// environmentExport is the export form of an environment with the usual
// properties.
func environmentExport(name, label string, inDefaultSearch bool, order int) []byte {
	export := rawjson.AppendString([]byte(`{"class":"EMS\\CoreBundle\\Entity\\Environment","arguments":[],"properties":{"name":`), name)
	export = rawjson.AppendString(append(export, `,"label":`...), label)
	return fmt.Appendf(export, `,"managed":true,"snapshot":false,"circles":[],"inDefaultSearch":%t,"orderKey":%d,"updateReferrers":false,"templatePublication":null,"rolePublish":null},"replaced":[]}`, inDefaultSearch, order)
}

// CreateEnvironment makes a managed environment; Conflict when there is one of
// the name, Invalid when the name cannot be one.
func (s *Service) CreateEnvironment(ctx context.Context, name, label string) error {
	cat, err := s.types.reload(ctx, false)
	if err != nil {
		return err
	}
	if cat.envs[name] != nil {
		return problem.New(problem.Conflict, "there is an environment %q already", name).WithCode("environment_exists")
	}
	order := 1
	for _, env := range cat.sortedEnvs {
		order = max(order, env.order+1)
	}
	return s.put(ctx, kindEnvironment, environmentExport(name, cmp.Or(label, name), false, order))
}

// EnvironmentInfo is what operators read about an environment.
type EnvironmentInfo struct {
	Name      string   `json:"name"`
	Alias     string   `json:"alias"`
	Index     string   `json:"index"`
	Documents int64    `json:"documents"` // published in it
	Managed   bool     `json:"managed"`
	Snapshot  bool     `json:"snapshot"`
	Aliases   []string `json:"aliases"` // managed ones that it is behind
	// State is ready, external (not managed), or which index is to be built.
	State string `json:"state"`
}

// Environments lists what there is, in its order.
func (s *Service) Environments(ctx context.Context) ([]EnvironmentInfo, error) {
	cat, err := s.types.reload(ctx, false)
	if err != nil {
		return nil, err
	}
	byType, err := s.store.publishedByType(ctx)
	if err != nil {
		return nil, err
	}
	counts := map[int64]int64{} // by environment
	for of, n := range byType {
		counts[of[1]] += n
	}
	all := []EnvironmentInfo{}
	for _, env := range cat.sortedEnvs {
		info := EnvironmentInfo{
			Name: env.name, Alias: env.alias, Index: env.index, Documents: counts[env.id], Managed: env.managed, Snapshot: env.snapshot,
			Aliases: []string{}, State: "ready",
		}
		switch {
		case !env.managed:
			info.Index, info.State = "", "external"
		case env.next != "":
			info.State = "building " + env.next
		case env.reindex:
			info.State = "reindexing"
		}
		for _, a := range cat.aliases {
			if slices.Contains(a.environments, env.name) {
				info.Aliases = append(info.Aliases, a.alias)
			}
		}
		all = append(all, info)
	}
	return all, nil
}

// AliasInfo is what operators read about a managed alias.
type AliasInfo struct {
	Name         string   `json:"name"`
	Alias        string   `json:"alias"` // with the instance id
	Environments []string `json:"environments"`
	Indexes      []string `json:"indexes"`
}

// Aliases lists the managed aliases by name.
func (s *Service) Aliases(ctx context.Context) ([]AliasInfo, error) {
	cat, err := s.types.reload(ctx, false)
	if err != nil {
		return nil, err
	}
	all := []AliasInfo{}
	for _, a := range cat.aliases {
		info := AliasInfo{Name: a.name, Alias: a.alias, Environments: []string{}, Indexes: []string{}}
		for _, name := range a.environments {
			if env := cat.envs[name]; env != nil && env.managed {
				info.Environments, info.Indexes = append(info.Environments, name), append(info.Indexes, env.index)
			}
		}
		all = append(all, info)
	}
	slices.SortFunc(all, func(a, b AliasInfo) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}
