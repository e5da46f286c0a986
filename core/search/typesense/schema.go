package typesense

import (
	"github.com/typesense/typesense-go/v3/typesense/api"
)

// field describes one field or, with .* in the name, all fields of a family;
// those come into being with their first value.
func field(name, kind string, options ...func(*api.Field)) api.Field {
	f := api.Field{Name: name, Type: kind}
	for _, set := range options {
		set(&f)
	}
	return f
}

func facet(f *api.Field)    { f.Facet = yes() }
func sorted(f *api.Field)   { f.Sort = yes() }
func unsorted(f *api.Field) { f.Sort = no() }
func optional(f *api.Field) { f.Optional = yes() }
func stored(f *api.Field)   { f.Index, f.Optional = no(), yes() }

func yes() *bool { b := true; return &b }
func no() *bool  { b := false; return &b }

// mainSchema is the collection of the documents of a generation.
func mainSchema(name string) *api.CollectionSchema {
	return &api.CollectionSchema{Name: name, Fields: append(families(),
		field(fieldSource, "string", stored),
		field(fieldKey, "string", stored),
		field(fieldRef, "int64", stored),
	)}
}

// rowsSchema is the collection of the nested objects, which go with their
// document: its collection must exist before, and be dropped after this one.
func rowsSchema(main string) *api.CollectionSchema {
	root := main + ".id"
	return &api.CollectionSchema{Name: rowsOf(main), Fields: append(families(),
		field(fieldRoot, "string", facet, func(f *api.Field) { f.Reference = &root }),
		field(fieldUp, "string", facet),
		field(fieldSpace, "string"),
	)}
}

func families() []api.Field {
	return []api.Field{
		field(inKeyword+"_.*", "string[]", facet, optional),
		field(inTokens+"_.*", "string[]", facet, optional),
		field(inText+"_.*", "string[]", optional),
		field(inDouble+"_.*", "int64[]", facet, unsorted, optional),
		field(inLong+"_.*", "int64[]", facet, unsorted, optional),
		field(inDate+"_.*", "int64[]", facet, unsorted, optional),
		field(inBoolean+"_.*", "int64[]", facet, unsorted, optional),
		field(inGeo+"_.*", "int64[]", facet, unsorted, optional),
		field(inLength+"_.*", "int64[]", facet, unsorted, optional),
		field(inSort+"_.*", "string", sorted, optional),
		field(inSortNumber+"_.*", "int64", sorted, optional),
		field(fieldPaths, "string[]"),
		field(fieldRepeated, "string[]", optional),
		field(fieldOrder, "int64", sorted),
	}
}
