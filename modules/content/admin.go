package content

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
	"github.com/quoin-cms/quoin/core/web"
)

// Admin serves the configuration entities of every module
// (contract-notes 2.1).
type Admin struct {
	service  *Service
	entities map[string]port.Entity // by every name, folded
	names    []string
}

// newAdmin collects the entities. What this module only keeps gives way to a
// module that works with it.
func newAdmin(s *Service, entities []port.Entity) (*Admin, error) {
	a := &Admin{service: s, entities: map[string]port.Entity{}}
	entities = slices.Clone(entities)
	slices.SortStableFunc(entities, func(x, y port.Entity) int { return cmp.Compare(rank(x), rank(y)) })
	for _, e := range entities {
		own := map[string]bool{}
		for _, name := range e.Names() {
			folded := fold(name)
			if old := a.entities[folded]; old != nil && rank(old) == rank(e) && !own[folded] {
				return nil, problem.New(problem.Internal, "two modules serve /api/admin/%s", name)
			}
			a.entities[folded], own[folded] = e, true
		}
		if name := e.Names()[0]; !slices.Contains(a.names, name) {
			a.names = append(a.names, name)
		}
	}
	slices.Sort(a.names)
	return a, nil
}

// rank is 0 for what is only kept.
func rank(e port.Entity) int {
	if own, ok := e.(configEntity); ok && own.plain {
		return 0
	}
	return 1
}

// fold makes the spellings of a name alike: content-type, ContentType and
// content_type, which people give to the commands of clients.
func fold(name string) string {
	return strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name))
}

func (a *Admin) entity(name string) (port.Entity, error) {
	if e := a.entities[fold(name)]; e != nil {
		return e, nil
	}
	return nil, problem.New(problem.NotFound, "there is no configuration entity %q; GET /api/admin/config-types lists them", name)
}

// contentTypeNames are the active, managed content types.
func (a *Admin) contentTypeNames(ctx context.Context) ([]string, error) {
	cat, err := a.service.types.get(ctx)
	if err != nil {
		return nil, err
	}
	names := []string{}
	for _, ct := range cat.sortedTypes {
		if ct.usable() {
			names = append(names, ct.Name)
		}
	}
	return names, nil
}

// EntityPath names a kind of configuration entity.
type EntityPath struct {
	Entity string `path:"entity" doc:"kind of entity, such as content-type"`
}

// NamedEntity names a configuration entity.
type NamedEntity struct {
	EntityPath
	Name string `path:"name" doc:"name of the entity, or its id where it has none"`
}

// versions are what old clients take from GET /api/admin/versions: below some
// versions of core they fall back to slower calls.
func versions(program string) map[string]string {
	return map[string]string{"core": "6.1.0", "client": "6.1.0", "common": "6.1.0", "form": "6.1.0", "submission": "6.1.0", "symfony": "6.4.0", "quoin": program}
}

func adminOperations(a *Admin, program string) []web.Operation {
	roles := []string{auth.RoleAPI, auth.RoleAdmin}
	return append([]web.Operation{
		web.Op(web.Operation{
			ID: "admin-versions", Method: http.MethodGet, Path: "/api/admin/versions", Tag: "Admin", Summary: "Versions that clients choose their calls by",
			Doc: "Needs ROLE_API only: every client asks before it works with documents.",
		}, func(context.Context, *web.None) (*web.Reply[map[string]string], error) {
			return web.Answer(versions(program))
		}),
		web.Op(web.Operation{
			ID: "admin-content-types", Method: http.MethodGet, Path: "/api/admin/content-types", Tag: "Admin", Summary: "Names of the active content types",
			Doc: "Needs ROLE_API only.",
		}, func(ctx context.Context, _ *web.None) (*web.Reply[[]string], error) {
			names, err := a.contentTypeNames(ctx)
			if err != nil {
				return nil, err
			}
			return web.Answer(names)
		}),
		web.Op(web.Operation{
			ID: "admin-config-types", Method: http.MethodGet, Path: "/api/admin/config-types", Tag: "Admin", Summary: "Kinds of configuration entities", Roles: roles, Doc: "The names to use as {entity}.",
		}, func(context.Context, *web.None) (*web.Reply[[]string], error) { return web.Answer(a.names) }),
	}, entityOperations(a, roles)...)
}

// saved is the answer to a change; clients want the id as a string.
type saved struct {
	ID           string `json:"id"`
	Success      bool   `json:"success"`
	Acknowledged bool   `json:"acknowledged"`
}

func entityOperations(a *Admin, roles []string) []web.Operation {
	put := func(ctx context.Context, kind, name string, export []byte) (*web.Reply[saved], error) {
		e, err := a.entity(kind)
		if err != nil {
			return nil, err
		}
		if err := rawjson.CheckObject(export, rawjson.Limits{Depth: 400}); err != nil {
			return nil, err
		}
		id, err := e.Put(ctx, name, export)
		if err != nil {
			return nil, err
		}
		return web.Answer(saved{id, true, true})
	}
	return []web.Operation{
		web.Op(web.Operation{ID: "admin-list", Method: http.MethodGet, Path: "/api/admin/{entity}", Tag: "Admin", Summary: "Names of the entities of a kind", Doc: "Such as those of all content types. The names that elasticms uses for kinds are understood as well, in the plural too.", Roles: roles, Errors: []int{404}},
			func(ctx context.Context, in *EntityPath) (*web.Reply[[]string], error) {
				e, err := a.entity(in.Entity)
				if err != nil {
					return nil, err
				}
				names, err := e.List(ctx)
				if err != nil {
					return nil, err
				}
				return web.Answer(names)
			}),
		web.Op(web.Operation{ID: "admin-get", Method: http.MethodGet, Path: "/api/admin/{entity}/{name}", Tag: "Admin", Summary: "One entity in the export form", Doc: "The form in which it can be created again, here or elsewhere.", Roles: roles, Errors: []int{404}, Answers: web.Media{Of: exportForm{}}},
			func(ctx context.Context, in *NamedEntity) (*web.Raw, error) {
				e, err := a.entity(in.Entity)
				if err != nil {
					return nil, err
				}
				export, err := e.Get(ctx, in.Name)
				if err != nil {
					return nil, err
				}
				return web.JSON(export)
			}),
		web.Op(web.Operation{ID: "admin-create", Method: http.MethodPost, Path: "/api/admin/{entity}", Tag: "Admin", Summary: "Create an entity from the export form", Doc: "One with the same name is changed.", Roles: roles, Errors: []int{400, 404, 409}, Takes: web.Media{Of: exportForm{}}},
			func(ctx context.Context, in *struct {
				EntityPath
				RawBody []byte `contentType:"application/json"`
			}) (*web.Reply[saved], error) {
				return put(ctx, in.Entity, "", in.RawBody)
			}),
		web.Op(web.Operation{ID: "admin-update", Method: http.MethodPost, Path: "/api/admin/{entity}/{name}", Tag: "Admin", Summary: "Create or update an entity from the export form", Doc: "The name in the body must be that of the path. 409 when something else would not work any more.", Roles: roles, Errors: []int{400, 404, 409}, Takes: web.Media{Of: exportForm{}}},
			func(ctx context.Context, in *struct {
				NamedEntity
				RawBody []byte `contentType:"application/json"`
			}) (*web.Reply[saved], error) {
				return put(ctx, in.Entity, in.Name, in.RawBody)
			}),
		web.Op(web.Operation{ID: "admin-delete", Method: http.MethodDelete, Path: "/api/admin/{entity}/{name}", Tag: "Admin", Summary: "Remove an entity", Doc: "409 while something needs it, such as the documents of a content type.", Roles: roles, Errors: []int{404, 409}},
			func(ctx context.Context, in *NamedEntity) (*web.Reply[saved], error) {
				e, err := a.entity(in.Entity)
				if err != nil {
					return nil, err
				}
				id, err := e.Delete(ctx, in.Name)
				if err != nil {
					return nil, err
				}
				return web.Answer(saved{id, true, true})
			}),
	}
}
