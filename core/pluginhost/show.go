package pluginhost

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/quoin-cms/quoin/core/module"
	pluginv1 "github.com/quoin-cms/quoin/sdk/proto/plugin/v1"
)

// shown is all about one plugin that an operator may see.
type shown struct {
	listed

	Summary  string          `json:"summary"`
	Enabled  bool            `json:"enabled"`
	SHA256   string          `json:"sha256"`
	Settings json.RawMessage `json:"settings"` // secrets are ***
	Tools    []string        `json:"tools"`
	Commands []string        `json:"commands"`
	Events   []string        `json:"events"`
	Webhooks []string        `json:"webhooks"`
}

// runShow tells about one plugin. Only the program knows which of its settings
// are secrets, so an enabled one is started for that; when it cannot be asked,
// nothing of the settings is shown.
func runShow(ctx context.Context, h *Host, call *module.Call) error {
	name := call.Args[0]
	list, err := h.list(ctx)
	if err != nil {
		return err
	}
	var s *shown
	for _, l := range list {
		if l.Name == name && s == nil {
			s = &shown{listed: l, Tools: []string{}, Commands: []string{}, Events: []string{}, Webhooks: []string{}}
		}
	}
	if s == nil {
		return fmt.Errorf("there is no plugin %q in %s", name, h.dir())
	}
	w, err := h.store.wish(ctx, name)
	if err != nil {
		return err
	}
	f := read(filepath.Join(h.dir(), name))
	if f.Manifest != nil {
		s.Events, s.Webhooks = append(s.Events, f.Manifest.Events...), append(s.Webhooks, f.Manifest.Webhooks...)
	}
	if w != nil {
		s.Enabled, s.SHA256, s.Settings = w.Enabled, w.SHA256, redact(w.Config, nil)
		if w.Enabled && f.Problem == nil {
			err := h.once(ctx, f, w, func(p *process) error { s.take(p.about, w.Config); return nil })
			if err != nil {
				call.Tell("%s cannot be asked about its tools and settings: %v", name, err)
			}
		}
	}
	return call.Table(s, []string{"", ""}, s.rows())
}

func (s *shown) take(d *pluginv1.Description, config []byte) {
	s.Summary = d.Summary
	for _, t := range d.Tools {
		s.Tools = append(s.Tools, PublicName(d.Name, t.Name))
	}
	for _, c := range d.Commands {
		s.Commands = append(s.Commands, c.Name)
	}
	s.Settings = redact(config, d.ConfigSchema)
}

func (s *shown) rows() [][]string {
	return [][]string{
		{"name", s.Name}, {"version", s.Version}, {"about", s.Summary}, {"state", string(s.State)}, {"reason", s.Reason},
		{"asks for", fmt.Sprint(s.Asks)}, {"granted", fmt.Sprint(s.Granted)}, {"runs as", s.RunAs}, {"sha256", s.SHA256},
		{"tools", fmt.Sprint(s.Tools)}, {"commands", fmt.Sprint(s.Commands)}, {"events", fmt.Sprint(s.Events)}, {"webhooks", fmt.Sprint(s.Webhooks)},
		{"settings", string(s.Settings)},
	}
}

// settingSchema is what of a JSON Schema tells whether a value is a secret.
type settingSchema struct {
	Format     string                    `json:"format"`
	WriteOnly  bool                      `json:"writeOnly"`
	Properties map[string]*settingSchema `json:"properties"`
	Items      *settingSchema            `json:"items"`
	More       json.RawMessage           `json:"additionalProperties"` // a schema, or a boolean
	Type       json.RawMessage           `json:"type"`
}

// redact writes settings without secrets: the values whose schema has the format
// password or writeOnly, and those that no schema speaks of, are "***".
func redact(settings, schema []byte) json.RawMessage {
	var s *settingSchema
	var v any
	if json.Unmarshal(schema, &s) != nil {
		s = nil
	}
	d := json.NewDecoder(bytes.NewReader(settings))
	d.UseNumber()
	if d.Decode(&v) != nil {
		v = map[string]any{}
	}
	b, _ := json.Marshal(s.hide(v)) // what was read as JSON is written as JSON
	return b
}

const stars = "***"

func (s *settingSchema) hide(v any) any {
	if s == nil {
		s = &settingSchema{}
	}
	if s.WriteOnly || s.Format == "password" {
		return stars
	}
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			v[name] = s.member(name).hide(inner)
		}
		return v
	case []any:
		for i := range v {
			v[i] = s.Items.hide(v[i])
		}
		return v
	}
	if len(s.Type) == 0 {
		return stars // nobody says what it is
	}
	return v
}

// member is the schema of a member; nil when there is none.
func (s *settingSchema) member(name string) *settingSchema {
	if of := s.Properties[name]; of != nil {
		return of
	}
	var of *settingSchema
	_ = json.Unmarshal(s.More, &of) // a boolean says nothing
	return of
}
