// Package schema knows what a content type is: a tree of fields, read from the
// export form of the original implementation or from our own short form, and
// compiled into what the other packages need: validation of documents, JSON
// Schema, the mapping of the search index, and the links in a document.
//
// All of it is pure: no database, no HTTP, no clock. A Compiled is immutable
// and safe for concurrent use.
//
// Where stored documents and old clients are lenient, Validate is too:
//
//   - null counts as absent everywhere.
//   - [] counts as an empty object and {} as an empty array: PHP writes both
//     as [].
//   - An empty string counts as absent in a choice, a link, a date and a menu.
//   - A single value in a multiple field is accepted with a warning; a file or
//     a date that is given as an array of one likewise.
//   - The size of a file may be a string of digits.
//   - A nested object may be an array of objects.
//   - A menu may be the array itself or, as it is stored, a string holding it.
//   - Inside a menu only wrong types are errors. Missing mandatory fields,
//     unknown node types and unlisted choices are warnings, because editors
//     have stored such nodes and the document must stay editable.
//   - A key that no field consumes is a warning, and the data is kept.
//
// Numbers are numbers: "12" in an integer field is an error.
package schema

import (
	"regexp"

	"github.com/quoin-cms/quoin/core/problem"
)

// ContentType is one content type: its names, rights and field tree
// (contract notes 4.4). What has no meaning for this service (templates,
// icons, colours) is not here; the caller keeps the export bytes.
type ContentType struct {
	Name        string // machine name, such as "page"
	Singular    string // one of them, for people
	Plural      string
	Description string
	Environment string // name of the default environment, such as "preview"
	OrderKey    int
	Active      bool
	Deleted     bool
	AskForOUUID bool // the creator gives the ouuid
	AutoPublish bool

	// Roles maps an action (view, create, edit, publish, delete, trash,
	// archive, owner, …) to the role it needs. An action without an entry, or
	// set to "not-defined" in the export, is missing here.
	Roles map[string]string

	VersionTags   []string          // empty: documents have no versions
	VersionFields map[string]string // date_from, date_to, version_tag → field name
	Fields        map[string]string // label, display, circles, asset, … → field name or expression

	Root *Field // a container; its children are the top-level fields

	// Warnings tell what was read with a loss, such as an unknown field type.
	// Path is the path of the field in the tree.
	Warnings []problem.FieldError
}

// Form is a named group of fields that a field of type "form" pulls in.
type Form struct {
	Name     string
	Label    string
	Root     *Field
	Warnings []problem.FieldError
}

// Field is one node of the tree. Which members have a meaning depends on the
// type; the others are zero.
type Field struct {
	Name        string
	Type        string // short name, such as "text"; an unknown type keeps its own name
	Label       string
	Description string
	Deleted     bool // kept for its data, takes no part in anything
	OrderKey    int

	Required    bool
	RequiredIf  string // path that must hold something for Required to apply; ".x" looks in the parent
	MinimumRole string // role needed to write the field, empty for everybody

	Multiple     bool
	Choices      []string // values of a choice; empty allows any string
	ChoiceLabels []string // labels of Choices, may be shorter
	Types        []string // content types that a link may point to; empty allows any
	Format       string   // Java date pattern or a name such as "date_time_no_millis"
	Values       []string // keys that a multiplexed container adds, such as fr, nl
	ValueLabels  []string // labels of Values, may be shorter
	Form         string   // name of the form to pull in
	From, To     string   // keys of a date range
	Nested       bool     // a date range lives under its own name
	Min, Max     *float64 // bounds of a number, or of the count of a collection

	Mapping Mapping

	Children []*Field
}

// Mapping is what a field says about its place in the search index.
type Mapping struct {
	Kind           string // overrides the kind of the type
	Analyzer       string
	SearchAnalyzer string
	CopyTo         []string
	NoIndex        bool   // stored, never searched
	NotAnalyzed    bool   // old spelling of keyword
	FieldData      bool   // a text that may be sorted by
	JSON           []byte // mapping of a computed field as Elasticsearch writes it
}

// Bounds of what Parse and Compile accept; a content type beyond them is a
// mistake or an attack.
const (
	maxFieldDepth = 40
	maxFields     = 5000
	maxNodes      = 20000
	parseDepth    = 4*maxFieldDepth + 20
)

var (
	typeName  = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_-]{0,99}$`)
	fieldName = regexp.MustCompile(`^[^\x00-\x20."\\]{1,128}$`)
)
