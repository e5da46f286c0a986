package typesense

import (
	"fmt"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
)

// engineName is what operators call this engine in search.engine.
const engineName = "typesense"

// refuse says that the engine cannot do what a clause asks for.
func refuse(q *search.Clause, what string, args ...any) error {
	return problem.Field(problem.Invalid, q.Path, "the engine %q cannot answer %q here: it would need %s", engineName, q.Name, fmt.Sprintf(what, args...))
}

// refuseClause says that the engine does not know a clause.
func refuseClause(q search.Query) error {
	return problem.Field(problem.Invalid, q.Info().Path, "the clause %q is not supported by the engine %q", q.Info().Name, engineName)
}

func refuseAt(path, what string, args ...any) error {
	return problem.Field(problem.Invalid, path, "the engine %q cannot do this: %s", engineName, fmt.Sprintf(what, args...))
}
