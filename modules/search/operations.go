package search

import (
	"context"
	"net/http"
	"slices"

	"github.com/quoin-cms/quoin/core/rawjson"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/web"
)

const tag = "Search"

// body is the input of every endpoint that takes one.
type body struct {
	RawBody []byte `contentType:"application/json"`
}

// operations are the endpoints of search (spec.md 4.8, contract-notes 1.8).
func operations(s *Service) []web.Operation {
	return slices.Concat(searching(s), scrolling(s), state(s), names(s), analyzing(s))
}

const searchDoc = `The body is {"search":"…"}: a search object (indices, query or queryArray, contentTypes, sources, aggs, sort, from, size, regex, post_filter) as a JSON string; the object itself will do. ` +
	"Names of indexes are those of the installation, aliases or patterns with *; an unknown name is 404, none means all. Only content types that the caller may view are counted and answered. " +
	"A clause that is not supported is 400 with its path. 503 with Retry-After: the index is being built after a start."

func searching(s *Service) []web.Operation {
	limit := int64(s.cfg.MaxRequest)
	return []web.Operation{
		web.Op(web.Operation{
			ID: "search", Method: http.MethodPost, Path: "/api/search/search", Tag: tag, MaxBody: limit,
			Summary: "Search documents", Doc: searchDoc, Errors: []int{400, 404, 413, 503},
			Takes: web.Media{Of: searchBody{}}, Answers: web.Media{Of: Found{}},
		}, func(ctx context.Context, in *body) (*web.Raw, error) {
			text, err := searchText(in.RawBody)
			if err != nil {
				return nil, err
			}
			out, err := s.Search(ctx, text)
			if err != nil {
				return nil, err
			}
			size := 512
			for i := range out.Hits {
				size += len(out.Hits[i].Source) + 256
			}
			return web.JSON(out.AppendJSON(make([]byte, 0, size)))
		}),
		web.Op(web.Operation{
			ID: "search-count", Method: http.MethodPost, Path: "/api/search/count", Tag: tag, MaxBody: limit,
			Summary: "Count documents", Doc: searchDoc, Errors: []int{400, 404, 413, 503}, Takes: web.Media{Of: searchBody{}},
		}, func(ctx context.Context, in *body) (*web.Reply[countAnswer], error) {
			text, err := searchText(in.RawBody)
			if err != nil {
				return nil, err
			}
			n, err := s.Count(ctx, text)
			if err != nil {
				return nil, err
			}
			return web.Answer(countAnswer{n})
		}),
		web.Op(web.Operation{
			ID: "search-document", Method: http.MethodPost, Path: "/api/search/document", Tag: tag,
			Summary: "Read a document as it is published", Errors: []int{400, 404, 409, 503},
			Takes: web.Media{Of: lookupBody{}}, Answers: web.Media{Of: lookupAnswer{}},
			Doc: `The body is {"index":…,"content-type":…,"ouuid":…,"source-includes":[…],"source-excludes":[…]}; content-type may be null. An ouuid that several content types have is 409 without it.`,
		}, func(ctx context.Context, in *body) (*web.Raw, error) {
			p := parse(in.RawBody)
			l := Lookup{Index: p.name("index"), Type: p.text("content-type"), OUUID: p.name("ouuid"), Source: search.SourceFilter{
				Includes: p.list("source-includes", "sources-includes"), Excludes: p.list("source-excludes", "sources-excludes"),
			}}
			if p.err != nil {
				return nil, p.err
			}
			hit, err := s.Document(ctx, l)
			if err != nil {
				return nil, err
			}
			b := make([]byte, 0, len(hit.Source)+len(hit.Index)+len(hit.Key.OUUID)+64)
			b = append(append(b, `{"_source":`...), hit.Source...)
			b = rawjson.AppendString(append(b, `,"_id":`...), hit.Key.OUUID)
			b = rawjson.AppendString(append(b, `,"_index":`...), hit.Index)
			return web.JSON(append(b, '}'))
		}),
	}
}

func searchText(raw []byte) ([]byte, error) {
	in := parse(raw)
	text := in.search()
	return text, in.err
}

// refreshBody may be missing altogether.
type refreshBody struct {
	_     struct{} `additionalProperties:"true"`
	Index *string  `json:"index,omitempty" nullable:"true" maxLength:"4096" doc:"index or alias"`
}

type (
	countAnswer struct {
		Count int64 `json:"count"`
	}
	versionAnswer struct {
		Version string `json:"version" doc:"version of the query language, as Elasticsearch numbers it: what clients compare"`
	}
	healthAnswer struct {
		Status string `json:"status" enum:"green,yellow,red" doc:"red while the indexes are filled after a start"`
	}
	successAnswer struct {
		Success bool `json:"success"`
	}
	existAnswer struct {
		Exist bool `json:"exist"`
	}
	indicesAnswer struct {
		Indices []string `json:"indices" nullable:"false"`
	}
	aliasesAnswer struct {
		Aliases []string `json:"aliases" nullable:"false"`
	}
	typesAnswer struct {
		Indices map[string][]string `json:"indices" doc:"content type → indexes that hold documents of it"`
	}
)

func state(s *Service) []web.Operation {
	return []web.Operation{
		web.Op(web.Operation{
			ID: "search-version", Method: http.MethodGet, Path: "/api/search/version", Tag: tag,
			Summary: "Version of the query language",
			Doc:     "The version of Elasticsearch whose query language is understood; not that of this program.",
		}, func(context.Context, *web.None) (*web.Reply[versionAnswer], error) {
			return web.Answer(versionAnswer{languageVersion})
		}),
		web.Op(web.Operation{
			ID: "search-health", Method: http.MethodGet, Path: "/api/search/health-status", Tag: tag,
			Summary: "Health of the search indexes", Doc: "green when every index answers.",
		}, func(ctx context.Context, _ *web.None) (*web.Reply[healthAnswer], error) {
			return web.Answer(healthAnswer{s.Health(ctx)})
		}),
		web.Op(web.Operation{
			ID: "search-refresh", Method: http.MethodPost, Path: "/api/search/refresh", Tag: tag,
			Summary: "Wait until everything that was written is searchable", Errors: []int{400, 404, 503},
			Doc: `The body is {"index":…}, or nothing; whatever the index, everything is waited for. A changed configuration of content types or analyzers is taken into account.`,
		}, func(ctx context.Context, in *struct{ Body *refreshBody }) (*web.Reply[successAnswer], error) {
			index := ""
			if in.Body != nil && in.Body.Index != nil {
				index = *in.Body.Index
			}
			if err := s.Refresh(ctx, index); err != nil {
				return nil, err
			}
			return web.Answer(successAnswer{true})
		}),
	}
}

// names are the endpoints about the names of indexes.
func names(s *Service) []web.Operation {
	indices := func(id, key, summary string, takes any, read func(*input) []string) web.Operation {
		return web.Op(web.Operation{
			ID: "search-" + id, Method: http.MethodPost, Path: "/api/search/" + id, Tag: tag, Summary: summary, Errors: []int{400, 404},
			Doc: "The indexes in force; an unknown alias is 404.", Takes: web.Media{Of: takes},
		}, func(ctx context.Context, in *body) (*web.Reply[indicesAnswer], error) {
			p := parse(in.RawBody)
			aliases := read(p)
			if p.err != nil {
				return nil, p.err
			}
			found, err := s.Indices(ctx, key, aliases)
			if err != nil {
				return nil, err
			}
			return web.Answer(indicesAnswer{found})
		})
	}
	return []web.Operation{
		indices("indices-from-alias", "alias", "List the indexes of an alias", aliasBody{}, func(p *input) []string { return []string{p.name("alias")} }),
		indices("indices-from-aliases", "aliases", "List the indexes of several aliases", aliasesBody{}, func(p *input) []string { return p.list("aliases") }),
		web.Op(web.Operation{
			ID: "search-has-index", Method: http.MethodPost, Path: "/api/search/has-index", Tag: tag,
			Summary: "Tell whether there is an index or alias", Errors: []int{400},
			Doc: "Clients ask before they read a document.", Takes: web.Media{Of: indexBody{}},
		}, func(ctx context.Context, in *body) (*web.Reply[existAnswer], error) {
			p := parse(in.RawBody)
			index := p.name("index")
			if p.err != nil {
				return nil, p.err
			}
			exist, err := s.Exists(ctx, index)
			if err != nil {
				return nil, err
			}
			return web.Answer(existAnswer{exist})
		}),
		web.Op(web.Operation{
			ID: "search-aliases-from-index", Method: http.MethodPost, Path: "/api/search/aliases-from-index", Tag: tag,
			Summary: "List the aliases of an index", Errors: []int{400, 404},
			Doc: "Of its environment, and managed ones.", Takes: web.Media{Of: indexBody{}},
		}, func(ctx context.Context, in *body) (*web.Reply[aliasesAnswer], error) {
			p := parse(in.RawBody)
			index := p.name("index")
			if p.err != nil {
				return nil, p.err
			}
			aliases, err := s.AliasesOf(ctx, index)
			if err != nil {
				return nil, err
			}
			return web.Answer(aliasesAnswer{aliases})
		}),
		web.Op(web.Operation{
			ID: "search-indices-for-content-type", Method: http.MethodPost, Path: "/api/search/indices-for-content-type", Tag: tag,
			Summary: "List the indexes that hold each content type", Errors: []int{400, 404, 503},
			Doc: "Only content types that the caller may view.", Takes: web.Media{Of: aliasesBody{}},
		}, func(ctx context.Context, in *body) (*web.Reply[typesAnswer], error) {
			p := parse(in.RawBody)
			aliases := p.list("aliases")
			if p.err != nil {
				return nil, p.err
			}
			byType, err := s.IndicesByType(ctx, aliases)
			if err != nil {
				return nil, err
			}
			return web.Answer(typesAnswer{byType})
		}),
	}
}
