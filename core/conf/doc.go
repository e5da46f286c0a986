// Package conf loads the configuration of Quoin and checks it.
//
// Four layers lie over one another, each key on its own: the embedded
// defaults, the configuration file, the environment, the command line. Lists
// are replaced as a whole, mappings are merged. A key of the file
//
//	modules:
//	  search:
//	    enabled: false
//
// is QUOIN_MODULES__SEARCH__ENABLED=false in the environment and
// --set modules.search.enabled=false on the command line.
//
// A value, never a key, may hold ${env:NAME}, ${env:NAME:-default} and
// ${file:/path}; $${ stands for a literal ${. What a reference gives is not
// expanded again.
//
// The caller declares sections: a dotted name and a pointer to a struct that
// already holds the defaults. Check fills every struct, refuses what nobody
// declared, and tells all findings at once, each with the file and line, the
// variable or the flag it came from. Schema, Defaults and Print are made from
// the same structs, so they cannot drift from what is read.
//
// Struct fields use these tags:
//
//	yaml:"name"         key in lower_snake_case; "-" skips, ",inline" lifts the fields of a struct
//	doc:"sentence"      description for the schema and the commented default file
//	enum:"json,text"    the only values allowed for a string
//
// Field types: string, bool, integers, floats, time.Duration ("5m"), Bytes
// ("32MiB"), Secret, anything with UnmarshalText, structs, slices, and maps
// with string keys. A list in the environment is separated by commas; a list
// or mapping of structures there is written as YAML or JSON.
package conf
