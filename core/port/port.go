// Package port holds the small interfaces and plain values through which
// modules meet. No module imports another.
package port

import (
	"context"

	"github.com/quoin-cms/quoin/core/auth"
)

// Key identifies a document: the name of its content type and its ouuid.
type Key struct {
	Type  string
	OUUID string
}

// Published is the state of a document in one environment.
type Published struct {
	Key         Key
	Environment string
	// Revision is the id of the published revision; 0 when the document is not
	// in the environment (any more).
	Revision int64
	// At is when it was published, in microseconds since 1970. Together with
	// Revision it tells the states of a document apart.
	At int64
	// Raw is the JSON object as a search answers it in _source; nil when
	// Revision is 0.
	Raw []byte
}

// Documents is what other modules may read of the content store. It knows no
// rights: callers restrict what they ask for by ContentTypes.Visible.
type Documents interface {
	// States gives the state of the documents in every environment they are or
	// were published in.
	States(ctx context.Context, keys []Key, fn func(Published) error) error
	// Scan gives every published document of every environment, in the order of
	// their publication, for building an index from nothing.
	Scan(ctx context.Context, fn func(Published) error) error
	// Heads is Scan without Raw, content type by content type and in the order
	// of the ouuids, to compare with what an index has. It is quick: less than a
	// microsecond for each.
	Heads(ctx context.Context, fn func(Published) error) error
	// Sources loads the _source of revisions as published in an environment, in
	// order; nil for one that is not there.
	Sources(ctx context.Context, environment string, revisions []int64) ([][]byte, error)
}

// Environment is a place to which documents are published.
type Environment struct {
	Name string
	// Alias is what search calls it: the instance id and the name.
	Alias string
	// Index is the index behind the alias.
	Index string
	// Next is the index that is to be built and to take its place; empty for
	// none.
	Next string
	// Reindex asks that all documents be indexed again.
	Reindex bool
}

// Indexes keeps the names of the indexes of environments, so that every process
// knows them and a restart forgets nothing. An environment that does not exist
// is NotFound, but for Built.
type Indexes interface {
	// Renew asks for a new index and gives its name; one that was asked for and
	// is not in force yet is given again.
	Renew(ctx context.Context, environment string) (index string, err error)
	// Reindex asks that all documents be indexed again in the index that there
	// is.
	Reindex(ctx context.Context, environment string) error
	// Built notes that an index holds every document as of now, which Reindex
	// waits for. If it is the one that Renew gave it is in force from then on:
	// environment.new_index and manage_alias.update are emitted (spec.md 6.2).
	Built(ctx context.Context, environment, index string) error
	// Now lists the managed environments as the database has them at the call;
	// what ContentTypes.Environments lists may be a second old.
	Now(ctx context.Context) ([]Environment, error)
}

// Field is one field of a content type as the index sees it.
type Field struct {
	Path           string // dotted, with the nested parents
	Kind           string // text, keyword, long, double, boolean, date, nested, object …
	Nested         bool
	Index          bool
	Analyzer       string
	SearchAnalyzer string
	Format         string // of dates
	CopyTo         []string
	Fields         map[string]Field // sub-fields
}

// ContentType is what other modules may know of a content type.
type ContentType struct {
	Name        string
	Environment string // the default one
	Fields      []Field
	Rights      auth.ContentRights
}

// ContentTypes is the configuration that content is indexed and searched by.
type ContentTypes interface {
	// All lists the active content types.
	All(ctx context.Context) ([]ContentType, error)
	// Visible names the content types the identity of ctx may view.
	Visible(ctx context.Context) ([]string, error)
	// Environments lists the managed environments.
	Environments(ctx context.Context) ([]Environment, error)
	// Aliases gives the managed aliases: full name → names of environments.
	Aliases(ctx context.Context) (map[string][]string, error)
	// Analysis gives the analyzers or filters as JSON objects by name.
	Analysis(ctx context.Context) (analyzers, filters map[string][]byte, err error)
}

// NoServer is the code of a problem: no running server has answered a command.
const NoServer = "no_server"

// Refresher makes what was written before the call searchable. A module that
// answers refresh=true asks for it optionally.
type Refresher interface {
	// Refresh returns once the documents are searchable, or ctx ends. In a
	// process that does not hold the index, such as a command, it waits for the
	// one that does; its error has the code NoServer when there is none, and
	// then the next one finds the documents when it starts.
	Refresh(ctx context.Context, keys []Key) error
}

// Finder finds documents by a query. What a module does with many documents may
// be restricted by one.
type Finder interface {
	// Find hands out the documents of an environment that match a query of
	// Elasticsearch, such as {"term":{"category":"a"}}, or a whole search body
	// with a member query. Invalid for one that cannot be understood.
	Find(ctx context.Context, environment string, query []byte, fn func(Key)) error
}

// Entity is a kind of configuration served under /api/admin/{entity}, in the
// export form {class, arguments, properties, replaced}.
type Entity interface {
	// Names are the singular name first, then others that clients use; case,
	// hyphens and underscores make no difference.
	Names() []string
	// List gives the names of what is there (ids where there are no names).
	List(ctx context.Context) ([]string, error)
	// Get gives the export form; NotFound when there is none.
	Get(ctx context.Context, name string) ([]byte, error)
	// Put creates or updates from the export form; name is empty when the path
	// has none. It gives the id as a string.
	Put(ctx context.Context, name string, export []byte) (id string, err error)
	// Delete removes it and gives its id.
	Delete(ctx context.Context, name string) (id string, err error)
}

// FileHolder is a module whose data may name files by their hash.
type FileHolder interface {
	// FileTexts hands out every text in which the hash of a file may stand, as
	// a field or inside a link, in use or kept for later: what no text names is
	// removed by the garbage collection. fn must not keep the text.
	FileTexts(ctx context.Context, fn func(text []byte) error) error
}
