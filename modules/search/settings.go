package search

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
	"github.com/quoin-cms/quoin/core/search"
	"github.com/quoin-cms/quoin/core/search/analysis"
	"github.com/quoin-cms/quoin/core/search/dates"
	"github.com/quoin-cms/quoin/core/search/mapping"
)

// configuration is what content is indexed by, as the content store tells it.
type configuration struct {
	types              []port.ContentType
	analyzers, filters map[string][]byte
}

func readConfiguration(ctx context.Context, types port.ContentTypes) (c configuration, err error) {
	if c.types, err = types.All(ctx); err != nil {
		return c, err
	}
	c.analyzers, c.filters, err = types.Analysis(ctx)
	return c, err
}

func (c configuration) equal(other configuration) bool {
	same := func(a, b map[string][]byte) bool {
		return maps.EqualFunc(a, b, func(x, y []byte) bool { return string(x) == string(y) })
	}
	return same(c.analyzers, other.analyzers) && same(c.filters, other.filters) &&
		slices.EqualFunc(c.types, other.types, func(a, b port.ContentType) bool {
			return a.Name == b.Name && reflect.DeepEqual(a.Fields, b.Fields)
		})
}

// settingsOf makes the settings of every index. People configure analyzers
// and fields for another engine and one at a time, so what cannot be honoured
// must not stop the rest: it is left out, and findings tell what and why.
func settingsOf(c configuration) (s search.Settings, findings []string) {
	b := settingsBuilder{configured: c.analyzers, s: search.Settings{
		Types: map[string][]search.Field{}, Analyzers: map[string]json.RawMessage{}, Filters: map[string]json.RawMessage{},
	}}
	for name, options := range c.filters {
		if rawjson.KindOf(rawjson.Object(options)) == rawjson.Map {
			b.s.Filters[name] = options
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.analyzers)) {
		b.analyzer(name, c.analyzers[name])
	}
	set, err := analysis.NewSet(b.s)
	if err != nil { // each was tried before
		b.find("the analyzers: %s", problem.From(err).Detail)
		b.s.Analyzers = nil
		set, _ = analysis.NewSet(b.s)
	}
	b.set = set
	for _, t := range c.types {
		fields := make([]search.Field, 0, len(t.Fields))
		for _, f := range t.Fields {
			if field, ok := b.field(t.Name+"."+f.Path, f.Path, f); ok {
				fields = append(fields, field)
			}
		}
		b.s.Types[t.Name] = fields
	}
	if _, err := mapping.NewPlan(mapping.NewRegistry(), set, b.s); err != nil {
		b.find("the fields: %s; every field is indexed by what it holds", problem.From(err).Detail)
		b.s.Types = nil
	}
	return b.s, b.findings
}

type settingsBuilder struct {
	s          search.Settings
	set        *analysis.Set
	configured map[string][]byte
	findings   []string
}

func (b *settingsBuilder) find(format string, args ...any) {
	b.findings = append(b.findings, fmt.Sprintf(format, args...))
}

// analyzer keeps an analyzer that can be made.
func (b *settingsBuilder) analyzer(name string, options []byte) {
	one := search.Settings{Filters: b.s.Filters, Analyzers: map[string]json.RawMessage{name: options}}
	if _, err := analysis.NewSet(one); err != nil {
		b.find("analyzer %s is replaced by the standard one: %s", name, problem.From(err).Detail)
		return
	}
	b.s.Analyzers[name] = options
}

// field translates a field; false if the values decide how it is indexed.
func (b *settingsBuilder) field(where, path string, f port.Field) (search.Field, bool) {
	kind, known := search.KindOf(f.Kind)
	switch {
	case f.Nested:
		kind = search.KindNested
	case f.Kind == "" || f.Kind == "dynamic":
		return search.Field{}, false
	case !known:
		b.find("%s is not indexed: the kind %q is not supported", where, f.Kind)
		kind = search.KindStored
	}
	out := search.Field{
		Path: path, Kind: kind, CopyTo: f.CopyTo, NoIndex: !f.Index, Format: f.Format,
		Analyzer: b.known(where, f.Analyzer), SearchAnalyzer: b.known(where, f.SearchAnalyzer),
	}
	if _, err := dates.Parse(f.Format); kind == search.KindDate && err != nil {
		b.find("%s has the default date format: %s", where, err)
		out.Format = ""
	}
	for _, name := range slices.Sorted(maps.Keys(f.Fields)) {
		if sub, ok := b.field(where+"."+name, name, f.Fields[name]); ok {
			out.Fields = append(out.Fields, sub)
		}
	}
	return out, true
}

// known gives the name of an analyzer if there is one, else "", the standard
// one.
func (b *settingsBuilder) known(where, analyzer string) string {
	if _, err := b.set.Get(analyzer); err != nil {
		if _, told := b.configured[analyzer]; !told {
			b.find("%s has the standard analyzer: there is no %q", where, analyzer)
		}
		return ""
	}
	return analyzer
}

// changedTypes names the content types whose documents must be indexed anew
// when settings change from a to b; all tells that every document must.
func changedTypes(a, b search.Settings) (types []string, all bool) {
	if !reflect.DeepEqual(a.Analyzers, b.Analyzers) || !reflect.DeepEqual(a.Filters, b.Filters) {
		return nil, true
	}
	for name, fields := range b.Types {
		if old, ok := a.Types[name]; !ok || !reflect.DeepEqual(old, fields) {
			types = append(types, name)
		}
	}
	for name := range a.Types { // its documents are mapped dynamically now
		if _, ok := b.Types[name]; !ok {
			types = append(types, name)
		}
	}
	return types, false
}
