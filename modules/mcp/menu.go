package mcp

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
)

// menu is what a caller may do, as far as it decides which tools there are.
type menu struct {
	types []port.DocumentType
}

// may reports whether the caller holds a right on any content type.
func (m *menu) may(r auth.Right) bool {
	return slices.ContainsFunc(m.types, func(t port.DocumentType) bool { return slices.Contains(t.Rights, r) })
}

func (m *menu) find(name string) *port.DocumentType {
	for i := range m.types {
		if m.types[i].Name == name {
			return &m.types[i]
		}
	}
	return nil
}

func always(*menu) bool { return true }

// toolbox holds the tools of the server and what is worked out of them.
type toolbox struct {
	service *Service
	all     []*tool
	byName  map[string]*tool

	mu    sync.Mutex
	cache map[string][]*sdk.Tool // of content types, by rights and configuration
}

// maxCached bounds the lists that are remembered.
const maxCached = 200

func newToolbox(s *Service) *toolbox {
	b := &toolbox{service: s, byName: map[string]*tool{}, cache: map[string][]*sdk.Tool{}}
	b.all = slices.Concat(s.accountTools(), s.documentTools(), s.searchTools(), s.releaseTools(), s.fileTools())
	for _, t := range b.all {
		resolved, err := schema(t.input)
		if err != nil {
			panic("mcp: the schema of " + t.name + ": " + err.Error()) // it stands in the program
		}
		t.resolved = resolved
		b.byName[t.name] = t
	}
	return b
}

// menu works out what the caller may do.
func (s *Service) menu(ctx context.Context) (*menu, error) {
	m := &menu{}
	if s.Editor == nil {
		return m, nil
	}
	var err error
	m.types, err = s.Editor.Types(ctx)
	return m, err
}

// catalogOf tells which catalogue the caller gets: the address of the client
// decides, then its token, then the configuration.
func (s *Service) catalogOf(ctx context.Context, c *caller) (string, error) {
	if c != nil && (c.query == catalogFull || c.query == catalogCompact) {
		return c.query, nil
	}
	if id := identity(ctx); id != nil && id.TokenID != 0 {
		name, err := s.store.catalog(ctx, id.TokenID)
		if name != "" || err != nil {
			return name, err
		}
	}
	return s.cfg.Catalog, nil
}

// listTools serves tools/list.
func (s *Service) listTools(ctx context.Context, req *sdk.ListToolsRequest, next sdk.MethodHandler) (sdk.Result, error) {
	catalog, err := s.catalogOf(ctx, callerOf(req))
	if err != nil {
		return nil, err
	}
	m, err := s.menu(ctx)
	if err != nil {
		return nil, err
	}
	out := &sdk.ListToolsResult{Tools: []*sdk.Tool{}, Cacheable: sdk.Cacheable{TTLMs: 60_000, CacheScope: "private"}}
	res, err := next(ctx, "tools/list", req) // checks the cursor, and knows the fixtures
	if err != nil {
		return nil, err
	}
	compact := catalog == catalogCompact
	for _, t := range s.tools.all {
		if (compact && t.compact || !compact && t.full) && t.offered(m) {
			out.Tools = append(out.Tools, t.sdk(!compact))
		}
	}
	if !compact {
		perType, err := s.tools.perType(ctx, m)
		if err != nil {
			return nil, err
		}
		out.Tools = append(out.Tools, perType...)
	}
	for _, t := range res.(*sdk.ListToolsResult).Tools {
		if s.tools.byName[t.Name] == nil && t.Name != hidden {
			out.Tools = append(out.Tools, t)
		}
	}
	taken := map[string]bool{}
	for _, t := range out.Tools {
		taken[t.Name] = true
	}
	contributed, err := s.contributed(ctx, taken)
	if err != nil {
		return nil, err
	}
	out.Tools = append(out.Tools, contributed...)
	return out, nil
}

// perType lists the tools of the content types of a menu.
func (b *toolbox) perType(ctx context.Context, m *menu) ([]*sdk.Tool, error) {
	s := b.service
	if s.Editor == nil {
		return nil, nil
	}
	version, err := s.Editor.ConfigVersion(ctx)
	if err != nil {
		return nil, err
	}
	granted := slices.Clone(identity(ctx).Granted)
	slices.Sort(granted)
	key, err := json.Marshal([]any{version, granted})
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	list, known := b.cache[string(key)]
	b.mu.Unlock()
	if known {
		return list, nil
	}
	for _, t := range m.types {
		list = append(list, s.readTool(t))
		if slices.Contains(t.Rights, auth.Create) || slices.Contains(t.Rights, auth.Edit) {
			save, err := s.saveTool(ctx, t)
			if err != nil {
				return nil, err
			}
			if err := listable(save); err != nil { // one content type must not cost an agent the tools of the others
				s.log.WarnContext(ctx, "the tool of a content type is left out", "content_type", t.Name, "tool", save.Name, "error", err)
				continue
			}
			list = append(list, save)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.cache) >= maxCached {
		clear(b.cache)
	}
	b.cache[string(key)] = list
	return list, nil
}

func (s *Service) readTool(t port.DocumentType) *sdk.Tool {
	return &sdk.Tool{
		Name: s.listedName(reading, t.Name), Title: "Read: " + t.Singular, Description: "Read a document of the content type " + t.Name + about(t),
		InputSchema: json.RawMessage(inputOuuid), OutputSchema: json.RawMessage(outputDocument), Annotations: hints(true, false, true, false),
	}
}

func (s *Service) saveTool(ctx context.Context, t port.DocumentType) (*sdk.Tool, error) {
	raw, err := s.Editor.Schema(ctx, t.Name)
	if err != nil {
		return nil, err
	}
	return &sdk.Tool{
		Name: s.listedName(saving, t.Name), Title: "Draft: " + t.Singular,
		Description: "Create a draft of the content type " + t.Name + ", or replace the data of a document by a draft when its ouuid is given. Nothing is published." + about(t),
		InputSchema: json.RawMessage(saveSchema(raw)), OutputSchema: json.RawMessage(outputSaved), Annotations: hints(false, false, false, false),
	}, nil
}

func about(t port.DocumentType) string {
	if t.Description == "" {
		return ""
	}
	const longest = 300
	text := t.Description
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "…"
	}
	return " " + text
}

// saveSchema is the input schema of a tool that saves documents with a schema.
// Definitions move to the root, where references look for them.
func saveSchema(document []byte) []byte {
	defs, has := rawjson.Get(document, "$defs")
	data := rawjson.Without(nil, document, "$schema", "$id", "$defs")
	b := append([]byte(`{"type":"object","properties":{"rawData":`), data...)
	b = append(b, `,"ouuid":{"type":"string","description":"of an existing document, or of the new one"}},"required":["rawData"],"additionalProperties":false`...)
	if has {
		b = append(append(b, `,"$defs":`...), defs...)
	}
	return append(b, '}')
}

// callTool serves tools/call: a name of a content type leads to the tool for all
// of them, a name of another module to that one.
func (s *Service) callTool(ctx context.Context, req *sdk.CallToolRequest, next sdk.MethodHandler) (sdk.Result, error) {
	if req.Params == nil {
		return nil, problem.New(problem.Invalid, "params are missing")
	}
	name := req.Params.Name
	if s.tools.byName[name] == nil {
		m, err := s.menu(ctx)
		if err != nil {
			return nil, err
		}
		if to, contentType := perTypeName(name, m.types, s.cfg.ToolNames); to != "" {
			args, err := withType(req.Params.Arguments, contentType)
			if err != nil {
				return s.wrongArguments(req, err)
			}
			return next(ctx, "tools/call", rename(req, to, args))
		}
		if c := s.choose(ctx, name); c != nil {
			return next(context.WithValue(ctx, chosenKey{}, c), "tools/call", rename(req, hidden, req.Params.Arguments))
		}
	}
	return next(ctx, "tools/call", req)
}

// rename makes the call one of another tool.
func rename(req *sdk.CallToolRequest, name string, args []byte) *sdk.CallToolRequest {
	params, out := *req.Params, *req
	params.Name, params.Arguments = name, args
	out.Params = &params
	return &out
}

// withType adds the content type to arguments.
func withType(args []byte, contentType string) ([]byte, error) {
	args, err := arguments(args, nil)
	if err != nil {
		return nil, err
	}
	if _, has := rawjson.Get(args, "contentType"); has {
		return nil, problem.New(problem.Invalid, "contentType is not an argument of this tool")
	}
	return rawjson.Set(nil, args, "contentType", rawjson.AppendString(nil, contentType)), nil
}
