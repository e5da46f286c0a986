package port

import (
	"context"
	"io"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/problem"
)

// Revision is a revision of a document.
type Revision struct {
	Key Key
	ID  int64
	// Draft tells that it is being worked on: it is published nowhere.
	Draft bool
	Raw   []byte // the JSON object
	// ETag names this state of the revision; a draft that is changed gets
	// another one.
	ETag         string
	Created      string // ISO 8601
	CreatedBy    string
	Environments []string // where it is published
}

// Saved is the result of a write.
type Saved struct {
	Key      Key
	Revision int64
	Draft    bool
	Created  bool // the document is new
	ETag     string
	Warnings []problem.FieldError // findings that do not hinder
	Notices  []string
}

// DocumentType is a content type as somebody who works with its documents sees
// it.
type DocumentType struct {
	Name        string
	Singular    string
	Plural      string
	Description string // plain text, may be empty
	Environment string // the default one
	Rights      []auth.Right
}

// Editor reads and writes documents with the rights of the identity of ctx. A
// content type or a document that does not exist is NotFound, a missing right
// Forbidden, data that breaks the content type Unprocessable with the paths.
type Editor interface {
	// Types lists the content types that may be viewed, by name.
	Types(ctx context.Context) ([]DocumentType, error)
	// Schema is the JSON Schema (2020-12) of the documents that the identity may
	// write: without the fields whose minimum role it lacks.
	Schema(ctx context.Context, contentType string) ([]byte, error)
	// ConfigVersion changes with every change of a content type.
	ConfigVersion(ctx context.Context) (int64, error)
	// Read gives the newest revision, which may be a draft; with an id another
	// one.
	Read(ctx context.Context, k Key, revision int64) (*Revision, error)
	// Published gives the revision in an environment: NotFound when there is
	// none.
	Published(ctx context.Context, k Key, environment string) (*Revision, error)
	// History lists revisions without their data, newest first.
	History(ctx context.Context, k Key, limit int) ([]Revision, error)
	// CreateDraft starts a document as a draft; without an ouuid it gets one.
	CreateDraft(ctx context.Context, k Key, raw []byte) (*Saved, error)
	// UpdateDraft changes the draft of a document, or starts one: from raw
	// alone, or from what there is with the members of raw in their places.
	// With etag it is PreconditionFailed unless the document is in that state.
	UpdateDraft(ctx context.Context, k Key, raw []byte, merge bool, etag string) (*Saved, error)
	// Finalize ends the draft of a document and puts it into the default
	// environment. etag is the state that was looked at.
	Finalize(ctx context.Context, k Key, revision int64, etag string) (*Saved, error)
	// Publish puts a finalized revision into an environment.
	Publish(ctx context.Context, k Key, revision int64, environment string) (*Saved, error)
	// Discard throws a draft away.
	Discard(ctx context.Context, k Key, revision int64, etag string) (*Saved, error)
}

// Searcher searches the published documents that the identity of ctx may view.
type Searcher interface {
	// SearchDocuments answers a search object (spec.md 2.7) in the form of
	// Elasticsearch.
	SearchDocuments(ctx context.Context, object []byte) ([]byte, error)
}

// File is what is known about a file.
type File struct {
	Hash string
	Algo string
	Name string
	Type string // media type
	Size int64  // bytes
}

// FileUpload is how far an upload is.
type FileUpload struct {
	File
	Uploaded  int64 // bytes that were received
	Available bool  // complete and stored
	User      string
}

// Files reads and stores files.
type Files interface {
	// HashAlgorithm names the hash of files: sha1, sha256 or blake3.
	HashAlgorithm() string
	// MaxFileSize is the largest file, in bytes.
	MaxFileSize() int64
	// File tells about a file: NotFound when there is none.
	File(ctx context.Context, hash string) (*File, error)
	// OpenFile gives its bytes.
	OpenFile(ctx context.Context, hash string) (io.ReadSeekCloser, error)
	// BeginUpload announces a file (spec.md 3.2); it tells where to go on.
	BeginUpload(ctx context.Context, f File) (*FileUpload, error)
	// AddChunk stores the next bytes.
	AddChunk(ctx context.Context, hash string, body io.Reader, length int64) (*FileUpload, error)
}

// Profiles tells about accounts.
type Profiles interface {
	// Profile gives the profile of the identity of ctx as a JSON object
	// (spec.md 2.1).
	Profile(ctx context.Context) ([]byte, error)
}
