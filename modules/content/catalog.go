package content

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
	"github.com/quoin-cms/quoin/modules/content/schema"
)

var (
	environmentName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,99}$`)
	contentTypeName = regexp.MustCompile(`^[a-z_][a-z0-9_-]{0,99}$`)
	aliasName       = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9._-]{0,99}$`)
)

// The kinds of configuration entities that have a meaning here; others are
// only kept.
const (
	kindContentType  = "content-type"
	kindEnvironment  = "environment"
	kindManagedAlias = "managed-alias"
	kindAnalyzer     = "analyzer"
	kindFilter       = "filter"
	kindForm         = "form"
)

// contentType is a content type as requests use it.
type contentType struct {
	*schema.ContentType
	id       int64
	compiled *schema.Compiled
	rights   auth.ContentRights
	env      *environment // the default one; nil when it does not exist
	suffix   []byte       // `"_contenttype":"page",`, ready to be written

	restricted []schema.FieldInfo // fields with a minimum role
	menuRoles  []string           // that fields inside menus ask for
	circles    string             // path of the field that holds circles, or empty
	hashers    sync.Pool          // *rawjson.Hasher
}

// usable reports whether there can be documents of the type.
func (ct *contentType) usable() bool {
	return ct.Active && !ct.Deleted && ct.env != nil && ct.env.managed
}

// environment is a place to publish to.
type environment struct {
	id       int64
	name     string
	alias    string // instance id and name
	index    string // the index behind the alias
	next     string // the index that is to take its place, or empty
	reindex  bool   // documents are to be indexed again
	managed  bool
	snapshot bool
	order    int
	export   []byte
}

// managedAlias is a further alias over indexes of environments.
type managedAlias struct {
	name         string
	alias        string
	environments []string
}

// catalog is one state of the whole configuration. It never changes.
type catalog struct {
	version     int64
	types       map[string]*contentType
	typesByID   map[int64]*contentType
	envs        map[string]*environment
	envsByID    map[int64]*environment
	aliases     []managedAlias
	forms       map[string]*schema.Field
	analyzers   map[string][]byte
	filters     map[string][]byte
	sortedTypes []*contentType
	sortedEnvs  []*environment
}

// catalogs holds the catalog in force. Every request takes one snapshot.
type catalogs struct {
	store    store
	log      *slog.Logger
	instance string
	current  atomic.Pointer[catalog]
	mu       sync.Mutex // one loader at a time
	checked  atomic.Int64
}

// get gives the catalog in force; one that is older than a second is compared
// with the database, for another process may have changed it.
func (c *catalogs) get(ctx context.Context) (*catalog, error) {
	now := time.Now().UnixMilli()
	if cur, last := c.current.Load(), c.checked.Load(); cur != nil && (now-last < 1000 || !c.checked.CompareAndSwap(last, now)) {
		return cur, nil
	}
	return c.reload(ctx, false)
}

// reload reads the configuration if it has changed, or if forced.
func (c *catalogs) reload(ctx context.Context, force bool) (*catalog, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cur := c.current.Load(); cur != nil && !force {
		v, err := c.store.configVersion(ctx)
		if err != nil || v == cur.version {
			return cur, err
		}
	}
	all, version, err := c.store.configs(ctx)
	if err != nil {
		return nil, err
	}
	cat := c.build(all)
	cat.version = version
	c.current.Store(cat)
	c.checked.Store(time.Now().UnixMilli())
	return cat, nil
}

// managed lists the environments whose indexes are ours.
func (c *catalog) managed() (all []port.Environment) {
	for _, env := range c.sortedEnvs {
		if env.managed {
			all = append(all, port.Environment{Name: env.name, Alias: env.alias, Index: env.index, Next: env.next, Reindex: env.reindex})
		}
	}
	return all
}

// build compiles the entities. One that cannot be compiled any more is logged
// and left out: it must not stop the others.
func (c *catalogs) build(all []entity) *catalog {
	cat := &catalog{
		types: map[string]*contentType{}, typesByID: map[int64]*contentType{}, envs: map[string]*environment{}, envsByID: map[int64]*environment{},
		analyzers: map[string][]byte{}, filters: map[string][]byte{}, forms: map[string]*schema.Field{},
	}
	for _, e := range all {
		switch e.Kind {
		case kindEnvironment:
			env := c.environment(e)
			cat.envs[env.name], cat.envsByID[env.id] = env, env
			cat.sortedEnvs = append(cat.sortedEnvs, env)
		case kindManagedAlias:
			cat.aliases = append(cat.aliases, managedAlias{e.Name, c.instance + e.Name, members(e.State)})
		case kindAnalyzer:
			cat.analyzers[e.Name] = property(e.Export, "options")
		case kindFilter:
			cat.filters[e.Name] = property(e.Export, "options")
		case kindForm:
			if f, err := schema.ParseForm(e.Export); err == nil {
				cat.forms[e.Name] = f.Root
			} else {
				c.log.Warn("form left out", "name", e.Name, "error", err)
			}
		}
	}
	slices.SortFunc(cat.sortedEnvs, func(a, b *environment) int { return a.order - b.order })
	for _, e := range all {
		if e.Kind == kindContentType {
			c.addType(cat, e)
		}
	}
	slices.SortFunc(cat.sortedTypes, func(a, b *contentType) int { return strings.Compare(a.Name, b.Name) })
	return cat
}

func (c *catalogs) addType(cat *catalog, e entity) {
	ct, err := compileType(e.Export, cat.forms)
	if err != nil {
		c.log.Warn("content type left out", "name", e.Name, "error", err)
		return
	}
	ct.id, ct.env = e.ID, cat.envs[ct.Environment]
	if ct.env == nil && len(cat.sortedEnvs) > 0 && ct.Environment == "" {
		ct.env = cat.sortedEnvs[0]
	}
	cat.types[e.Name], cat.typesByID[e.ID] = ct, ct
	cat.sortedTypes = append(cat.sortedTypes, ct)
}

func compileType(export []byte, forms map[string]*schema.Field) (*contentType, error) {
	parsed, err := schema.Parse(export)
	if err != nil {
		return nil, err
	}
	compiled, err := schema.Compile(parsed, formsOf(forms))
	if err != nil {
		return nil, err
	}
	ct := &contentType{ContentType: parsed, compiled: compiled, rights: auth.ContentRights{Type: parsed.Name, Roles: map[string]string{}}}
	ct.suffix = append(rawjson.AppendString([]byte(`"_contenttype":`), parsed.Name), ',')
	ct.circles = parsed.Fields["circles"]
	for _, f := range compiled.Fields() {
		if len(f.Roles) > 0 {
			ct.restricted = append(ct.restricted, f)
		}
	}
	ct.menuRoles = compiled.MenuRoles()
	roles := property(export, "roles")
	for it := rawjson.Iterate(roles); rawjson.KindOf(roles) == rawjson.Map && it.Next(); {
		if name, ok := rawjson.String(it.Value()); ok {
			ct.rights.Roles[string(it.Key())] = name
		}
	}
	return ct, nil
}

func formsOf(forms map[string]*schema.Field) func(string) (*schema.Field, bool) {
	return func(name string) (*schema.Field, bool) { f, ok := forms[name]; return f, ok }
}

func (c *catalogs) environment(e entity) *environment {
	env := &environment{id: e.ID, name: e.Name, alias: c.instance + e.Name, managed: true, export: e.Export}
	if v := property(e.Export, "managed"); string(v) == "false" {
		env.managed = false
	}
	env.snapshot = string(property(e.Export, "snapshot")) == "true"
	_ = json.Unmarshal(property(e.Export, "orderKey"), &env.order)
	var state environmentState
	_ = json.Unmarshal(e.State, &state) // written by us; empty when it is not there
	env.index, env.next, env.reindex = cmp.Or(state.Index, env.alias), state.Next, state.Reindex
	return env
}

// property gives a member of an export's properties, null when there is none.
func property(export []byte, name string) []byte { return value(value(export, "properties"), name) }

func value(object []byte, key string) []byte {
	if v, ok := rawjson.Get(object, key); ok {
		return v
	}
	return []byte("null")
}

// members reads the environments of a managed alias from its state.
func members(state []byte) []string {
	var s struct {
		Environments []string `json:"environments"`
	}
	_ = json.Unmarshal(state, &s) // written by us; empty when it is not there
	return s.Environments
}

// contentType gives an active content type whose default environment exists.
func (c *catalogs) contentType(ctx context.Context, name string) (*contentType, error) {
	cat, err := c.get(ctx)
	if err != nil {
		return nil, err
	}
	ct := cat.types[name]
	if ct == nil {
		if cat, err = c.reload(ctx, false); err != nil {
			return nil, err
		}
		ct = cat.types[name]
	}
	switch {
	case ct == nil || !ct.Active || ct.Deleted:
		return nil, problem.New(problem.NotFound, "there is no content type %q", name).WithCode("unknown_content_type")
	case ct.env == nil:
		return nil, problem.New(problem.Invalid, "the environment %q of content type %q does not exist", ct.Environment, name)
	case !ct.env.managed:
		return nil, problem.New(problem.Invalid, "the environment %q of content type %q is not managed here", ct.Environment, name)
	}
	return ct, nil
}

// environmentByName gives a managed environment; NotFound when there is none.
func (c *catalogs) environmentByName(ctx context.Context, name string) (*environment, error) {
	cat, err := c.get(ctx)
	if err != nil {
		return nil, err
	}
	env := cat.envs[name]
	if env == nil {
		if cat, err = c.reload(ctx, false); err != nil {
			return nil, err
		}
		env = cat.envs[name]
	}
	if env == nil || !env.managed {
		return nil, unknownEnvironment(name)
	}
	return env, nil
}

func unknownEnvironment(name string) error {
	return problem.New(problem.NotFound, "there is no environment %q", name).WithCode("unknown_environment")
}
