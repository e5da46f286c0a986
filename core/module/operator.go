package module

import (
	"context"
	"errors"
	"fmt"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/problem"
)

// Operator gives the context of who runs a command: whoever ctx says, else
// somebody with access to the database.
func Operator(ctx context.Context) context.Context {
	if auth.From(ctx) != nil {
		return ctx
	}
	return auth.With(ctx, auth.System("command line"))
}

// Say prints a sentence for people, or the value under --json.
func (c *Call) Say(value any, format string, args ...any) error {
	if c.JSON {
		return c.Table(value, nil, nil)
	}
	_, err := fmt.Fprintf(c.Out, format+"\n", args...)
	return err
}

// Advise says an error of a service as people read it at a command line. hints
// tell by the code of the problem what to do next.
func Advise(err error, hints map[string]string) error {
	var p *problem.Problem
	if !errors.As(err, &p) {
		return err
	}
	if hint := hints[p.Code]; hint != "" {
		return fmt.Errorf("%s: %s", p.Detail, hint)
	}
	switch {
	case p.Cause != nil:
		return err
	case len(p.Fields) > 0:
		return fmt.Errorf("%s: %s", p.Fields[0].Path, p.Fields[0].Message)
	}
	return errors.New(p.Detail)
}
