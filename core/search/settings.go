package search

import (
	"encoding/json"
	"slices"
)

// Settings is the configuration of one index.
type Settings struct {
	// Types holds the mapped fields per content type. Fields that occur in a
	// document but not here are mapped dynamically: strings become text with
	// a sub-field "keyword" (at most 256 characters), numbers, booleans and
	// ISO dates become what they are, objects are flattened, arrays are many
	// values. Strings under a top-level name that starts with "_" are
	// keywords.
	Types map[string][]Field
	// Analyzers, Tokenizers, Filters and CharFilters are the named entities
	// of analysis, each the JSON object of its options as Elasticsearch
	// writes it, such as {"type":"stop","stopwords":"_french_"}.
	Analyzers   map[string]json.RawMessage
	Tokenizers  map[string]json.RawMessage
	Filters     map[string]json.RawMessage
	CharFilters map[string]json.RawMessage
	// NoAll leaves out the field _all, the text of all text and keyword
	// fields together.
	NoAll bool
}

// Field maps one path of the documents of a content type.
type Field struct {
	// Path is dotted, through objects and nested objects: "fr.title".
	Path string
	Kind Kind
	// Analyzer and SearchAnalyzer name analyzers of a text field: built in or
	// from Settings. Empty means standard, and the same one for searches.
	Analyzer       string
	SearchAnalyzer string
	// Format of a date: Elasticsearch's names and Java patterns, joined by
	// "||". Empty means strict_date_optional_time||epoch_millis.
	Format string
	// CopyTo names fields that also get the values of this one.
	CopyTo []string
	// Fields are sub-fields; their Path is the name after the dot.
	Fields []Field
	// IgnoreAbove is the longest keyword that is indexed, in characters; 0
	// means 8191.
	IgnoreAbove int
	// Fielddata makes the tokens of a text available to sorts and
	// aggregations, as those of keywords are.
	Fielddata bool
	// NoIndex keeps the field out of the index: it is only in the source.
	NoIndex bool
}

// Kind is the kind of a mapped field, named as in Elasticsearch.
type Kind string

// The kinds of fields. KindStored is for those that an index does not hold
// (geo_shape, binary …): they are in the source and nowhere else.
const (
	KindText         Kind = "text"
	KindKeyword      Kind = "keyword"
	KindLong         Kind = "long"
	KindDouble       Kind = "double"
	KindBoolean      Kind = "boolean"
	KindDate         Kind = "date"
	KindNested       Kind = "nested"
	KindObject       Kind = "object"
	KindCompletion   Kind = "completion"
	KindSearchAsType Kind = "search_as_you_type"
	KindGeoPoint     Kind = "geo_point"
	KindStored       Kind = "stored"
)

// KindOf gives the kind for the name of a type in an Elasticsearch mapping,
// such as "integer" or "half_float"; false if there is none.
func KindOf(name string) (Kind, bool) {
	switch name {
	case "integer", "short", "byte", "unsigned_long", "token_count":
		return KindLong, true
	case "float", "half_float", "scaled_float":
		return KindDouble, true
	case "string", "match_only_text", "annotated_text":
		return KindText, true
	case "ip", "constant_keyword", "wildcard", "version":
		return KindKeyword, true
	case "date_nanos":
		return KindDate, true
	case "binary", "geo_shape", "attachment":
		return KindStored, true
	}
	k := Kind(name)
	return k, slices.Contains([]Kind{KindText, KindKeyword, KindLong, KindDouble, KindBoolean, KindDate,
		KindNested, KindObject, KindCompletion, KindSearchAsType, KindGeoPoint, KindStored}, k)
}
