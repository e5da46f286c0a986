// Package typesense is the search engine on a Typesense server, shared by any
// number of Quoin processes.
//
// Each index has generations. A generation is two collections: one row per
// document, and one row per object of a nested path, which refers to its
// document. Values are kept in typed families of fields, in codes that the
// tokenizer of the server cannot change (codec.go); texts are analyzed here.
// What exists is written in a catalog on the server itself (catalog.go), so
// that processes share it and a restart builds nothing anew. No request leaves
// without passing the guard (guard.go), which knows what hangs or kills a node.
package typesense
