package content

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
	"github.com/quoin-cms/quoin/modules/content/schema"
)

// kindInfo is what is known of a kind of configuration entity.
type kindInfo struct {
	kind  string
	also  []string // other spellings in paths
	class string   // of the export form
	key   string   // the property that names an entity
	plain bool     // kept and given back, without a meaning here
}

// kinds are the configuration entities of elasticms (contract-notes 2.1). Jobs,
// users and what other modules own are contributed by those.
func kinds() []kindInfo {
	const entity = `EMS\CoreBundle\Entity\`
	return []kindInfo{
		{kindContentType, []string{"content-types", "contenttype", "contenttypes", "ContentType"}, entity + "ContentType", "name", false},
		{kindEnvironment, []string{"environments", "Environment"}, entity + "Environment", "name", false},
		{kindManagedAlias, []string{"managed-aliases", "managedalias", "ManagedAlias"}, entity + "ManagedAlias", "name", false},
		{kindAnalyzer, []string{"analyzers", "Analyzer"}, entity + "Analyzer", "name", false},
		{kindFilter, []string{"filters", "Filter"}, entity + "Filter", "name", false},
		{kindForm, []string{"forms", "Form"}, entity + "Form", "name", false},
		{"query-search", []string{"query-searches", "querysearch", "QuerySearch"}, entity + "QuerySearch", "name", true},
		{"i18n", []string{"i18ns", "I18n"}, entity + "I18n", "identifier", true},
		{"schedule", []string{"schedules", "Schedule"}, entity + "Schedule", "name", true},
		{"view", []string{"views", "View"}, entity + "View", "name", true},
		{"action", []string{"actions", "template", "Template"}, entity + "Template", "name", true},
		{"dashboard", []string{"dashboards", "Dashboard"}, entity + "Dashboard", "name", true},
		{"channel", []string{"channels", "Channel"}, entity + "Channel", "name", true},
		{"wysiwyg-profile", []string{"wysiwyg-profiles", "WysiwygProfile"}, entity + "WysiwygProfile", "name", true},
		{"wysiwyg-style-set", []string{"wysiwyg-style-sets", "WysiwygStylesSet"}, entity + "WysiwygStylesSet", "name", true},
		{"release", []string{"releases", "Release"}, entity + "Release", "name", true},
		{"mcp-tool", []string{"mcp-tools"}, entity + "McpTool", "name", true},
		{"mcp-prompt", []string{"mcp-prompts"}, entity + "McpPrompt", "name", true},
		{"mcp-resource", []string{"mcp-resources"}, entity + "McpResource", "name", true},
		{"group", []string{"groups"}, entity + "Group", "name", true},
	}
}

// configEntity serves one kind under /api/admin.
type configEntity struct {
	kindInfo
	s *Service
}

var _ port.Entity = configEntity{}

// Names implements port.Entity.
func (e configEntity) Names() []string { return append([]string{e.kind}, e.also...) }

// List implements port.Entity.
func (e configEntity) List(ctx context.Context) ([]string, error) {
	all, _, err := e.s.store.configs(ctx)
	names := []string{}
	for _, x := range all {
		if x.Kind == e.kind {
			names = append(names, x.Name)
		}
	}
	return names, err
}

// Get implements port.Entity.
func (e configEntity) Get(ctx context.Context, name string) ([]byte, error) {
	x, err := e.find(ctx, name)
	if err != nil {
		return nil, err
	}
	return x.Export, nil
}

func (e configEntity) find(ctx context.Context, name string) (*entity, error) {
	x, err := e.s.store.entity(ctx, e.kind, name)
	if err == nil && x == nil {
		err = problem.New(problem.NotFound, "there is no %s %q", e.kind, name)
	}
	return x, err
}

// Put implements port.Entity. The export's bytes are kept as they are; only
// what this server works with is checked.
func (e configEntity) Put(ctx context.Context, name string, export []byte) (string, error) {
	found, err := e.check(export)
	if err != nil {
		return "", err
	}
	if name == "" {
		name = found
	} else if name != found {
		return "", problem.Field(problem.Invalid, "properties."+e.key, "is %q, but the path says %q", found, name)
	}
	x := &entity{Kind: e.kind, Name: name, Export: rawjson.Compact(nil, export)}
	err = e.s.db().InTx(ctx, func(ctx context.Context) error {
		old, err := e.s.store.entity(ctx, e.kind, name)
		if err != nil {
			return err
		}
		if old != nil {
			x.State = old.State
			if rawjson.Equal(old.Export, x.Export) {
				x.ID = old.ID
				return nil
			}
		}
		return e.save(ctx, x, old == nil)
	})
	if err != nil {
		return "", err
	}
	_, err = e.s.types.reload(ctx, false)
	return strconv.FormatInt(x.ID, 10), err
}

// save writes the entity and emits what follows from it.
func (e configEntity) save(ctx context.Context, x *entity, isNew bool) error {
	now := e.s.now()
	if e.kind == kindEnvironment && isNew {
		x.State = e.s.newIndex(x.Name, now)
	}
	var change func(context.Context) error
	if e.kind == kindManagedAlias {
		change = e.s.aliasMembers(x)
	}
	if err := e.s.store.saveEntity(ctx, x, now); err != nil {
		return err
	}
	if change != nil {
		if err := change(ctx); err != nil {
			return err
		}
	}
	if e.kind == kindEnvironment && isNew {
		if err := e.s.emitNewIndex(ctx, x); err != nil {
			return err
		}
	}
	return e.s.emitConfig(ctx, x, "saved")
}

// check gives the name of the entity after checking the export form.
func (e configEntity) check(export []byte) (string, error) {
	if err := rawjson.CheckObject(export, rawjson.Limits{Depth: 400}); err != nil {
		return "", err
	}
	name, ok := stringProperty(export, e.key)
	if !ok || name == "" || len(name) > 255 || !utf8.ValidString(name) || strings.ContainsAny(name, "/\x00") {
		return "", problem.Field(problem.Invalid, "properties."+e.key, "must be a name of 1 to 255 bytes without /")
	}
	if class, ok := rawjson.String(value(export, "class")); ok && class != e.class {
		return "", problem.Field(problem.Invalid, "class", "is %q, expected %q", class, e.class)
	}
	switch e.kind {
	case kindEnvironment:
		if !environmentName.MatchString(name) {
			return "", problem.Field(problem.Invalid, "properties.name", "must be lower-case letters, digits, - and _, beginning with a letter")
		}
	case kindContentType:
		return name, e.checkType(export)
	case kindForm:
		_, err := schema.ParseForm(export)
		return name, err
	}
	return name, nil
}

// checkType refuses a content type that cannot be compiled.
func (e configEntity) checkType(export []byte) error {
	if !contentTypeName.MatchString(mustString(export, "name")) {
		return problem.Field(problem.Invalid, "properties.name", "must be lower-case letters, digits, - and _, beginning with a letter or _")
	}
	ct, err := schema.Parse(export)
	if err != nil {
		return err
	}
	_, err = schema.Compile(ct, func(string) (*schema.Field, bool) { return nil, false })
	return err
}

// Delete implements port.Entity. What documents depend on stays.
func (e configEntity) Delete(ctx context.Context, name string) (string, error) {
	var id string
	err := e.s.db().InTx(ctx, func(ctx context.Context) error {
		x, err := e.find(ctx, name)
		if err != nil {
			return err
		}
		id = strconv.FormatInt(x.ID, 10)
		if err := e.unused(ctx, x); err != nil {
			return err
		}
		if err := e.s.store.deleteEntity(ctx, x.ID); err != nil {
			return err
		}
		return e.s.emitConfig(ctx, x, "deleted")
	})
	if err != nil {
		return "", err
	}
	_, err = e.s.types.reload(ctx, false)
	return id, err
}

func (e configEntity) unused(ctx context.Context, x *entity) error {
	switch e.kind {
	case kindContentType:
		used, err := e.s.store.used(ctx, x.ID)
		if err == nil && used {
			err = problem.New(problem.Conflict, "content type %q has documents: delete them first", x.Name)
		}
		return err
	case kindEnvironment:
		cat, err := e.s.types.get(ctx)
		if err != nil {
			return err
		}
		for _, ct := range cat.sortedTypes {
			if ct.Environment == x.Name {
				return problem.New(problem.Conflict, "environment %q is the default one of content type %q", x.Name, ct.Name)
			}
		}
	}
	return nil
}

// newIndex is the state of a new environment: the name of its first index
// (contract-notes 4.1).
func (s *Service) newIndex(name string, now time.Time) []byte {
	index := fmt.Sprintf("%s%s_%s", s.types.instance, name, now.UTC().Format("20060102_150405"))
	return append(rawjson.AppendString([]byte(`{"index":`), index), '}')
}

// emitNewIndex tells of the index of a new environment (spec.md 6.2).
func (s *Service) emitNewIndex(ctx context.Context, x *entity) error {
	data := rawjson.AppendString([]byte(`{"environment":`), x.Name)
	data = append(append(data, `,"index":`...), value(x.State, "index")...)
	data = rawjson.AppendString(append(data, `,"aliases":[`...), s.types.instance+x.Name)
	data = append(data, `],"old_index":null,"content_type":null,"ouuid":null,"raw_data":null}`...)
	return s.bus.Emit(ctx, event.Event{Type: "environment.new_index." + x.Name, Subject: "environment:" + x.Name, Data: data, Actor: who(ctx)})
}

// emitConfig tells that the configuration has changed; the index listens.
func (s *Service) emitConfig(ctx context.Context, x *entity, what string) error {
	data := rawjson.AppendString([]byte(`{"kind":`), x.Kind)
	data = append(rawjson.AppendString(append(data, `,"name":`...), x.Name), '}')
	return s.bus.Emit(ctx, event.Event{Type: "config." + what, Subject: x.Kind + ":" + x.Name, Data: data, Actor: who(ctx)})
}

// aliasMembers takes the members of a managed alias from the optional property
// `environments` into its state, and gives what tells of the change.
func (s *Service) aliasMembers(x *entity) func(context.Context) error {
	given := property(x.Export, "environments")
	if rawjson.KindOf(given) != rawjson.Array {
		return nil
	}
	var names []string
	_ = rawjson.Elements(given, func(_ int, v []byte) error {
		if name, ok := rawjson.String(v); ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
		return nil
	})
	before := members(x.State)
	x.State = append(appendStrings([]byte(`{"environments":`), names), '}')
	return func(ctx context.Context) error { return s.emitAlias(ctx, x.Name, before, names) }
}

// emitAlias tells which indexes joined and left a managed alias.
func (s *Service) emitAlias(ctx context.Context, name string, before, after []string) error {
	cat, err := s.types.get(ctx)
	if err != nil {
		return err
	}
	diff := func(a, b []string) []string {
		var only []string
		for _, n := range a {
			if env := cat.envs[n]; env != nil && !slices.Contains(b, n) {
				only = append(only, env.index)
			}
		}
		return only
	}
	data := appendStrings([]byte(`{"actions":{"add":`), diff(after, before))
	data = append(appendStrings(append(data, `,"remove":`...), diff(before, after)), `}}`...)
	return s.bus.Emit(ctx, event.Event{Type: "manage_alias.update." + s.types.instance + name, Subject: "managed-alias:" + name, Data: data, Actor: who(ctx)})
}

func appendStrings(b []byte, items []string) []byte {
	b = append(b, '[')
	for i, s := range items {
		if i > 0 {
			b = append(b, ',')
		}
		b = rawjson.AppendString(b, s)
	}
	return append(b, ']')
}

func stringProperty(export []byte, name string) (string, bool) {
	return rawjson.String(property(export, name))
}

func mustString(export []byte, name string) string { s, _ := stringProperty(export, name); return s }
