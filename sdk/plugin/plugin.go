// Package plugin is what a plugin of Quoin is made with. A plugin is a program
// of its own that the server starts and supervises:
//
//	func main() {
//		p := plugin.New("hello", "0.1.0")
//		plugin.Tool(p, "hello", "Greets someone.", greet)
//		p.OnEvent("content.published.*", published)
//		p.Serve()
//	}
//
// Everything must be added before Serve. Handlers run at the same time as one
// another.
package plugin

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	pluginv1 "github.com/quoin-cms/quoin/sdk/proto/plugin/v1"
)

// SDK is the version of this kit.
const SDK = "quoin-go/0.1"

// The capabilities that a plugin may ask for with Needs.
const (
	CapKV             = "kv"
	CapDocumentsRead  = "documents:read"
	CapDocumentsWrite = "documents:write"
	CapFilesRead      = "files:read"
	CapFilesWrite     = "files:write"
	CapSearch         = "search"
	CapUsersRead      = "users:read"
	CapEventsEmit     = "events:emit"
)

// Capabilities are all that there are.
func Capabilities() []string {
	return []string{CapKV, CapDocumentsRead, CapDocumentsWrite, CapFilesRead, CapFilesWrite, CapSearch, CapUsersRead, CapEventsEmit}
}

// Plugin is a plugin that is being put together, and then serves.
type Plugin struct {
	name, version, summary string

	tools     map[string]*tool
	resources []*resource
	events    []handler
	webhooks  []transformer
	commands  map[string]*command
	needs     []string
	schema    json.RawMessage
	configure func(c *Call, config []byte) error

	mu   sync.RWMutex
	host *host
}

// New makes a plugin. name is lower-case letters, digits and -, beginning with
// a letter; version is the plugin's own.
func New(name, version string) *Plugin {
	return &Plugin{name: name, version: version, tools: map[string]*tool{}, commands: map[string]*command{}}
}

// About sets one sentence on what the plugin does, for operators.
func (p *Plugin) About(summary string) *Plugin {
	p.summary = summary
	return p
}

// Needs asks for capabilities. The operator grants them when enabling the
// plugin.
func (p *Plugin) Needs(capabilities ...string) *Plugin {
	for _, c := range capabilities {
		if !slices.Contains(Capabilities(), c) {
			panic(fmt.Sprintf("plugin %s needs a capability %q, which does not exist; there are %s", p.name, c, strings.Join(Capabilities(), ", ")))
		}
		p.needs = append(p.needs, c)
	}
	return p
}

// Config says which settings the plugin takes: a struct whose fields bear the
// tags json and doc, and secret:"true" where nobody should see them. fn gets them at the start and whenever they change; its
// error refuses them, and one made with Field names the field. Settings that
// the struct does not know are refused before.
func Config[T any](p *Plugin, fn func(c *Call, settings T) error) {
	p.schema = schemaOf[T]()
	p.configure = func(c *Call, raw []byte) error {
		var settings T
		if err := decode(raw, &settings); err != nil {
			return err
		}
		return fn(c, settings)
	}
}

// FieldError is a finding about one setting.
type FieldError struct{ Path, Message string }

// Error implements error.
func (e *FieldError) Error() string { return e.Path + ": " + e.Message }

// Field is an error about one setting, such as Field("channels[2].url", "…").
func Field(path, format string, args ...any) error {
	return &FieldError{path, fmt.Sprintf(format, args...)}
}

// describe gives what the plugin is, in a fixed order.
func (p *Plugin) describe() *pluginv1.Description {
	d := &pluginv1.Description{
		Name: p.name, Version: p.version, Sdk: SDK, Summary: p.summary, ConfigSchema: p.schema,
		Services: p.services(), Capabilities: slices.Compact(slices.Sorted(slices.Values(p.needs))),
	}
	for _, name := range sortedKeys(p.tools) {
		d.Tools = append(d.Tools, p.tools[name].about)
	}
	for _, r := range p.resources {
		d.Resources = append(d.Resources, r.about)
	}
	for _, h := range p.events {
		d.Events = append(d.Events, h.pattern)
	}
	for _, t := range p.webhooks {
		d.Webhooks = append(d.Webhooks, t.pattern)
	}
	for _, name := range sortedKeys(p.commands) {
		d.Commands = append(d.Commands, p.commands[name].about)
	}
	return d
}

func (p *Plugin) services() []string {
	names := []string{pluginv1.Lifecycle_ServiceDesc.ServiceName}
	for _, s := range []struct {
		name string
		used bool
	}{
		{pluginv1.Tools_ServiceDesc.ServiceName, len(p.tools) > 0},
		{pluginv1.Resources_ServiceDesc.ServiceName, len(p.resources) > 0},
		{pluginv1.Events_ServiceDesc.ServiceName, len(p.events) > 0},
		{pluginv1.Webhooks_ServiceDesc.ServiceName, len(p.webhooks) > 0},
		{pluginv1.Commands_ServiceDesc.ServiceName, len(p.commands) > 0},
	} {
		if s.used {
			names = append(names, s.name)
		}
	}
	return names
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
