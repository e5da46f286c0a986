// Package double is a protocol double of a Typesense 29 server, for the tests
// of the Typesense adapter. It is importable from tests only.
//
// It keeps collections, aliases and documents in memory and answers the
// requests that a recording of a real server holds as that server did; the
// package's own test replays the recording (testdata/exchanges.jsonl.gz) from
// an empty state. What the server tokenises, folds, cuts or silently drops is
// tokenised, folded, cut and dropped here as well, so that an adapter that
// passes against the double does not owe it to a friendlier server.
//
// It is stricter in one respect: a request known to hang or kill a server, or
// to be answered with 200 and the wrong set, is a violation. Each violation
// goes to [Options.Violation], in a test usually t.Errorf; the ones that a
// server would not survive are answered by closing the connection.
//
//	ts := double.New(double.Options{Key: "secret", Violation: t.Errorf})
//	t.Cleanup(ts.Close)
//	client := adapter.New(ts.URL(), "secret")
//
// Not in the double: automatic field types, nested objects, synonyms,
// overrides, presets, vectors, conversion of dirty values, union searches.
// Asking for one of them is a violation too.
package double
