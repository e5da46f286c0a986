// Package search is the port to a search engine and the query model that every
// adapter compiles.
//
// A request starts as an Elasticsearch-style object (spec 2.7). Package dsl
// parses it into a Request, a typed tree in which each node knows its JSON
// path. An adapter compiles that tree; what it cannot honour it refuses with
// problem.Invalid naming the clause and its path. The answer is a Response,
// which renders itself in Elasticsearch's shape whichever engine produced it.
//
// This package holds values and rules only: no index, no library of an index.
package search

import (
	"context"
)

// Key identifies a document: the name of its content type and its ouuid.
// Documents with the same ouuid in two content types are two documents.
type Key struct {
	Type  string
	OUUID string
}

// Doc is a document to be indexed.
type Doc struct {
	Key Key
	// Ref is an opaque number, such as the id of the revision, by which a
	// Loader finds the source again. It must be another number when the
	// source is another one.
	Ref int64
	// Stamp is another opaque number that is kept with the document. Together
	// with Ref it tells the states of a document apart, for an engine that
	// compares what it kept with what is there.
	Stamp int64
	// Raw is the JSON object exactly as a hit will give it in _source. Clients
	// of the search API expect it to hold a key _contenttype.
	Raw []byte
}

// Op is one change of an index: an upsert when Doc is set, else a deletion of
// the document Key. Deleting what is not there is no error.
type Op struct {
	Key Key
	Doc *Doc
}

// Loader gives the sources of documents, one per ref and in the order of refs.
// A nil element means that the source is gone; its hit is left out.
type Loader func(ctx context.Context, index string, refs []int64) ([][]byte, error)

// Target says where to search: concrete index names (aliases are resolved
// before, see Resolve) and the content types that the caller may view. Types
// nil means all, empty means none. An engine applies Types below every clause,
// count and aggregation, those called global and reverse_nested included.
type Target struct {
	Indices []string
	Types   []string
}

// AliasAction adds the alias to an index or removes it.
type AliasAction struct {
	Alias  string
	Index  string
	Remove bool
}

// Token is one token of an analyzed text. Offsets count bytes of the text,
// Position counts words from 0 and keeps the gaps of removed words.
type Token struct {
	Term     string
	Start    int
	End      int
	Position int
}

// Engine is the port to a search engine. All methods may be called from any
// number of goroutines. Errors meant for clients are problem.Problems:
// NotFound for an index or document that does not exist, Conflict for an index
// that does already, Invalid for what cannot be understood or honoured.
type Engine interface {
	// Create makes an empty index. Settings that name an unknown analyzer,
	// filter or kind of field are Invalid.
	Create(ctx context.Context, index string, s Settings) error
	// Configure replaces the settings of an index. They hold for documents
	// applied from now on; documents indexed before keep their form until
	// they are applied again.
	Configure(ctx context.Context, index string, s Settings) error
	// Drop removes an index and its places in aliases. Searches that run on
	// it finish.
	Drop(ctx context.Context, index string) error
	// Apply performs a batch in its order. It is idempotent. Documents that
	// are no JSON objects do not stop the batch: the others are applied, and
	// the error is Invalid with one field error per document refused, with the
	// path "type:ouuid".
	Apply(ctx context.Context, index string, ops []Op) error
	// Refresh returns when everything applied before is searchable.
	Refresh(ctx context.Context, index string) error

	// SetAliases performs all actions or none; a search sees the state
	// before or after all of them.
	SetAliases(ctx context.Context, actions []AliasAction) error
	// Aliases gives alias names with their concrete indices, sorted.
	Aliases(ctx context.Context) (map[string][]string, error)
	// Indices gives the names of the concrete indices, sorted.
	Indices(ctx context.Context) ([]string, error)

	// Search answers a request with hits, exact total and aggregations.
	Search(ctx context.Context, t Target, r *Request) (*Response, error)
	// Count gives the exact number of documents that match the query.
	Count(ctx context.Context, t Target, r *Request) (int64, error)
	// Scroll keeps what matches a request at this moment, to be read page by
	// page in the order of the index: Sort, From and scores do not matter.
	Scroll(ctx context.Context, t Target, r *Request) (Cursor, error)
	// Get gives the document with the ouuid. Two documents of different
	// content types with that ouuid are a Conflict.
	Get(ctx context.Context, t Target, ouuid string) (Hit, error)
	// Analyze gives the tokens that an analyzer of the index makes of a text.
	Analyze(ctx context.Context, index, analyzer, text string) ([]Token, error)

	// Version names the engine and its version.
	Version() string
	// Health is green, yellow (works, but incomplete) or red.
	Health(ctx context.Context) string
}
