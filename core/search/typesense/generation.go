package typesense

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/analysis"
	"github.com/quoin-cms/quoin/core/search/dates"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// generation is an index in one of its forms: two collections and what the
// settings make of documents and queries. It is safe for concurrent use.
type generation struct {
	index string // the name in what is answered
	main  string // collection of the documents
	rows  string // collection of nested objects

	iso   *dates.Format
	first sync.Mutex // held while the server is asked for its fields for the first time

	mu       sync.Mutex // guards what follows
	hash     string     // of the settings
	settings search.Settings
	set      *analysis.Set
	standard *analysis.Analyzer
	reg      *mapping.Registry
	plan     *mapping.Plan
	fields   map[string]*mapping.Field // by the name of the column
	asked    time.Time                 // when the server was asked for its fields
	asking   bool

	known atomic.Pointer[columns]
	names sync.Map // *mapping.Field → *naming
}

// column is a field of a collection that holds values of a path.
type column struct {
	Name  string
	Field *mapping.Field // as it was made, or would be if the process had seen it
}

// Of gives the field.
func (c column) Of() *mapping.Field { return c.Field }

// columns are the fields that the two collections are known to have. A filter
// that names another one is an error. It never changes.
type columns struct {
	main, rows part
}

type part struct {
	names map[string]bool
	paths map[string][]column
}

func newGeneration(index, main, hash string, s search.Settings) (*generation, error) {
	iso, err := dates.Parse("")
	if err != nil {
		return nil, err
	}
	g := &generation{index: index, main: main, rows: rowsOf(main), iso: iso, reg: mapping.NewRegistry(), fields: map[string]*mapping.Field{}}
	g.known.Store(&columns{})
	return g, g.configure(hash, s)
}

// configure sets what becomes of documents and queries from now on. Fields keep
// their identity as long as the analyzers are the same.
func (g *generation) configure(hash string, s search.Settings) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	set := g.set
	if set == nil || !sameAnalysis(g.settings, s) {
		var err error
		if set, err = analysis.NewSet(s); err != nil {
			return err
		}
	}
	standard, err := set.Get("")
	if err != nil {
		return err
	}
	plan, err := mapping.NewPlan(g.reg, set, s)
	if err != nil {
		return err
	}
	g.set, g.standard, g.plan, g.settings, g.hash = set, standard, plan, s, hash
	g.fields = map[string]*mapping.Field{}
	return nil
}

func sameAnalysis(a, b search.Settings) bool {
	return reflect.DeepEqual(a.Analyzers, b.Analyzers) && reflect.DeepEqual(a.Tokenizers, b.Tokenizers) &&
		reflect.DeepEqual(a.Filters, b.Filters) && reflect.DeepEqual(a.CharFilters, b.CharFilters)
}

// analyzer gives an analyzer of the index by its name.
func (g *generation) analyzer(name string) (*analysis.Analyzer, error) {
	g.mu.Lock()
	set := g.set
	g.mu.Unlock()
	return set.Get(name)
}

// rowsOf gives the collection of nested objects beside that of documents.
func rowsOf(main string) string { return main + "~n" }

// collection gives the collection that holds the objects of a nested path, or
// the documents for "".
func (g *generation) collection(space string) string {
	if space == "" {
		return g.main
	}
	return g.rows
}

// columns gives the fields with values of a path in the collection of a space.
// None means that no document has a value there.
func (g *generation) columns(space, path string) []column { return g.part(space).paths[path] }

// has tells whether the collection of a space has a field.
func (g *generation) has(space, name string) bool { return g.part(space).names[name] }

// paths gives the paths with values in the collection of a space, sorted.
func (g *generation) paths(space string) []string {
	return slices.Sorted(maps.Keys(g.part(space).paths))
}

func (g *generation) part(space string) *part {
	k := g.known.Load()
	if space == "" {
		return &k.main
	}
	return &k.rows
}

// spaces gives the kinds of objects, the documents first.
func (g *generation) spaces() []*mapping.Space {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.reg.Spaces)
}

// walk takes a document apart. Texts in the record are valid as long as the
// document and the record are.
func (g *generation) walk(d *search.Doc, r *mapping.Record) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.plan.Walk(d, r)
}

// full tells that the mapping left out fields because there were too many.
func (g *generation) full() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.reg.Full
}

// learn adds names of fields that the collections have.
func (g *generation) learn(main, rows []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	old := g.known.Load()
	fresh := &columns{main: old.main.with(main, g.fieldOf), rows: old.rows.with(rows, g.fieldOf)}
	g.known.Store(fresh)
}

// with gives the part with more names; itself if they are known.
func (p part) with(names []string, fieldOf func(string) *mapping.Field) part {
	if !slices.ContainsFunc(names, func(n string) bool { return !p.names[n] }) {
		return p
	}
	fresh := part{names: maps.Clone(p.names), paths: maps.Clone(p.paths)}
	if fresh.names == nil {
		fresh.names, fresh.paths = map[string]bool{}, map[string][]column{}
	}
	for _, name := range names {
		if fresh.names[name] {
			continue
		}
		fresh.names[name] = true
		if f := fieldOf(name); f != nil {
			list := append(slices.Clone(fresh.paths[f.Path]), column{Name: name, Field: f})
			slices.SortFunc(list, func(a, b column) int { return strings.Compare(a.Name, b.Name) })
			fresh.paths[f.Path] = list
		}
	}
	return fresh
}

// fieldOf gives the field whose values a column holds, nil if it holds none.
// The caller has locked mu.
func (g *generation) fieldOf(name string) *mapping.Field {
	if f := g.fields[name]; f != nil {
		return f
	}
	for _, f := range g.reg.Fields() {
		g.fields[columnOf(f)] = f
	}
	if f := g.fields[name]; f != nil {
		return f
	}
	prefix, path, _, ok := parseName(name)
	family, values := familyOf(prefix)
	if !ok || !values {
		return nil
	}
	f := &mapping.Field{Space: g.reg.Spaces[0], Path: path, Family: family}
	switch family {
	case mapping.Text:
		f.Analyzer, f.Search = g.standard, g.standard
	case mapping.Date:
		f.Format = g.iso
	}
	g.fields[name] = f
	return f
}

// columnOf gives the name of the column of a field. Fields of one path that are
// analyzed or written in different ways have different columns.
func columnOf(f *mapping.Field) string {
	return FieldName(prefixOf(f.Family), f.Path, tagOf(f))
}

// listColumnOf gives the name of the column that lists the tokens of a text, of
// which Field.Listed is set.
func listColumnOf(f *mapping.Field) string { return FieldName(inTokens, f.Path, tagOf(f)) }

// lengthColumnOf gives the name of the column that says how many words an object
// has in a text.
func lengthColumnOf(f *mapping.Field) string { return FieldName(inLength, f.Path, tagOf(f)) }

// tagOf is empty for what documents make by themselves.
func tagOf(f *mapping.Field) string {
	text := ""
	switch {
	case f.Family == mapping.Text && (f.Analyzer.Name() != "standard" || f.Search.Name() != "standard" || f.Listed):
		text = f.Analyzer.Name() + "\x00" + f.Search.Name()
		if f.Listed {
			text += "\x00listed"
		}
	case f.Family == mapping.Date && f.Format.String() != dates.Default:
		text = f.Format.String()
	}
	if text == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:4])
}

func (g *generation) settingsHash() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.hash
}

// due tells whether the server was never asked for its fields, and otherwise
// whether it should be asked again, which the caller does then.
func (g *generation) due() (never, again bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.asked.IsZero() {
		return true, false
	}
	if g.asking || time.Since(g.asked) < fieldsAge {
		return false, false
	}
	g.asking = true
	return false, true
}

// answered ends what due began; a zero time says that there was no answer.
func (g *generation) answered(at time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asking = false
	if !at.IsZero() {
		g.asked = at
	}
}
