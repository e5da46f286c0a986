package content_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/problem"
)

func operator(t *testing.T) context.Context { return auth.With(t.Context(), auth.System("test")) }

// TestIndexNames: an environment gets a new index in two steps, of which the
// second is told to everybody, once.
func TestIndexNames(t *testing.T) {
	engines(t, func(t *testing.T, s *server) {
		live := func() port.Environment {
			t.Helper()
			all, err := s.Source.Environments(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, env := range all {
				if env.Name == "live" {
					return env
				}
			}
			t.Fatal("no environment live")
			return port.Environment{}
		}
		ok := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		ok(s.Service.CreateAlias(operator(t), "ma_both", "Both"))
		ok(s.Service.ChangeAlias(operator(t), "ma_both", func([]string) []string { return []string{"live", "preview"} }))
		s.events()
		old := live().Index
		s.clock.Advance(time.Minute)
		next, err := s.Indexes.Renew(t.Context(), "live")
		ok(err)
		again, err := s.Indexes.Renew(t.Context(), "live")
		ok(err)
		if next != again || next == old || !strings.HasPrefix(next, "test_live_2026") {
			t.Errorf("%s and %s after %s", next, again, old)
		}
		if env := live(); env.Index != old || env.Next != next {
			t.Errorf("%+v", env)
		}
		s.told("config.saved")

		ok(s.Indexes.Built(t.Context(), "live", old)) // another build
		if env := live(); env.Index != old || env.Next != next {
			t.Errorf("%+v", env)
		}
		ok(s.Indexes.Built(t.Context(), "live", next))
		ok(s.Indexes.Built(t.Context(), "live", next))
		if env := live(); env.Index != next || env.Next != "" {
			t.Errorf("%+v", env)
		}
		events := s.told("manage_alias.update.test_ma_both", "environment.new_index.live", "config.saved")
		for _, e := range events {
			want := map[string]string{
				"environment.new_index.live": `{"environment":"live","index":"` + next + `","aliases":["test_live","test_ma_both"],"old_index":"` + old +
					`","content_type":null,"ouuid":null,"raw_data":null}`,
				"manage_alias.update.test_ma_both": `{"actions":{"add":["` + next + `"],"remove":["` + old + `"]}}`,
			}[e.Type]
			if want != "" && string(e.Data) != want {
				t.Errorf("%s: %s, want %s", e.Type, e.Data, want)
			}
		}

		ok(s.Indexes.Reindex(t.Context(), "live"))
		if !live().Reindex {
			t.Error("the environment does not wait to be indexed again")
		}
		ok(s.Indexes.Built(t.Context(), "live", next))
		if live().Reindex {
			t.Error("the environment still waits to be indexed again")
		}
		if _, err := s.Indexes.Renew(t.Context(), "nothing"); !problem.Is(err, problem.NotFound) {
			t.Errorf("an unknown environment: %v", err)
		}
		ok(s.Indexes.Built(t.Context(), "nothing", "x"))
	})
}
