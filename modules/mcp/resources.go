package mcp

import (
	"context"
	"strings"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/problem"
)

const jsonType = "application/json"

func templates() []*sdk.ResourceTemplate {
	return []*sdk.ResourceTemplate{
		{URITemplate: scheme + "documents/{contentType}/{ouuid}", Name: "document", Title: "Document", Description: "Newest revision of a document, which may be a draft", MIMEType: jsonType},
		{URITemplate: scheme + "environments/{environment}/documents/{contentType}/{ouuid}", Name: "published-document", Title: "Published document", Description: "A document as it is in an environment", MIMEType: jsonType},
		{URITemplate: scheme + "content-types/{name}/description", Name: "content-type", Title: "Content type", Description: "A content type and your rights", MIMEType: jsonType},
		{URITemplate: scheme + "content-types/{name}/schema", Name: "content-type-schema", Title: "Schema", Description: "JSON Schema of the documents of a content type", MIMEType: "application/schema+json"},
		{URITemplate: scheme + "environments/{name}/description", Name: "environment", Title: "Environment", Description: "An environment", MIMEType: jsonType},
		{URITemplate: scheme + "files/{hash}", Name: "file", Title: "File", Description: "The bytes of a file"},
	}
}

// listResources serves resources/list.
func (s *Service) listResources(ctx context.Context, req *sdk.ListResourcesRequest, next sdk.MethodHandler) (sdk.Result, error) {
	res, err := next(ctx, "resources/list", req) // checks the cursor, and knows the fixtures
	if err != nil {
		return nil, err
	}
	out := &sdk.ListResourcesResult{Resources: []*sdk.Resource{}, Cacheable: sdk.Cacheable{TTLMs: 60_000, CacheScope: "private"}}
	if s.Editor != nil {
		out.Resources = append(out.Resources, &sdk.Resource{URI: typesURI, Name: "content-types", Title: "Content types", Description: "The content types you may view", MIMEType: jsonType})
		m, err := s.menu(ctx)
		if err != nil {
			return nil, err
		}
		for _, t := range m.types {
			out.Resources = append(out.Resources, &sdk.Resource{
				URI: scheme + "content-types/" + t.Name + "/schema", Name: t.Name + "-schema", Title: "Schema of " + t.Singular,
				Description: "JSON Schema of the documents of " + t.Name, MIMEType: "application/schema+json",
			})
		}
	}
	if s.Types != nil {
		out.Resources = append(out.Resources, &sdk.Resource{URI: environmentsURI, Name: "environments", Title: "Environments", Description: "Where documents are published", MIMEType: jsonType})
	}
	for _, r := range res.(*sdk.ListResourcesResult).Resources {
		if r.URI != hiddenURI {
			out.Resources = append(out.Resources, r)
		}
	}
	for _, source := range s.Resources {
		list, err := source.Resources(ctx)
		if err != nil {
			s.log.WarnContext(ctx, "the resources of a source are left out", "source", source.SourceName(), "error", err)
			continue
		}
		for _, r := range list {
			out.Resources = append(out.Resources, &sdk.Resource{URI: r.URI, Name: r.Name, Title: r.Title, Description: r.Description, MIMEType: r.MIME, Size: r.Size})
		}
	}
	return out, nil
}

// listTemplates serves resources/templates/list.
func (s *Service) listTemplates(ctx context.Context, req *sdk.ListResourceTemplatesRequest, next sdk.MethodHandler) (sdk.Result, error) {
	res, err := next(ctx, "resources/templates/list", req)
	if err != nil {
		return nil, err
	}
	out := &sdk.ListResourceTemplatesResult{ResourceTemplates: templates(), Cacheable: sdk.Cacheable{TTLMs: 3_600_000, CacheScope: "private"}}
	out.ResourceTemplates = append(out.ResourceTemplates, res.(*sdk.ListResourceTemplatesResult).ResourceTemplates...)
	for _, source := range s.Resources {
		list, err := source.ResourceTemplates(ctx)
		if err != nil {
			s.log.WarnContext(ctx, "the resource templates of a source are left out", "source", source.SourceName(), "error", err)
			continue
		}
		for _, t := range list {
			out.ResourceTemplates = append(out.ResourceTemplates, &sdk.ResourceTemplate{URITemplate: t.Template, Name: t.Name, Title: t.Title, Description: t.Description, MIMEType: t.MIME})
		}
	}
	return out, nil
}

// readResource serves resources/read.
func (s *Service) readResource(ctx context.Context, req *sdk.ReadResourceRequest, next sdk.MethodHandler) (sdk.Result, error) {
	if req.Params == nil {
		return nil, problem.New(problem.Invalid, "params are missing")
	}
	if s.isFixture(req.Params.URI) {
		return next(ctx, "resources/read", req)
	}
	params, out := *req.Params, *req
	params.URI = hiddenURI
	out.Params = &params
	return next(context.WithValue(ctx, uriKey{}, req.Params.URI), "resources/read", &out)
}

type uriKey struct{}

// readAny is the handler of all resources: readResource leads to it.
func (s *Service) readAny(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	uri, _ := ctx.Value(uriKey{}).(string)
	contents, err := s.contents(ctx, uri)
	if problem.Is(err, problem.NotFound) {
		return nil, s.unknownResource(req, uri)
	}
	if err != nil {
		return nil, err
	}
	return &sdk.ReadResourceResult{Contents: contents, Cacheable: sdk.Cacheable{CacheScope: "private"}}, nil
}

// contents reads a resource: NotFound when there is none that the caller may
// read.
func (s *Service) contents(ctx context.Context, uri string) ([]*sdk.ResourceContents, error) {
	if a, ours := parseAddress(uri); ours {
		contents, err := s.own(ctx, uri, a)
		if contents != nil || err != nil && !problem.Is(err, problem.NotFound) {
			return contents, err
		}
	}
	for _, source := range s.Resources {
		list, err := source.ReadResource(ctx, uri)
		if problem.Is(err, problem.NotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		contents := []*sdk.ResourceContents{}
		for _, c := range list {
			contents = append(contents, &sdk.ResourceContents{URI: c.URI, MIMEType: c.MIME, Text: c.Text, Blob: c.Data})
		}
		return contents, nil
	}
	return nil, problem.New(problem.NotFound, "there is no such resource")
}

// own reads a resource of the server itself; nil and no error when it has none
// at the address.
func (s *Service) own(ctx context.Context, uri string, a address) ([]*sdk.ResourceContents, error) {
	switch {
	case a.kind == aFile && s.Files != nil:
		return s.fileContents(ctx, uri, a.hash)
	case (a.kind == aEnvironments || a.kind == aEnvironment) && s.Types != nil:
		return s.environmentContents(ctx, uri, a)
	case s.Editor == nil:
		return nil, nil
	}
	switch a.kind {
	case aDocument:
		return documentContents(uri)(s.Editor.Read(ctx, port.Key{Type: a.contentType, OUUID: a.ouuid}, 0))
	case aPublished:
		return documentContents(uri)(s.Editor.Published(ctx, port.Key{Type: a.contentType, OUUID: a.ouuid}, a.environment))
	case aTypes:
		all, err := s.typeInfos(ctx)
		if err != nil {
			return nil, err
		}
		return textContents(uri, map[string]any{"contentTypes": all})
	case aType:
		m, err := s.menu(ctx)
		if err != nil {
			return nil, err
		}
		t := m.find(a.contentType)
		if t == nil {
			return nil, nil
		}
		return textContents(uri, infoOf(*t))
	case aSchema:
		text, err := s.Editor.Schema(ctx, a.contentType)
		if err != nil {
			return nil, err
		}
		return []*sdk.ResourceContents{{URI: uri, MIMEType: "application/schema+json", Text: string(text)}}, nil
	}
	return nil, nil
}

func textContents(uri string, v any) ([]*sdk.ResourceContents, error) {
	r, err := object(v)
	if err != nil {
		return nil, err
	}
	return []*sdk.ResourceContents{{URI: uri, MIMEType: jsonType, Text: string(r.structured)}}, nil
}

func documentContents(uri string) func(*port.Revision, error) ([]*sdk.ResourceContents, error) {
	return func(r *port.Revision, err error) ([]*sdk.ResourceContents, error) {
		if err != nil {
			return nil, err
		}
		return textContents(uri, documentOf(r))
	}
}

func (s *Service) environmentContents(ctx context.Context, uri string, a address) ([]*sdk.ResourceContents, error) {
	environments, err := s.Types.Environments(ctx)
	if err != nil {
		return nil, err
	}
	type info struct {
		Name  string `json:"name"`
		Alias string `json:"alias"`
	}
	all := []info{}
	for _, e := range environments {
		if a.environment == e.Name {
			return textContents(uri, info{e.Name, e.Alias})
		}
		all = append(all, info{e.Name, e.Alias})
	}
	if a.kind == aEnvironment {
		return nil, nil
	}
	return textContents(uri, map[string]any{"environments": all})
}

func (s *Service) fileContents(ctx context.Context, uri, hash string) ([]*sdk.ResourceContents, error) {
	f, err := s.Files.File(ctx, hash)
	if err != nil {
		return nil, err
	}
	if f.Size > int64(s.cfg.MaxFile) {
		return nil, problem.New(problem.TooLarge, "the file has %d bytes; %s at most are given here: load it from /api/file/view/%s", f.Size, s.cfg.MaxFile, f.Hash)
	}
	bytes, err := s.readFile(ctx, f.Hash, 0, f.Size)
	if err != nil {
		return nil, err
	}
	c := &sdk.ResourceContents{URI: uri, MIMEType: f.Type}
	if strings.HasPrefix(f.Type, "text/") && utf8.Valid(bytes) {
		c.Text = string(bytes)
	} else {
		c.Blob = bytes
	}
	return []*sdk.ResourceContents{c}, nil
}

// longestURI is how long an address to follow may be, in bytes.
const longestURI = 2000

// maySubscribe refuses subscriptions to what the caller cannot read.
func (s *Service) maySubscribe(ctx context.Context, req *sdk.SubscribeRequest) error {
	c := callerOf(req)
	if len(req.Params.URI) > longestURI {
		return problem.New(problem.Invalid, "the uri is too long")
	}
	if c != nil && c.resumed || s.isFixture(req.Params.URI) {
		return nil
	}
	_, err := s.contents(ctx, req.Params.URI)
	if problem.Is(err, problem.TooLarge) {
		return nil
	}
	if problem.Is(err, problem.NotFound) {
		return s.unknownResource(req, req.Params.URI)
	}
	return err
}
