package content

import (
	"context"
	"encoding/json"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/web"
)

type typeMeta struct {
	Alias       string `json:"alias" doc:"search alias of the default environment"`
	Environment string `json:"environment"`
}

type typeNames struct {
	Singular string `json:"singular_name"`
	Plural   string `json:"plural_name"`
	Alias    string `json:"default_alias"`
	Name     string `json:"default_name"`
}

type environmentMeta struct {
	Name     string `json:"name"`
	Managed  bool   `json:"managed"`
	Snapshot bool   `json:"snapshot"`
}

type draftMeta struct {
	ID       string          `json:"id" doc:"of the revision; a string, as clients expect it here"`
	OUUID    string          `json:"ouuid"`
	Type     string          `json:"content_type"`
	Circles  []string        `json:"circles"`
	SaveDate string          `json:"save_date"`
	Created  string          `json:"created"`
	By       string          `json:"created_by"`
	RawData  json.RawMessage `json:"raw_data,omitempty"`
}

// documentsMeta is the answer about documents, by ouuid.
type documentsMeta struct {
	Info map[string]documentMeta `json:"info"`
}

// documentMeta is where a document stands.
type documentMeta struct {
	ID        int64             `json:"id" doc:"the newest revision"`
	Draft     bool              `json:"draft" doc:"whether that is a draft"`
	Revisions map[string]*int64 `json:"revisions" doc:"environment → the revision that is published there; the default environment is always named"`
	Status    map[string]string `json:"status" doc:"environment → published, outdated or not_published"`
}

// metaOperations are the Meta endpoints (contract-notes 2.2).
func metaOperations(s *Service) []web.Operation {
	return append([]web.Operation{
		web.Op(web.Operation{ID: "meta-content-type", Method: http.MethodGet, Path: "/api/meta/content-type/{type}", Tag: "Meta", Summary: "Where a content type is searched", Doc: "The environment into which its documents are finalized, and the alias of that.", Errors: []int{404}},
			func(ctx context.Context, in *TypePath) (*web.Reply[typeMeta], error) {
				ct, err := s.types.contentType(ctx, in.Type)
				if err != nil {
					return nil, err
				}
				return web.Answer(typeMeta{ct.env.alias, ct.env.name})
			}),
		web.Op(web.Operation{ID: "meta-names", Method: http.MethodGet, Path: "/api/meta/{type}", Tag: "Meta", Summary: "Names of a content type", Doc: "For people, and for searches.", Errors: []int{404}},
			func(ctx context.Context, in *TypePath) (*web.Reply[typeNames], error) {
				ct, err := s.types.contentType(ctx, in.Type)
				if err != nil {
					return nil, err
				}
				return web.Answer(typeNames{ct.Singular, ct.Plural, ct.env.alias, ct.env.name})
			}),
		web.Op(web.Operation{ID: "content-type-schema", Method: http.MethodGet, Path: "/api/content-types/{type}/schema", Tag: "Meta", Summary: "JSON Schema of the documents of a content type", Doc: "Draft 2020-12. What it refuses, index and finalize refuse, too.", Errors: []int{404}, Answers: web.Media{Type: "application/schema+json", Of: map[string]any{}}},
			func(ctx context.Context, in *TypePath) (*web.Raw, error) {
				ct, err := s.allowed(ctx, in.Type, auth.View)
				if err != nil {
					return nil, err
				}
				return &web.Raw{ContentType: "application/schema+json", Body: ct.compiled.JSONSchema()}, nil
			}),
		web.Op(web.Operation{ID: "meta-environments", Method: http.MethodGet, Path: "/api/meta/environments", Tag: "Meta", Summary: "Environments", Doc: "In the order of the configuration."},
			func(ctx context.Context, in *struct {
				Managed  string `query:"managed" enum:"true,false,1,0" doc:"only those that are managed here, or only the others"`
				Snapshot string `query:"snapshot" enum:"true,false,1,0" doc:"only those that nobody writes to any more, or only the others"`
			}) (*web.Reply[[]environmentMeta], error) {
				cat, err := s.types.get(ctx)
				if err != nil {
					return nil, err
				}
				wanted := func(filter string, is bool) bool {
					return filter == "" || (filter == "true" || filter == "1") == is
				}
				all := []environmentMeta{}
				for _, env := range cat.sortedEnvs {
					if wanted(in.Managed, env.managed) && wanted(in.Snapshot, env.snapshot) {
						all = append(all, environmentMeta{env.name, env.managed, env.snapshot})
					}
				}
				return web.Answer(all)
			}),
	}, metaDocuments(s)...)
}

func metaDocuments(s *Service) []web.Operation {
	return []web.Operation{
		web.Op(web.Operation{ID: "meta-drafts", Method: http.MethodGet, Path: "/api/meta/drafts", Tag: "Meta", Summary: "Drafts in work, newest first", Doc: "Those of the content types that the caller may view."},
			func(ctx context.Context, in *struct {
				Raw     bool     `query:"includeRawData" doc:"with the data of each draft"`
				Limit   int      `query:"limit" default:"500" minimum:"1" maximum:"5000" doc:"how many at most"`
				Circles []string `query:"circles,explode" doc:"only documents of one of these circles"`
			}) (*web.Reply[[]draftMeta], error) {
				list, err := s.drafts(ctx, in.Limit, in.Raw, in.Circles)
				if err != nil {
					return nil, err
				}
				return web.Answer(list)
			}),
		web.Op(web.Operation{ID: "meta-documents", Method: http.MethodPost, Path: "/api/meta/info/documents", Tag: "Meta", Summary: "In which environments documents are",
			Doc: "The answer has, by ouuid, the newest revision of each document and, by environment, the revision that is published there and whether it is the newest finalized one. " +
				"Of documents of two types with the same ouuid the second one is named by its link. What does not exist, or the caller may not view, is missing."},
			func(ctx context.Context, in *struct {
				Body struct {
					Environments []string `json:"environments,omitempty" doc:"only these and the default one of the content type; none: all"`
					Links        []string `json:"emsLinks" maxItems:"1000" doc:"contenttype:ouuid, or ems://object:contenttype:ouuid as in texts"`
				}
			}) (*web.Reply[documentsMeta], error) {
				info, err := s.documentInfo(ctx, in.Body.Links, in.Body.Environments)
				if err != nil {
					return nil, err
				}
				return web.Answer(documentsMeta{info})
			}),
		web.Op(web.Operation{ID: "meta-alias-attach", Method: http.MethodPost, Path: "/api/meta/alias-attach-environment", Tag: "Meta", Summary: "Put an environment behind a managed alias",
			Doc: "The alias may be named with or without the instance id. An environment that is there already stays.", Roles: []string{auth.RoleAPI, auth.RoleAdmin}, Errors: []int{404}},
			func(ctx context.Context, in *struct {
				Body struct {
					Environment string `json:"environment" minLength:"1"`
					Alias       string `json:"alias" minLength:"1"`
				}
			}) (*web.Reply[map[string]bool], error) {
				if err := s.AttachAlias(ctx, in.Body.Alias, in.Body.Environment); err != nil {
					return nil, err
				}
				return web.Answer(map[string]bool{"success": true})
			}),
	}
}

// drafts lists the drafts of the content types that the caller may view.
func (s *Service) drafts(ctx context.Context, limit int, raw bool, circles []string) ([]draftMeta, error) {
	id, err := auth.Require(ctx)
	if err != nil {
		return nil, err
	}
	cat, err := s.types.get(ctx)
	if err != nil {
		return nil, err
	}
	list := []draftMeta{}
	err = s.store.each(ctx, selectDrafts, nil, func(r *revision) bool {
		ct := cat.typesByID[r.TypeID]
		if ct == nil || !ct.usable() || !ct.rights.Allows(id, auth.View) {
			return true
		}
		of := ct.circlesOf(r.Raw)
		if len(circles) > 0 && !slices.ContainsFunc(of, func(c string) bool { return slices.Contains(circles, c) }) {
			return true
		}
		at := db.Time(r.CreatedAt).Format(web.Atom)
		d := draftMeta{ID: strconv.FormatInt(r.ID, 10), OUUID: r.OUUID, Type: ct.Name, Circles: of, SaveDate: at, Created: at, By: r.CreatedBy}
		if raw {
			d.RawData = r.Raw
		}
		list = append(list, d)
		return len(list) < limit
	})
	return list, err
}

// documentInfo tells of each link where the document stands.
func (s *Service) documentInfo(ctx context.Context, links, environments []string) (map[string]documentMeta, error) {
	info := map[string]documentMeta{}
	for _, link := range links {
		typeName, ouuid, ok := splitLink(link)
		if !ok {
			return nil, problem.Field(problem.Invalid, "emsLinks", "%q is not contenttype:ouuid", link)
		}
		ct, err := s.allowed(ctx, typeName, auth.View)
		if problem.Is(err, problem.NotFound) || problem.Is(err, problem.Forbidden) {
			continue
		}
		if err != nil {
			return nil, err
		}
		d, err := s.whereabouts(ctx, ct, ouuid, environments)
		if err != nil {
			return nil, err
		}
		if other, taken := info[ouuid]; taken && d != nil && other.ID != d.ID {
			ouuid = ct.Name + ":" + ouuid
		}
		if d != nil {
			info[ouuid] = *d
		}
	}
	return info, nil
}

// splitLink reads contenttype:ouuid, and the form of links in texts:
// ems://object:contenttype:ouuid, perhaps with a query behind it.
func splitLink(link string) (typeName, ouuid string, ok bool) {
	if inText, is := strings.CutPrefix(link, "ems://"); is {
		link, _, _ = strings.Cut(inText, "?")
		if _, rest, _ := strings.Cut(link, ":"); strings.Contains(rest, ":") {
			link = rest
		}
	}
	return strings.Cut(link, ":")
}

// whereabouts gives the state of a document; nil when there is none.
func (s *Service) whereabouts(ctx context.Context, ct *contentType, ouuid string, environments []string) (*documentMeta, error) {
	heads, err := s.store.list(ctx, selectRevisions, ct.id, ouuid, int64(math.MaxInt64), 1)
	if err != nil || len(heads) == 0 || heads[0].Deleted {
		return nil, err
	}
	in, err := s.store.publications(ctx, ct.id, ouuid)
	if err != nil {
		return nil, err
	}
	cat, err := s.types.get(ctx)
	if err != nil {
		return nil, err
	}
	newest := heads[0].ID // of the finalized ones, 0 for none
	if heads[0].Draft {
		newest = in[ct.env.id]
	}
	d := &documentMeta{ID: heads[0].ID, Draft: heads[0].Draft, Revisions: map[string]*int64{}, Status: map[string]string{}}
	for _, env := range cat.sortedEnvs {
		own := env.id == ct.env.id
		if !own && len(environments) > 0 && !slices.Contains(environments, env.name) {
			continue
		}
		switch rev, there := in[env.id]; {
		case !there:
			d.Status[env.name] = "not_published"
			if own {
				d.Revisions[env.name] = nil
			}
		case rev == newest:
			d.Status[env.name], d.Revisions[env.name] = "published", &rev
		default:
			d.Status[env.name], d.Revisions[env.name] = "outdated", &rev
		}
	}
	return d, nil
}
