package search

import "context"

// Cursor walks through the documents that matched a request at one moment,
// whatever is written or deleted since. It is used by one goroutine at a time
// and needs no closing.
type Cursor interface {
	// Next gives the next page, of as many hits as the request had in Size and
	// without scores, with the total of all pages. Types are the content types
	// that the caller may view now: documents of others are left out of hits
	// and total; nil means all. A page without hits is the end. Aggregations
	// are in the first page. After an error the same page can be asked for
	// again.
	Next(ctx context.Context, types []string) (*Response, error)
	// Done tells that there is nothing left to give.
	Done() bool
	// Tidy gives back memory that is held for this cursor alone. It is to be
	// called every few seconds.
	Tidy()
}

// Portable is a cursor that holds nothing but where it stands, so that any
// process which reaches the same documents can continue it (see Resumer).
type Portable interface {
	Cursor
	// Place tells in some hundred bytes where the cursor stands.
	Place() ([]byte, error)
}

// Resumer is an engine whose cursors are Portable.
type Resumer interface {
	// Resume gives the cursor that stands at a place, of the same request; its
	// Now must be set and be the same as well. A place that does not come from
	// Place is Invalid.
	Resume(r *Request, place []byte) (Cursor, error)
}
