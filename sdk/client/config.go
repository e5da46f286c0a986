package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"time"
)

// Config is about the configuration that is kept in the server: content types,
// environments, forms, schedules and so on, each an entity with a JSON export
// form. It needs ROLE_ADMIN unless a method says otherwise.
type Config struct{ c *Client }

// Kinds lists the kinds of entities, such as content-type. GET
// /api/admin/config-types.
func (g *Config) Kinds(ctx context.Context) ([]string, error) {
	return g.names(ctx, get("/api/admin/config-types"))
}

// ContentTypes lists the names of the active content types. Needs no ROLE_ADMIN.
// GET /api/admin/content-types.
func (g *Config) ContentTypes(ctx context.Context) ([]string, error) {
	return g.names(ctx, get("/api/admin/content-types"))
}

// List lists the names of the entities of a kind. GET /api/admin/{entity}.
func (g *Config) List(ctx context.Context, kind string) ([]string, error) {
	return g.names(ctx, get("/api/admin/{}", kind))
}

func (g *Config) names(ctx context.Context, k *call) (all []string, err error) {
	_, err = g.c.do(ctx, k, &all)
	return all, err
}

// Versions gives the versions that the server claims, by the names that clients
// of elasticms ask for, and its own as quoin. Needs no ROLE_ADMIN. GET
// /api/admin/versions.
func (g *Config) Versions(ctx context.Context) (versions map[string]string, err error) {
	_, err = g.c.do(ctx, get("/api/admin/versions"), &versions)
	return versions, err
}

// Get reads an entity in its export form. GET /api/admin/{entity}/{name}.
func (g *Config) Get(ctx context.Context, kind, name string) (export json.RawMessage, err error) {
	_, err = g.c.do(ctx, get("/api/admin/{}/{}", kind, name), &export)
	return export, err
}

// Put creates an entity, or replaces it. export is JSON (a []byte or
// json.RawMessage), or a value that becomes JSON. POST
// /api/admin/{entity}/{name}.
func (g *Config) Put(ctx context.Context, kind, name string, export any) (id string, err error) {
	return g.save(ctx, post("/api/admin/{}/{}", kind, name).json(export).idempotent())
}

// Create creates an entity whose name is in its export form. POST
// /api/admin/{entity}.
func (g *Config) Create(ctx context.Context, kind string, export any) (id string, err error) {
	return g.save(ctx, post("/api/admin/{}", kind).json(export))
}

// Delete removes an entity; 409 while something needs it. DELETE
// /api/admin/{entity}/{name}.
func (g *Config) Delete(ctx context.Context, kind, name string) error {
	_, err := g.save(ctx, newCall(http.MethodDelete, "/api/admin/{}/{}", kind, name))
	return err
}

func (g *Config) save(ctx context.Context, k *call) (string, error) {
	var a struct {
		ID string `json:"id"`
	}
	_, err := g.c.do(ctx, k.judged(), &a)
	return a.ID, err
}

// Environment is where documents are published.
type Environment struct {
	Name     string `json:"name"`
	Managed  bool   `json:"managed"`
	Snapshot bool   `json:"snapshot"`
}

// EnvironmentFilter says which environments are wanted; nil is both.
type EnvironmentFilter struct{ Managed, Snapshot *bool }

// Environments lists the environments. Needs no ROLE_ADMIN. GET
// /api/meta/environments.
func (g *Config) Environments(ctx context.Context, f EnvironmentFilter) ([]Environment, error) {
	k := get("/api/meta/environments")
	for name, wanted := range map[string]*bool{"managed": f.Managed, "snapshot": f.Snapshot} {
		if wanted != nil {
			k.set(name, map[bool]string{true: "true", false: "false"}[*wanted])
		}
	}
	var all []Environment
	_, err := g.c.do(ctx, k, &all)
	return all, err
}

// AttachAlias puts an environment behind a managed alias, which may be named
// with or without the id of the instance. POST
// /api/meta/alias-attach-environment.
func (g *Config) AttachAlias(ctx context.Context, alias, environment string) error {
	k := post("/api/meta/alias-attach-environment").idempotent().judged().json(map[string]string{"alias": alias, "environment": environment})
	_, err := g.c.do(ctx, k, nil)
	return err
}

// Whereabouts is where a document stands.
type Whereabouts struct {
	Revision  int64             `json:"id"`        // the newest one
	Draft     bool              `json:"draft"`     // whether that is a draft
	Revisions map[string]int64  `json:"revisions"` // by environment, what is published there; 0: nothing
	Status    map[string]string `json:"status"`    // by environment: published, outdated or not_published
}

// Published tells where documents stand, by ouuid; of documents of two types
// with the same ouuid the second one is named by its link. A link is
// contenttype:ouuid. Documents that do not exist, or that the caller may not
// view, are missing. environments are those to look at, besides the default one
// of the content type; none: all. Needs no ROLE_ADMIN. POST
// /api/meta/info/documents.
func (c *Client) Published(ctx context.Context, links, environments []string) (map[string]Whereabouts, error) {
	body := map[string][]string{"emsLinks": links}
	if len(environments) > 0 {
		body["environments"] = environments
	}
	var a struct {
		Info map[string]Whereabouts `json:"info"`
	}
	_, err := c.do(ctx, post("/api/meta/info/documents").idempotent().json(body), &a)
	return a.Info, err
}

// OpenAPI gives the document that describes the API of the server. GET
// /openapi.json.
func (c *Client) OpenAPI(ctx context.Context) (document json.RawMessage, err error) {
	_, err = c.do(ctx, get("/openapi.json"), &document)
	return document, err
}

// AuditEntry is a record of what happened.
type AuditEntry struct {
	ID        int64           `json:"id"`
	At        time.Time       `json:"at"`
	Actor     string          `json:"actor"`
	Type      string          `json:"type"`
	Subject   string          `json:"subject"`
	Data      json.RawMessage `json:"data"`
	RequestID string          `json:"request_id"`
}

// AuditFilter says which records are wanted; empty members fit all.
type AuditFilter struct {
	Actor, Type, Subject string // Type may be a beginning that ends in *
	Since, Until         time.Time
}

// Audit gives who did what, the newest first. Needs ROLE_AUDITOR. GET
// /api/admin/audit.
func (c *Client) Audit(ctx context.Context, f AuditFilter) iter.Seq2[*AuditEntry, error] {
	return pages(func(before int64) ([]*AuditEntry, int64, error) {
		var page struct {
			Entries []*AuditEntry `json:"entries"`
			Before  int64         `json:"before"`
		}
		k := get("/api/admin/audit").set("actor", f.Actor).set("type", f.Type).set("subject", f.Subject).
			set("since", written(f.Since)).set("until", written(f.Until)).number("before", before).number("size", 1000)
		_, err := c.do(ctx, k, &page)
		return page.Entries, page.Before, err
	})
}

// written gives a time as the API reads it, or nothing.
func written(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
