package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/telemetry"
)

const instructions = `A content management system. Documents have a content type and an ouuid; their data follows the schema of the type. ` +
	`Writing makes drafts only: nothing is public until it is finalized (into the default environment) or published (into another one), which a person confirms. ` +
	`Look at the schema of a content type before writing, search before creating, and show the diff of a draft before asking to finalize it.`

// newServer makes the server of the SDK, shared by all sessions: what each
// caller gets is decided for each request.
func (s *Service) newServer() *sdk.Server {
	server := sdk.NewServer(&sdk.Implementation{Name: "quoin", Title: "Quoin", Version: s.Version}, &sdk.ServerOptions{
		Instructions: instructions, Logger: slog.New(slog.DiscardHandler), PageSize: 10_000,
		Capabilities: &sdk.ServerCapabilities{
			Tools: &sdk.ToolCapabilities{ListChanged: true}, Resources: &sdk.ResourceCapabilities{ListChanged: true, Subscribe: true},
			Prompts: &sdk.PromptCapabilities{ListChanged: true}, Logging: &sdk.LoggingCapabilities{}, Completions: &sdk.CompletionCapabilities{},
		},
		CompletionHandler:  s.complete,
		SubscribeHandler:   s.maySubscribe,
		UnsubscribeHandler: func(context.Context, *sdk.UnsubscribeRequest) error { return nil },
	})
	for _, t := range s.tools.all {
		server.AddTool(t.sdk(true), s.handler(t))
	}
	s.touchLists(server)
	s.addPrompts(server)
	s.addFixtures(server)
	server.AddReceivingMiddleware(s.receive)
	server.AddSendingMiddleware(s.send)
	return server
}

// receive answers what differs from caller to caller and leaves the rest to the
// SDK. A panic ends the request only.
func (s *Service) receive(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (res sdk.Result, err error) {
		defer func() {
			if cause := recover(); cause != nil {
				err = s.rpc(ctx, fmt.Errorf("panic: %v\n%s", cause, debug.Stack()))
			}
		}()
		if c := callerOf(req); c != nil {
			ctx = telemetry.Carry(auth.With(ctx, c.identity), c.ctx)
		}
		res, err = s.method(ctx, method, req, next)
		if err != nil {
			return nil, s.rpc(ctx, err)
		}
		return res, nil
	}
}

func (s *Service) method(ctx context.Context, method string, req sdk.Request, next sdk.MethodHandler) (sdk.Result, error) {
	switch r := req.(type) {
	case *sdk.ServerRequest[*sdk.InitializeParams]:
		res, err := next(ctx, method, req)
		if out, ok := res.(*sdk.InitializeResult); ok && err == nil {
			err = s.initialized(ctx, r, out)
		}
		return res, err
	case *sdk.ServerRequest[*sdk.SetLoggingLevelParams]:
		if r.Params == nil || !slices.Contains(logLevels, r.Params.Level) {
			return nil, problem.New(problem.Invalid, "level must be one of %v", logLevels)
		}
		res, err := next(ctx, method, req)
		if err == nil && r.Session.ID() != "" {
			err = s.store.exec(ctx, setLogLevel, string(r.Params.Level), r.Session.ID())
		}
		return res, err
	case *sdk.ListToolsRequest:
		return s.listTools(ctx, r, next)
	case *sdk.CallToolRequest:
		return s.tracedTool(ctx, r, next)
	case *sdk.ListResourcesRequest:
		return s.listResources(ctx, r, next)
	case *sdk.ListResourceTemplatesRequest:
		return s.listTemplates(ctx, r, next)
	case *sdk.ReadResourceRequest:
		return s.readResource(ctx, r, next)
	case *sdk.SubscriptionsListenRequest:
		return s.listen(ctx, r, next)
	case *sdk.SubscribeRequest:
		res, err := next(ctx, method, req)
		if err == nil {
			err = s.subscribed(ctx, r.Session, callerOf(req), func(list []string) []string {
				if slices.Contains(list, r.Params.URI) {
					return list
				}
				return append(list, r.Params.URI)
			})
		}
		return res, err
	case *sdk.UnsubscribeRequest:
		res, err := next(ctx, method, req)
		if err == nil {
			err = s.subscribed(ctx, r.Session, callerOf(req), func(list []string) []string {
				return slices.DeleteFunc(list, func(u string) bool { return u == r.Params.URI })
			})
		}
		return res, err
	}
	return next(ctx, method, req)
}

// tracedTool makes a span of the call of a tool. One that told the client of its
// failure has worked as far as the protocol is concerned.
func (s *Service) tracedTool(ctx context.Context, r *sdk.CallToolRequest, next sdk.MethodHandler) (sdk.Result, error) {
	ctx, span := telemetry.Step(ctx, "tools/call", telemetry.Inside)
	if span.Recorded() {
		name := clipped(r.Params.Name)
		span.Name("tools/call " + name)
		span.Text("mcp.method.name", "tools/call")
		span.Text("gen_ai.tool.name", name)
	}
	res, err := s.callTool(ctx, r, next)
	if out, ok := res.(*sdk.CallToolResult); err == nil && ok && out.IsError {
		span.Text("error.type", "tool_error")
	}
	span.End(err)
	return res, err
}

// clipped bounds the name of a tool, which the client wrote.
func clipped(name string) string {
	const longest = 100
	return strings.ToValidUTF8(name[:min(len(name), longest)], "")
}

// logLevels are those of the protocol (RFC 5424).
var logLevels = []sdk.LoggingLevel{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// maxSubscriptions bounds the subscriptions of a session.
const maxSubscriptions = 1000

// subscribed stores a change of the subscriptions of a session and tells the
// other processes, one of which may hold the stream of the client.
func (s *Service) subscribed(ctx context.Context, ss *sdk.ServerSession, c *caller, change func([]string) []string) error {
	x := s.sessions.get(ss.ID())
	if x == nil || c == nil || c.resumed {
		return nil
	}
	tooMany := false
	err := s.store.subscribe(ctx, x.id, func(list []string) []string {
		changed := change(slices.Clone(list))
		if tooMany = len(changed) > maxSubscriptions; tooMany {
			return list
		}
		x.mu.Lock()
		x.subscribed = changed
		x.mu.Unlock()
		return changed
	})
	if err == nil && tooMany {
		err = problem.New(problem.TooManyRequests, "a session has %d subscriptions at most", maxSubscriptions)
	}
	if err == nil {
		s.tell(tellSubscribed, x.id)
	}
	return err
}

// rpc gives an error its JSON-RPC face; what is not for clients is logged.
func (s *Service) rpc(ctx context.Context, err error) error {
	var wire *jsonrpc.Error
	if errors.As(err, &wire) {
		return err
	}
	if text := err.Error(); strings.HasPrefix(text, "multi-round-trip: ") { // the client could not or would not answer
		return &jsonrpc.Error{Code: codeInvalidRequest, Message: text}
	}
	p := problem.From(err)
	if (p.Cause != nil || p.Kind == problem.Internal) && ctx.Err() == nil {
		s.log.ErrorContext(ctx, "a request of an agent failed", "error", err)
	}
	out := &jsonrpc.Error{Code: int64(p.Kind.RPCCode()), Message: p.Detail}
	if len(p.Fields) > 0 || p.Code != "" {
		out.Data, _ = json.Marshal(map[string]any{"code": p.Code, "errors": p.Fields}) // strings always marshal
	}
	return out
}
