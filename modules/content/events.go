package content

import (
	"encoding/json"

	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/modules/content/schema"
)

// eventTypes is what the module emits (spec.md 6.2). config.* are for the
// server itself and for auditors; they carry no content. from is the address of
// the client, empty for a command.
func eventTypes() []event.Type {
	const doc = `{"environment":"preview","alias":"quoin_preview","content_type":"page","ouuid":"018f2c1e-7d57-7cc0-9a39-6f1d7a0b7c11"`
	sample := func(s string) json.RawMessage { return json.RawMessage(s) }
	bare := event.Object("environment string", "alias string", "content_type string", "ouuid string")
	full := event.Object("environment string", "alias string", "content_type string", "ouuid string", "raw_data object")
	entity := event.Object("kind string", "name string", "from string")
	return []event.Type{
		{
			Name: "content.finalize", Doc: "A draft was finalized; environment is the default one of its content type.",
			Sample: sample(doc + `,"raw_data":{"title":"Home"}}`), Schema: full,
		}, {
			Name: "content.published.<environment>", Doc: "A document was published to that environment. Finalizing does not fire it for the default environment.",
			Sample: sample(doc + `,"raw_data":{"title":"Home"}}`), Schema: full,
		}, {
			Name: "content.unpublish", Doc: "A document was taken out of an environment.", Sample: sample(doc + `}`), Schema: bare,
		}, {
			Name: "content.delete", Doc: "A document was put into the trash; environment is the default one.", Sample: sample(doc + `}`), Schema: bare,
		}, {
			Name: "environment.new_index.<environment>", Doc: "The environment has a new index.",
			Sample: sample(`{"environment":"live","index":"quoin_live_20260210_132214","aliases":["quoin_live"],"old_index":null,"content_type":null,"ouuid":null,"raw_data":null}`),
			Schema: event.Object("environment string", "index string", "aliases [string]", "old_index string|null", "content_type null", "ouuid null", "raw_data null"),
		}, {
			Name: "manage_alias.update.<alias>", Doc: "A managed alias points at other indexes.",
			Sample: sample(`{"actions":{"add":["quoin_live_20260210_132214"],"remove":[]}}`),
			Schema: sample(`{"type":"object","properties":{"actions":` + string(event.Object("add [string]", "remove [string]")) + `},"required":["actions"]}`),
		},
		{Name: "config.saved", Doc: "A configuration entity was created or changed.", Sample: sample(`{"kind":"content-type","name":"page","from":"203.0.113.7"}`), Schema: entity},
		{Name: "config.deleted", Doc: "A configuration entity was removed.", Sample: sample(`{"kind":"filter","name":"stop","from":""}`), Schema: entity},
	}
}

// fields hands the mapping of a content type to whoever indexes it.
func fields(list []schema.IndexField) []port.Field {
	out := make([]port.Field, 0, len(list))
	for _, f := range list {
		out = append(out, field(f))
	}
	return out
}

func field(f schema.IndexField) port.Field {
	p := port.Field{
		Path: f.Path, Kind: f.Kind, Nested: f.Kind == schema.KindNested, Index: !f.NoIndex,
		Analyzer: f.Analyzer, SearchAnalyzer: f.SearchAnalyzer, Format: f.Format, CopyTo: f.CopyTo,
	}
	for name, sub := range f.Sub {
		if p.Fields == nil {
			p.Fields = map[string]port.Field{}
		}
		p.Fields[name] = field(sub)
	}
	return p
}
