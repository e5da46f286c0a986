package double

import "fmt"

// Limits beyond which a server hangs or dies.
const (
	maxFieldName = 200     // bytes of a field name; 20 kB pass, 60 kB kill
	maxJoinBody  = 8 << 10 // bytes inside `$collection(…)`; 20 kB pass, 23 kB kill
	maxOps       = 100     // operands and operators of one filter
	maxPerPage   = 250     // hits of one page
	maxSearches  = 50      // searches of one multi_search
	maxQuery     = 4000    // bytes of the query string of a GET
	candidates   = 4       // tokens that a prefix filter looks at by default
	facetBytes   = 255     // bytes of a facet value
	sortBytes    = 2000    // bytes of a string that sorting looks at
	defaultFacet = 10      // facet values without max_facet_values
	dropped      = 444     // no status: the connection is closed without answer
)

// violate reports a request that no adapter may send. The request is answered
// as the server would, which is why it is dangerous.
func (s *Server) violate(format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	s.log.Lock()
	s.violations = append(s.violations, message)
	s.log.Unlock()
	if s.opts.Violation != nil {
		s.opts.Violation("typesense double: %s", message)
	}
}

// fatal reports a request that would hang or kill a server. The connection is
// closed without an answer.
func (s *Server) fatal(format string, args ...any) *failure {
	s.violate(format, args...)
	return fail(dropped, "")
}

// unsupported reports a request that a server would answer and the double
// does not.
func (s *Server) unsupported(format string, args ...any) *failure {
	s.violate("not in the double: "+format, args...)
	return fail(500, "not in the double: "+fmt.Sprintf(format, args...))
}

// Violations gives what was reported so far, oldest first.
func (s *Server) Violations() []string {
	s.log.Lock()
	defer s.log.Unlock()
	return append([]string(nil), s.violations...)
}
