package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/quoin-cms/quoin/core/module"
	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/telemetry"
)

const askDrift = "drift"

// Drift compares how many documents of an environment the database and the
// index have.
type Drift struct {
	Environment string `json:"environment"`
	Stored      int64  `json:"stored"`
	Indexed     int64  `json:"indexed"`
}

// Drift counts the documents of every environment. The process must hold the
// index; others use Ask.
func (s *Service) Drift(ctx context.Context) ([]Drift, error) {
	environments, err := s.types.Environments(ctx)
	if err != nil {
		return nil, err
	}
	stored := map[string]int64{}
	err = s.index.docs.Heads(ctx, func(p port.Published) error {
		if p.Revision != 0 {
			stored[p.Environment]++
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	all := []Drift{}
	for _, env := range environments {
		n, err := s.indexed(ctx, env)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", env.Name, err)
		}
		all = append(all, Drift{env.Name, stored[env.Name], n})
	}
	return all, nil
}

// indexed counts the documents in the index of an environment.
func (s *Service) indexed(ctx context.Context, env port.Environment) (int64, error) {
	text, err := json.Marshal(map[string]any{"indices": []string{env.Alias}})
	if err != nil {
		return 0, err
	}
	return s.Count(ctx, text)
}

// diagnoses are what `quoin doctor` looks at.
func diagnoses(s *Service) []module.Diagnosis {
	return []module.Diagnosis{{Name: "index", Run: s.diagnose}}
}

func (s *Service) diagnose(ctx context.Context) ([]module.Finding, error) {
	ctx = module.Operator(ctx)
	found := func(level module.Level, says, do string) module.Finding {
		return module.Finding{Check: "index", Level: level, Says: says, Do: do}
	}
	var all []Drift
	err := s.Ask(ctx, askDrift, question{}, &all, nil)
	var p *problem.Problem
	if errors.As(err, &p) && p.Code == port.NoServer {
		return []module.Finding{found(module.Warn, "not looked at, for no server runs", "start the server and ask again")}, nil
	}
	if err != nil {
		return nil, advise(err)
	}
	var list []module.Finding
	documents := int64(0)
	for _, d := range all {
		documents += d.Stored
		if d.Stored != d.Indexed {
			list = append(list, found(module.Warn, fmt.Sprintf("%s: the database has %d documents and the index %d", d.Environment, d.Stored, d.Indexed),
				"ask again in a moment, for the index follows; if it stays, run quoin environment reindex "+d.Environment))
		}
	}
	if list == nil {
		list = append(list, found(module.Fine, fmt.Sprintf("the %d documents of %d environments are in it", documents, len(all)), ""))
	}
	return list, nil
}

// gauges tell how large the indexes are.
func gauges(s *Service) []telemetry.Gauge {
	return []telemetry.Gauge{{
		Name: "quoin_index_documents", Help: "Documents in the index of each environment.", Labels: []string{"environment"},
		Collect: func(ctx context.Context, emit func(float64, ...string)) error {
			ctx = module.Operator(ctx)
			environments, err := s.types.Environments(ctx)
			if err != nil {
				return err
			}
			for _, env := range environments {
				n, err := s.indexed(ctx, env)
				if err != nil {
					continue // while it is built there is nothing to tell
				}
				emit(float64(n), env.Name)
			}
			return nil
		},
	}}
}
