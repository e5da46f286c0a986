package mcp

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
)

// Schemas of documents in arguments and answers.
const (
	none = `{"type":"object","properties":{},"additionalProperties":false}`

	inputOuuid = `{"type":"object","properties":{"ouuid":{"type":"string","description":"identifier of the document"}},"required":["ouuid"],"additionalProperties":false}`

	documentMembers = `"contentType":{"type":"string"},"ouuid":{"type":"string"},"revisionId":{"type":"integer"},"draft":{"type":"boolean"},"archived":{"type":"boolean"},` +
		`"etag":{"type":"string"},"rawData":{"type":"object"}`
	outputDocument = `{"type":"object","properties":{` + documentMembers + `,"environments":{"type":"array","items":{"type":"string"}}},` +
		`"required":["contentType","ouuid","revisionId","draft","archived","rawData"]}`
	outputSaved = `{"type":"object","properties":{` + documentMembers + `,"warnings":{"type":"array","items":{"type":"string"}}},` +
		`"required":["contentType","ouuid","revisionId","draft","archived","rawData"]}`
)

// document is how tools answer a document.
type document struct {
	ContentType  string          `json:"contentType"`
	OUUID        string          `json:"ouuid"`
	RevisionID   int64           `json:"revisionId"`
	Draft        bool            `json:"draft"`
	Archived     bool            `json:"archived"`
	ETag         string          `json:"etag,omitempty"`
	RawData      json.RawMessage `json:"rawData,omitempty"`
	Environments []string        `json:"environments,omitempty"`
	Warnings     []string        `json:"warnings,omitempty"`
	Notices      []string        `json:"notices,omitempty"`
	Environment  string          `json:"environment,omitempty"`
}

func documentOf(r *port.Revision) document {
	return document{
		ContentType: r.Key.Type, OUUID: r.Key.OUUID, RevisionID: r.ID, Draft: r.Draft, ETag: r.ETag, RawData: r.Raw, Environments: r.Environments,
	}
}

// savedOf tells of a write.
func savedOf(o *port.Saved) document {
	d := document{ContentType: o.Key.Type, OUUID: o.Key.OUUID, RevisionID: o.Revision, Draft: o.Draft, ETag: o.ETag, Notices: o.Notices}
	for _, w := range o.Warnings {
		d.Warnings = append(d.Warnings, w.Path+": "+w.Message)
	}
	return d
}

// target is what most tools are about.
type target struct {
	ContentType string          `json:"contentType"`
	OUUID       string          `json:"ouuid"`
	RevisionID  int64           `json:"revisionId"`
	Environment string          `json:"environment"`
	RawData     json.RawMessage `json:"rawData"`
	Replace     bool            `json:"replace"`
	ETag        string          `json:"etag"`
	Limit       int             `json:"limit"`
}

func (t *target) key() port.Key { return port.Key{Type: t.ContentType, OUUID: t.OUUID} }

func targetOf(c *call) (*target, error) {
	t := &target{}
	return t, c.into(t)
}

const (
	argType  = `"contentType":{"type":"string"}`
	argOuuid = `"ouuid":{"type":"string"}`
)

func (s *Service) documentTools() []*tool {
	if s.Editor == nil {
		return nil
	}
	edits := func(m *menu) bool { return m.may(auth.Edit) }
	reads := func(m *menu) bool { return m.may(auth.View) }
	return []*tool{
		{
			name: "list_content_types", title: "Content types", description: "Content types you may use, with your rights.",
			input: none, output: `{"type":"object","properties":{"contentTypes":{"type":"array","items":{"type":"object"}}},"required":["contentTypes"]}`,
			readOnly: true, idempotent: true, full: true, compact: true, offered: always, run: s.runTypes,
		}, {
			name: "get_content_type_schema", title: "Schema", description: "JSON Schema of the rawData of a content type. Read it before writing.",
			input: `{"type":"object","properties":{` + argType + `},"required":["contentType"],"additionalProperties":false}`, output: `{"type":"object"}`,
			readOnly: true, idempotent: true, compact: true, offered: reads, run: s.runSchema,
		}, {
			name: "get_document", title: "Read", description: "Read a document: its newest revision, another one, or the one in an environment.",
			input: `{"type":"object","properties":{` + argType + `,` + argOuuid + `,"revisionId":{"type":"integer"},"environment":{"type":"string"}},` +
				`"required":["contentType","ouuid"],"additionalProperties":false}`,
			output: outputDocument, readOnly: true, idempotent: true, compact: true, offered: reads, run: s.runRead,
		}, {
			name: "create_draft", title: "New draft", description: "Create a document as a draft. Nothing is published.",
			input:  `{"type":"object","properties":{` + argType + `,"rawData":{"type":"object"},` + argOuuid + `},"required":["contentType","rawData"],"additionalProperties":false}`,
			output: outputSaved, compact: true, offered: func(m *menu) bool { return m.may(auth.Create) }, run: s.runCreate,
		}, {
			name: "update_draft", title: "Change draft", description: "Change fields of a document in a draft; replace: all fields; etag: the state you read.",
			input: `{"type":"object","properties":{` + argType + `,` + argOuuid + `,"rawData":{"type":"object"},"replace":{"type":"boolean"},"etag":{"type":"string"}},` +
				`"required":["contentType","ouuid","rawData"],"additionalProperties":false}`,
			output: outputSaved, full: true, compact: true, offered: edits, run: s.runUpdate,
		}, {
			name: "save_document", title: "Save draft", description: "Create a draft, or replace the data of a document by a draft when its ouuid is given.",
			input:  `{"type":"object","properties":{` + argType + `,"rawData":{"type":"object"},` + argOuuid + `},"required":["contentType","rawData"],"additionalProperties":false}`,
			output: outputSaved, offered: edits, run: s.runSave,
		}, {
			name: "list_revisions", title: "History", description: "Revisions of a document, newest first.",
			input:    `{"type":"object","properties":{` + argType + `,` + argOuuid + `,"limit":{"type":"integer","minimum":1,"maximum":100}},"required":["contentType","ouuid"],"additionalProperties":false}`,
			output:   `{"type":"object","properties":{"revisions":{"type":"array","items":{"type":"object"}}},"required":["revisions"]}`,
			readOnly: true, idempotent: true, full: true, offered: reads, run: s.runHistory,
		},
	}
}

// typeInfo is a content type as tools and resources answer it.
type typeInfo struct {
	Name        string       `json:"name"`
	Singular    string       `json:"singularName"`
	Plural      string       `json:"pluralName"`
	Description string       `json:"description,omitempty"`
	Environment string       `json:"defaultEnvironment"`
	Rights      []auth.Right `json:"rights"`
}

func infoOf(t port.DocumentType) typeInfo {
	return typeInfo{t.Name, t.Singular, t.Plural, t.Description, t.Environment, t.Rights}
}

func (s *Service) typeInfos(ctx context.Context) ([]typeInfo, error) {
	m, err := s.menu(ctx)
	if err != nil {
		return nil, err
	}
	all := []typeInfo{}
	for _, t := range m.types {
		all = append(all, infoOf(t))
	}
	return all, nil
}

func (s *Service) runTypes(ctx context.Context, _ *call) (*result, error) {
	all, err := s.typeInfos(ctx)
	if err != nil {
		return nil, err
	}
	return object(map[string]any{"contentTypes": all})
}

func (s *Service) runSchema(ctx context.Context, c *call) (*result, error) {
	t, err := targetOf(c)
	if err != nil {
		return nil, err
	}
	text, err := s.Editor.Schema(ctx, t.ContentType)
	if err != nil {
		return nil, err
	}
	return &result{structured: text}, nil
}

func (s *Service) runRead(ctx context.Context, c *call) (*result, error) {
	t, err := targetOf(c)
	if err != nil {
		return nil, err
	}
	var r *port.Revision
	if t.Environment != "" {
		r, err = s.Editor.Published(ctx, t.key(), t.Environment)
	} else {
		r, err = s.Editor.Read(ctx, t.key(), t.RevisionID)
	}
	if err != nil {
		return nil, err
	}
	return object(documentOf(r))
}

func (s *Service) runCreate(ctx context.Context, c *call) (*result, error) {
	t, err := targetOf(c)
	if err != nil {
		return nil, err
	}
	return s.saved(ctx, t)(s.Editor.CreateDraft(ctx, t.key(), t.RawData))
}

func (s *Service) runUpdate(ctx context.Context, c *call) (*result, error) {
	t, err := targetOf(c)
	if err != nil {
		return nil, err
	}
	return s.saved(ctx, t)(s.Editor.UpdateDraft(ctx, t.key(), t.RawData, !t.Replace, t.ETag))
}

// runSave creates a document, or starts a draft of one that exists.
func (s *Service) runSave(ctx context.Context, c *call) (*result, error) {
	t, err := targetOf(c)
	if err != nil {
		return nil, err
	}
	if t.OUUID != "" {
		o, err := s.Editor.UpdateDraft(ctx, t.key(), t.RawData, false, "")
		if !problem.Is(err, problem.NotFound) || problem.From(err).Code != "unknown_document" {
			return s.saved(ctx, t)(o, err)
		}
	}
	return s.saved(ctx, t)(s.Editor.CreateDraft(ctx, t.key(), t.RawData))
}

// saved answers with what was stored.
func (s *Service) saved(ctx context.Context, t *target) func(*port.Saved, error) (*result, error) {
	return func(o *port.Saved, err error) (*result, error) {
		if err != nil {
			return nil, err
		}
		s.changes.resourceChanged(documentAddress(o.Key.Type, o.Key.OUUID).String()) // drafts have no events
		d := savedOf(o)
		d.RawData = slices.Clone(t.RawData)
		if r, err := s.Editor.Read(ctx, o.Key, o.Revision); err == nil { // who may write may lack the right to read
			d.RawData = r.Raw
		}
		if rawjson.KindOf(d.RawData) != rawjson.Map {
			d.RawData = json.RawMessage("{}")
		}
		return object(d)
	}
}

func (s *Service) runHistory(ctx context.Context, c *call) (*result, error) {
	t, err := targetOf(c)
	if err != nil {
		return nil, err
	}
	if t.Limit == 0 {
		t.Limit = 20
	}
	list, err := s.Editor.History(ctx, t.key(), t.Limit)
	if err != nil {
		return nil, err
	}
	type revision struct {
		ID           int64    `json:"revisionId"`
		Draft        bool     `json:"draft"`
		Created      string   `json:"created"`
		By           string   `json:"createdBy"`
		Environments []string `json:"environments"`
	}
	out := []revision{}
	for _, r := range list {
		out = append(out, revision{r.ID, r.Draft, r.Created, r.CreatedBy, r.Environments})
	}
	return object(map[string]any{"revisions": out})
}
