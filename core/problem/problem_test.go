package problem_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/problem"
)

func TestEveryKindHasItsFace(t *testing.T) {
	seen := map[string]bool{}
	for k := problem.Internal; k <= problem.Unsupported; k++ {
		if k.Status() < 400 || k.RPCCode() >= 0 || k.Title() == "" || seen[k.Name()] {
			t.Errorf("kind %d: status %d, rpc %d, name %q", k, k.Status(), k.RPCCode(), k.Name())
		}
		seen[k.Name()] = true
		if got := problem.KindOf(k.Status()); got != k {
			t.Errorf("the status %d is that of kind %d, not of %d", k.Status(), got, k)
		}
	}
	if problem.KindOf(418) != problem.Internal {
		t.Error("a status of no kind must be an internal error")
	}
	if problem.Kind(200).Status() != 500 {
		t.Error("a kind outside the table must be an internal error")
	}
}

func TestFromHidesForeignErrors(t *testing.T) {
	secret := errors.New("pq: relation \"token\" does not exist")
	p := problem.From(fmt.Errorf("load: %w", secret))
	if p.Kind != problem.Internal || strings.Contains(p.Detail, "relation") {
		t.Errorf("a foreign error leaks: %+v", p)
	}
	if !errors.Is(p, secret) {
		t.Error("the cause must stay reachable for the log")
	}
	known := problem.Field(problem.Invalid, "a.b", "must be %s", "a string")
	if got := problem.From(fmt.Errorf("x: %w", known)); got != known || got.Fields[0].Path != "a.b" {
		t.Errorf("a wrapped problem must be found: %+v", got)
	}
	if !problem.Is(known, problem.Invalid) || problem.Is(secret, problem.Invalid) {
		t.Error("Is must look at the kind")
	}
}
