package mcp

import (
	"context"
	"net/http"
	"strings"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/web"
)

const (
	tag          = "MCP"
	path         = "/api/mcp"
	metadataPath = "/.well-known/oauth-protected-resource"
)

func operations(s *Service) []web.Operation {
	direct := func(fn func(http.ResponseWriter, *http.Request) error) func(context.Context, *web.None) (*web.Stream, error) {
		return func(context.Context, *web.None) (*web.Stream, error) { return web.Direct(fn), nil }
	}
	const doc = "Model Context Protocol, revisions 2024-11-05 to 2026-07-28 on one address: sessions with Mcp-Session-Id up to 2025-11-25, requests without from 2026-07-28 on. " +
		"The answer is JSON unless Accept names text/event-stream. ?catalog=compact lists few general tools, ?catalog=full those of every content type."
	return []web.Operation{
		web.Op(web.Operation{
			ID: "mcp", Method: http.MethodPost, Path: path, Tag: tag, Summary: "Speak to the server as an agent", Doc: doc,
			MaxBody: -1, Errors: []int{403, 404, 413, 415}, Refuse: s.refuse,
			Takes:   web.Media{Of: map[string]any{}, Doc: "a message of JSON-RPC, or up to 2025-03-26 a list of them"},
			Answers: web.Media{Type: "application/json, text/event-stream", Doc: "the answer in JSON-RPC, or a stream of events"}, Says: map[int]web.Media{http.StatusAccepted: {}},
		}, direct(s.post)),
		web.Op(web.Operation{
			ID: "mcp-stream", Method: http.MethodGet, Path: path, Tag: tag, Summary: "Hear what the server tells a session", Doc: "A stream of events; Last-Event-ID goes on with one that broke off.",
			Errors: []int{404, 405, 406}, Refuse: s.refuse,
			Answers: web.Media{Type: "text/event-stream", Doc: "a stream of events"},
		}, direct(s.get)),
		web.Op(web.Operation{
			ID: "mcp-end", Method: http.MethodDelete, Path: path, Tag: tag, Summary: "End a session", Errors: []int{404, 405}, Refuse: s.refuse,
			Doc: "Its streams end, and its id is not known any more.", Says: map[int]web.Media{http.StatusNoContent: {}},
		}, direct(s.delete)),
		web.Op(web.Operation{
			ID: "mcp-preflight", Method: http.MethodOptions, Path: path, Tag: tag, Summary: "What a browser asks first", Public: true,
			Doc: "CORS, for the origins of the configuration.", Says: map[int]web.Media{http.StatusNoContent: {}},
		}, direct(s.preflight)),
		web.Op(web.Operation{
			ID: "mcp-metadata", Method: http.MethodGet, Path: metadataPath + path, Also: []string{metadataPath}, Tag: tag, Public: true,
			Summary: "Metadata of the protected resource (RFC 9728)", Answers: web.Media{Of: map[string]any{}},
			Doc: "Where a client gets a token; a refusal without one names this address.",
		}, direct(s.metadata)),
		web.Op(web.Operation{
			ID: "mcp-catalog", Method: http.MethodPut, Path: path + "/catalog", Tag: tag, Roles: []string{}, Errors: []int{400},
			Summary: "Choose the catalogue of tools for the token in use", Doc: "catalog is full, compact, or empty for the one of the server.",
		}, s.chooseCatalog),
	}
}

// choice is what a token gets to see.
type choice struct {
	Catalog string `json:"catalog" enum:"full,compact," doc:"full, compact or empty"`
}

func (s *Service) chooseCatalog(ctx context.Context, in *struct{ Body choice }) (*web.Reply[choice], error) {
	id := auth.From(ctx)
	if id == nil || id.TokenID == 0 {
		return nil, problem.New(problem.Invalid, "there is no token to choose for")
	}
	var err error
	if in.Body.Catalog == "" {
		err = s.store.exec(ctx, dropCatalog, id.TokenID)
	} else {
		err = s.store.exec(ctx, setCatalog, id.TokenID, in.Body.Catalog)
	}
	if err != nil {
		return nil, err
	}
	return web.Answer(in.Body)
}

// refuse answers who may not pass, in the form of JSON-RPC. A client without a
// token learns where to get one (RFC 9728, 5.1).
func (s *Service) refuse(w http.ResponseWriter, r *http.Request, err error) {
	if !s.refusedOrigin(r) {
		s.allow(w, r)
	}
	if problem.Is(err, problem.Unauthenticated) {
		challenge := `Bearer realm="quoin"`
		if tokenOf(r) != "" {
			challenge += `, error="invalid_token"`
		}
		w.Header().Set("WWW-Authenticate", challenge+`, resource_metadata="`+s.address(r)+metadataPath+path+`"`)
	}
	failWith(w, err, nil)
}

// address is how the client reaches this server, without a slash at the end.
func (s *Service) address(r *http.Request) string {
	if s.cfg.PublicURL != "" {
		return strings.TrimSuffix(s.cfg.PublicURL, "/")
	}
	scheme, host := web.Reached(r)
	host = strings.Map(func(c rune) rune {
		if c > ' ' && c < 0x7f && c != '"' && c != '\\' && c != '<' && c != '>' {
			return c
		}
		return -1
	}, host)
	return scheme + "://" + host
}

// base is address for the caller of a tool.
func (s *Service) base(c *call) string {
	if caller := callerOf(c.req); caller != nil && caller.address != "" {
		return caller.address
	}
	return strings.TrimSuffix(s.cfg.PublicURL, "/")
}

// metadata serves the metadata of the protected resource.
func (s *Service) metadata(w http.ResponseWriter, r *http.Request) error {
	out, err := object(struct {
		Resource string   `json:"resource"`
		Servers  []string `json:"authorization_servers,omitempty"`
		Methods  []string `json:"bearer_methods_supported"`
		Name     string   `json:"resource_name"`
	}{s.address(r) + path, s.cfg.AuthorizationServers, []string{"header"}, "Quoin"})
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.WriteHeader(http.StatusOK)
	_, err = w.Write(out.structured)
	return err
}
