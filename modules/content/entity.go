package content

import (
	"context"
	"maps"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
	"github.com/quoin-cms/quoin/core/web"
	"github.com/quoin-cms/quoin/modules/content/schema"
)

// kindInfo is what is known of a kind of configuration entity.
type kindInfo struct {
	kind  string
	also  []string // other names in paths
	class string   // of the export form
	key   string   // the property that names an entity
	plain bool     // kept and given back, without a meaning here
}

// kinds are the configuration entities of elasticms (contract-notes 2.1). Jobs,
// users and what other modules own are contributed by those.
func kinds() []kindInfo {
	const entity = `EMS\CoreBundle\Entity\`
	return []kindInfo{
		{kindContentType, []string{"content-types"}, entity + "ContentType", "name", false},
		{kindEnvironment, []string{"environments"}, entity + "Environment", "name", false},
		{kindManagedAlias, []string{"managed-aliases", "manage-aliases", "managed-aliase", "manage-aliase"}, entity + "ManagedAlias", "name", false},
		{kindAnalyzer, []string{"analyzers"}, entity + "Analyzer", "name", false},
		{kindFilter, []string{"filters"}, entity + "Filter", "name", false},
		{kindForm, []string{"forms"}, entity + "Form", "name", false},
		{"query-search", []string{"query-searches"}, entity + "QuerySearch", "name", true},
		{"i18n", []string{"i18ns"}, entity + "I18n", "identifier", true},
		{"schedule", []string{"schedules"}, entity + "Schedule", "name", true},
		{"view", []string{"views"}, entity + "View", "name", true},
		{"action", []string{"actions", "template", "templates"}, entity + "Template", "name", true},
		{"dashboard", []string{"dashboards"}, entity + "Dashboard", "name", true},
		{"channel", []string{"channels"}, entity + "Channel", "name", true},
		{"wysiwyg-profile", []string{"wysiwyg-profiles"}, entity + "WysiwygProfile", "name", true},
		{"wysiwyg-style-set", []string{"wysiwyg-style-sets", "wysiwyg-styles-set", "wysiwyg-styles-sets"}, entity + "WysiwygStylesSet", "name", true},
		{"release", []string{"releases"}, entity + "Release", "name", true},
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
	return e.s.store.entityNames(ctx, e.kind)
}

// Get implements port.Entity.
func (e configEntity) Get(ctx context.Context, name string) ([]byte, error) {
	x, err := e.find(ctx, name)
	if err != nil {
		return nil, err
	}
	return x.Export, nil
}

func (e configEntity) find(ctx context.Context, name string) (x *entity, err error) {
	if entityName(name) {
		x, err = e.s.store.entity(ctx, e.kind, name)
	}
	if err == nil && x == nil {
		err = problem.New(problem.NotFound, "there is no %s %q", e.kind, name)
	}
	return x, err
}

// entityName tells whether there can be an entity of that name.
func entityName(name string) bool {
	return name != "" && len(name) <= 255 && utf8.ValidString(name) && !strings.ContainsAny(name, "/\x00")
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
	cat, err := e.s.types.get(ctx)
	if err != nil {
		return "", err
	}
	if err := e.compiles(cat, name, export); err != nil {
		return "", err
	}
	x := &entity{Kind: e.kind, Name: name, Export: rawjson.Compact(nil, export)}
	err = e.s.db().InTx(ctx, func(ctx context.Context) error {
		if err := e.s.store.holdConfig(ctx); err != nil {
			return err
		}
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
		return e.save(ctx, cat, x, old == nil)
	})
	if err != nil {
		return "", err
	}
	_, err = e.s.types.reload(ctx, false)
	return strconv.FormatInt(x.ID, 10), err
}

// save writes the entity and emits what follows from it.
func (e configEntity) save(ctx context.Context, cat *catalog, x *entity, isNew bool) error {
	now := e.s.now()
	newIndex := isNew && e.kind == kindEnvironment && string(property(x.Export, "managed")) != "false"
	if newIndex {
		x.State = e.s.newIndex(cat, x.Name, now)
	}
	given := property(x.Export, "environments")
	if e.kind == kindManagedAlias && rawjson.KindOf(given) == rawjson.Array {
		if err := e.s.setMembers(ctx, cat, x, stringsOf(given)); err != nil {
			return err
		}
	}
	if err := e.s.store.saveEntity(ctx, x, now); err != nil {
		return err
	}
	if newIndex {
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
	if !ok || !entityName(name) {
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
	case kindManagedAlias:
		if !aliasName.MatchString(name) {
			return "", problem.Field(problem.Invalid, "properties.name", "must be letters, digits, ., - and _, beginning with a letter")
		}
	case kindContentType:
		if !contentTypeName.MatchString(name) {
			return "", problem.Field(problem.Invalid, "properties.name", "must be lower-case letters, digits, - and _, beginning with a letter or _")
		}
	}
	return name, nil
}

// compiles refuses a content type that cannot be compiled, and a form that
// would break a content type which pulls it in.
func (e configEntity) compiles(cat *catalog, name string, export []byte) error {
	switch e.kind {
	case kindContentType:
		_, err := compileType(export, cat.forms)
		return err
	case kindForm:
		f, err := schema.ParseForm(export)
		if err != nil {
			return err
		}
		forms := maps.Clone(cat.forms)
		forms[name] = f.Root
		for _, ct := range cat.sortedTypes {
			if _, err := schema.Compile(ct.ContentType, formsOf(forms)); err != nil {
				return problem.Wrap(err, problem.Conflict, "content type %q would not work any more: %s", ct.Name, problem.From(err).Detail)
			}
		}
	}
	return nil
}

// Delete implements port.Entity. What documents depend on stays.
func (e configEntity) Delete(ctx context.Context, name string) (string, error) {
	cat, err := e.s.types.get(ctx)
	if err != nil {
		return "", err
	}
	var id string
	err = e.s.db().InTx(ctx, func(ctx context.Context) error {
		if err := e.s.store.holdConfig(ctx); err != nil {
			return err
		}
		x, err := e.find(ctx, name)
		if err != nil {
			return err
		}
		id = strconv.FormatInt(x.ID, 10)
		if err := e.unused(ctx, cat, x); err != nil {
			return err
		}
		if e.kind == kindEnvironment {
			if err := e.s.leaveAliases(ctx, cat, x.Name); err != nil {
				return err
			}
		}
		if err := e.s.store.deleteEntity(ctx, x); err != nil {
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

func (e configEntity) unused(ctx context.Context, cat *catalog, x *entity) error {
	switch e.kind {
	case kindContentType:
		used, err := e.s.store.used(ctx, x.ID)
		if err == nil && used {
			err = problem.New(problem.Conflict, "content type %q has documents: delete them first", x.Name)
		}
		return err
	case kindEnvironment:
		for _, ct := range cat.sortedTypes {
			if ct.Environment == x.Name || ct.env != nil && ct.env.id == x.ID {
				return problem.New(problem.Conflict, "environment %q is the default one of content type %q", x.Name, ct.Name)
			}
		}
	}
	return nil
}

// newIndex is the state of a new environment: the name of its first index
// (contract-notes 4.1).
func (s *Service) newIndex(cat *catalog, name string, now time.Time) []byte {
	return append(rawjson.AppendString([]byte(`{"index":`), freshIndex(cat, s.types.instance+name, now)), '}')
}

// emitNewIndex tells of the index of a new environment (spec.md 6.2).
func (s *Service) emitNewIndex(ctx context.Context, x *entity) error {
	index, _ := rawjson.String(value(x.State, "index"))
	return s.tell(ctx, "environment.new_index."+x.Name, "environment:"+x.Name, newIndexData(x.Name, index, "", []string{s.types.instance + x.Name}))
}

// emitConfig tells that the configuration has changed; the index listens.
func (s *Service) emitConfig(ctx context.Context, x *entity, what string) error {
	return s.tell(ctx, "config."+what, x.Kind+":"+x.Name, configData(ctx, x))
}

// configData is the data of the events config.*.
func configData(ctx context.Context, x *entity) []byte {
	data := rawjson.AppendString([]byte(`{"kind":`), x.Kind)
	data = rawjson.AppendString(append(data, `,"name":`...), x.Name)
	return append(rawjson.AppendString(append(data, `,"from":`...), web.RemoteIP(ctx)), '}')
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
