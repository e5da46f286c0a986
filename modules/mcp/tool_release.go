package mcp

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/problem"
)

// releaseTools show what a draft changes, and make it public once a person has
// agreed.
func (s *Service) releaseTools() []*tool {
	if s.Editor == nil {
		return nil
	}
	releases := func(m *menu) bool { return s.cfg.Publishing && m.may(auth.Publish) }
	return []*tool{
		{
			name: "diff", title: "Differences", description: "What a draft changes; or a revision against another or an environment.",
			input: `{"type":"object","properties":{` + argType + `,` + argOuuid + `,"revisionId":{"type":"integer"},"against":{"type":"integer"},"environment":{"type":"string"}},` +
				`"required":["contentType","ouuid"],"additionalProperties":false}`,
			output:   `{"type":"object","properties":{"changes":{"type":"array","items":{"type":"object"}}},"required":["changes"]}`,
			readOnly: true, idempotent: true, full: true, compact: true, offered: func(m *menu) bool { return m.may(auth.View) }, run: s.runDiff,
		}, {
			name: "finalize_document", title: "Finalize", description: "Ask a person to finalize a draft, which makes it public in the default environment.",
			input:  `{"type":"object","properties":{` + argType + `,` + argOuuid + `},"required":["contentType","ouuid"],"additionalProperties":false}`,
			output: outputReleased, destructive: true, idempotent: true, full: true, compact: true, offered: releases, run: s.runFinalize,
		}, {
			name: "publish_document", title: "Publish", description: "Ask a person to publish a finalized revision (default: the newest) in an environment.",
			input: `{"type":"object","properties":{` + argType + `,` + argOuuid + `,"environment":{"type":"string"},"revisionId":{"type":"integer"}},` +
				`"required":["contentType","ouuid","environment"],"additionalProperties":false}`,
			output: outputReleased, destructive: true, idempotent: true, full: true, compact: true, offered: releases, run: s.runPublish,
		}, {
			name: "discard_draft", title: "Discard draft", description: "Ask a person to throw a draft away.",
			input:  `{"type":"object","properties":{` + argType + `,` + argOuuid + `},"required":["contentType","ouuid"],"additionalProperties":false}`,
			output: outputReleased, destructive: true, full: true, offered: func(m *menu) bool { return m.may(auth.Edit) }, run: s.runDiscard,
		},
	}
}

const outputReleased = `{"type":"object","properties":{"contentType":{"type":"string"},"ouuid":{"type":"string"},"revisionId":{"type":"integer"},"draft":{"type":"boolean"},` +
	`"environment":{"type":"string"},"notices":{"type":"array","items":{"type":"string"}}},"required":["contentType","ouuid","revisionId"]}`

func (s *Service) runDiff(ctx context.Context, c *call) (*result, error) {
	var a struct {
		target
		Against int64 `json:"against"`
	}
	if err := c.into(&a); err != nil {
		return nil, err
	}
	to, err := s.Editor.Read(ctx, a.key(), a.RevisionID)
	if err != nil {
		return nil, err
	}
	var from *port.Revision
	switch {
	case a.Against != 0:
		from, err = s.Editor.Read(ctx, a.key(), a.Against)
	case a.Environment != "":
		from, err = s.Editor.Published(ctx, a.key(), a.Environment)
	default:
		from, err = s.before(ctx, to)
	}
	if err != nil {
		return nil, err
	}
	out := map[string]any{"contentType": a.ContentType, "ouuid": a.OUUID, "revisionId": to.ID, "changes": differences(from, to)}
	if from != nil {
		out["against"] = from.ID
	}
	return object(out)
}

// before gives the revision that another one would take the place of: the one
// in the default environment. Nil when there is none.
func (s *Service) before(ctx context.Context, r *port.Revision) (*port.Revision, error) {
	m, err := s.menu(ctx)
	if err != nil {
		return nil, err
	}
	t := m.find(r.Key.Type)
	if t == nil {
		return nil, problem.New(problem.NotFound, "there is no content type %q", r.Key.Type)
	}
	return s.inEnvironment(ctx, r.Key, t.Environment)
}

func (s *Service) inEnvironment(ctx context.Context, k port.Key, environment string) (*port.Revision, error) {
	from, err := s.Editor.Published(ctx, k, environment)
	if problem.Is(err, problem.NotFound) && problem.From(err).Code == "unknown_document" {
		return nil, nil
	}
	return from, err
}

// release is something that a person has to agree to.
type release struct {
	Tool        string `json:"t"`
	Type        string `json:"c"`
	OUUID       string `json:"o"`
	Revision    int64  `json:"r"`
	ETag        string `json:"e"`
	Environment string `json:"n,omitempty"`
	Before      int64  `json:"b,omitempty"` // what is public now
	User        int64  `json:"u"`
	Token       int64  `json:"k"`
	Until       int64  `json:"x"` // seconds
}

func (s *Service) runFinalize(ctx context.Context, c *call) (*result, error) {
	t, err := targetOf(c)
	if err != nil {
		return nil, err
	}
	if err := s.mayRelease(ctx, t.ContentType); err != nil {
		return nil, err
	}
	return s.endDraft(ctx, c, t, "finalize", "Finalize the draft of %s %s? It becomes public in the default environment.", s.Editor.Finalize)
}

func (s *Service) runDiscard(ctx context.Context, c *call) (*result, error) {
	t, err := targetOf(c)
	if err != nil {
		return nil, err
	}
	return s.endDraft(ctx, c, t, "discard", "Throw the draft of %s %s away? These changes are lost.", s.Editor.Discard)
}

// endDraft does with the draft of a document what a person agrees to.
func (s *Service) endDraft(ctx context.Context, c *call, t *target, tool, question string, end func(ctx context.Context, k port.Key, revision int64, etag string) (*port.Saved, error)) (*result, error) {
	r, err := s.draft(ctx, t)
	if err != nil {
		return nil, err
	}
	from, err := s.before(ctx, r)
	if err != nil {
		return nil, err
	}
	asked, err := s.agreed(ctx, c, release{Tool: tool, Revision: r.ID, ETag: r.ETag}, fmt.Sprintf(question, r.Key.Type, r.Key.OUUID), from, r)
	if asked != nil || err != nil {
		return asked, err
	}
	o, err := end(ctx, r.Key, r.ID, r.ETag)
	if err != nil {
		return nil, err
	}
	return object(savedOf(o))
}

func (s *Service) runPublish(ctx context.Context, c *call) (*result, error) {
	t, err := targetOf(c)
	if err != nil {
		return nil, err
	}
	if err := s.mayRelease(ctx, t.ContentType); err != nil {
		return nil, err
	}
	r, err := s.finalized(ctx, t)
	if err != nil {
		return nil, err
	}
	from, err := s.inEnvironment(ctx, r.Key, t.Environment)
	if err != nil {
		return nil, err
	}
	question := fmt.Sprintf("Publish revision %d of %s %s in the environment %s?", r.ID, r.Key.Type, r.Key.OUUID, t.Environment)
	asked, err := s.agreed(ctx, c, release{Tool: "publish", Revision: r.ID, ETag: r.ETag, Environment: t.Environment}, question, from, r)
	if asked != nil || err != nil {
		return asked, err
	}
	o, err := s.Editor.Publish(ctx, r.Key, r.ID, t.Environment)
	if err != nil {
		return nil, err
	}
	d := savedOf(o)
	d.Environment = t.Environment
	return object(d)
}

// mayRelease checks the right to make documents of a type public, which
// finalizing does as much as publishing.
func (s *Service) mayRelease(ctx context.Context, contentType string) error {
	if !s.cfg.Publishing {
		return problem.New(problem.Forbidden, "agents may not finalize or publish on this server: leave the draft to a person")
	}
	m, err := s.menu(ctx)
	if err != nil {
		return err
	}
	t := m.find(contentType)
	if t == nil {
		return problem.New(problem.NotFound, "there is no content type %q", contentType)
	}
	for _, r := range t.Rights {
		if r == auth.Publish {
			return nil
		}
	}
	return problem.New(problem.Forbidden, "you may not publish documents of %s: leave the draft to somebody who may", contentType)
}

// draft gives the draft of a document.
func (s *Service) draft(ctx context.Context, t *target) (*port.Revision, error) {
	r, err := s.Editor.Read(ctx, t.key(), 0)
	if err == nil && !r.Draft {
		err = problem.New(problem.Conflict, "the document has no draft").WithCode("no_draft")
	}
	return r, err
}

// finalized gives the revision to publish.
func (s *Service) finalized(ctx context.Context, t *target) (*port.Revision, error) {
	r, err := s.Editor.Read(ctx, t.key(), t.RevisionID)
	if err != nil || !r.Draft {
		return r, err
	}
	if t.RevisionID != 0 {
		return nil, problem.New(problem.Conflict, "revision %d is a draft: finalize it first", r.ID).WithCode("draft_exists")
	}
	list, err := s.Editor.History(ctx, t.key(), 2)
	if err != nil {
		return nil, err
	}
	for _, h := range list {
		if !h.Draft {
			return s.Editor.Read(ctx, t.key(), h.ID)
		}
	}
	return nil, problem.New(problem.Conflict, "the document was never finalized").WithCode("draft_exists")
}

const (
	confirmKey = "confirm"
	// patience is how long a question stays open.
	patience = 10 * time.Minute
)

// agreed reports whether a person has agreed to a release: with no result and
// no error. Otherwise the result asks, showing what changes, or tells that the
// answer was no.
func (s *Service) agreed(ctx context.Context, c *call, of release, question string, from, to *port.Revision) (*result, error) {
	id := identity(ctx)
	of.Type, of.OUUID, of.User, of.Token = to.Key.Type, to.Key.OUUID, id.UserID, id.TokenID
	if from != nil {
		of.Before = from.ID
	}
	answer, answered := c.req.Params.InputResponses[confirmKey].(*sdk.ElicitResult)
	if !answered {
		if !s.canAsk(c.req) {
			return nil, problem.New(problem.Forbidden,
				"this needs the confirmation of a person, for which the client cannot ask (it lacks elicitation, or does not take a stream): leave the draft, it can be finalized in the back office")
		}
		of.Until = s.now().Add(patience).Unix()
		return &result{state: s.sign(of), ask: sdk.InputRequestMap{confirmKey: &sdk.ElicitParams{
			Mode: "form", Message: question + "\n\n" + readableDiff(differences(from, to)),
			RequestedSchema: json.RawMessage(`{"type":"object","properties":{"confirm":{"type":"boolean","title":"Yes, do it","default":false}},"required":["confirm"]}`),
		}}}, nil
	}
	asked, err := s.verify(c.req.Params.RequestState)
	if err != nil {
		return nil, err
	}
	of.Until = asked.Until
	if asked != of {
		return nil, problem.New(problem.PreconditionFailed, "the document has changed since the question was asked: show the diff and ask again")
	}
	if yes, _ := answer.Content[confirmKey].(bool); answer.Action != "accept" || !yes {
		return &result{failed: true, content: []sdk.Content{&sdk.TextContent{Text: "The person did not agree. Nothing was changed."}}}, nil
	}
	return nil, nil
}

// canAsk reports whether the client can put a question to a person.
func (s *Service) canAsk(req *sdk.CallToolRequest) bool {
	p := req.Session.InitializeParams()
	if p == nil || p.Capabilities == nil || p.Capabilities.Elicitation == nil {
		return false
	}
	e := p.Capabilities.Elicitation
	if e.Form == nil && e.URL != nil {
		return false
	}
	c := callerOf(req)
	return s.versionOf(req) >= stateless || c != nil && c.stream
}

// sign makes the state that the client carries from the question to the answer.
func (s *Service) sign(of release) string {
	body, _ := json.Marshal(of) // strings and numbers always marshal
	return s.seal(body)
}

// seal protects what the client carries.
func (s *Service) seal(plain []byte) string {
	h := hmac.New(sha256.New, s.secret)
	h.Write(plain)
	return base64.RawURLEncoding.EncodeToString(plain) + "." + base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

// unseal gives what seal was given. What the client brings must be the same to
// the letter, for base64 has several ways to write the same bytes.
func (s *Service) unseal(state string) (plain []byte, ok bool) {
	const longest = 4096
	if len(state) > longest || len(s.secret) == 0 {
		return nil, false
	}
	text, _, _ := strings.Cut(state, ".")
	plain, err := base64.RawURLEncoding.DecodeString(text)
	return plain, err == nil && hmac.Equal([]byte(state), []byte(s.seal(plain)))
}

// verify reads such a state.
func (s *Service) verify(state string) (of release, err error) {
	wrong := problem.New(problem.Invalid, "requestState is not one of this server")
	body, ok := s.unseal(state)
	if !ok {
		return of, wrong
	}
	if err := json.Unmarshal(body, &of); err != nil {
		return of, wrong
	}
	if s.now().Unix() > of.Until {
		return of, problem.New(problem.Invalid, "the question was asked too long ago: ask again")
	}
	return of, nil
}
