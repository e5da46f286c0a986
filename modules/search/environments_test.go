package search_test

import (
	"strings"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/rawjson"
)

// patience is how long a test waits for what must come.
const patience = 3 * time.Minute

// comes waits until something is so.
func (s *server) comes(what string, so func() bool) {
	s.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for begin := time.Now(); !so(); <-tick.C {
		if time.Since(begin) > patience {
			s.Fatalf("%s: that did not come", what)
		}
	}
}

// TestEnvironmentCommands: what another process does to environments, aliases
// and documents arrives in the server.
func TestEnvironmentCommands(t *testing.T) {
	engines(t, func(t *testing.T, vars ...string) {
		s := site(t, vars...)
		run := func(line string, flags map[string]any, want string) {
			t.Helper()
			if out, err := s.quoin(line, flags); err != nil || !strings.Contains(out, want) {
				t.Errorf("%s: %q %v, want %q", line, out, err, want)
			}
		}
		fails := func(line string, flags map[string]any, want string) {
			t.Helper()
			if out, err := s.quoin(line, flags); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q %v, want %q", line, out, err, want)
			}
		}
		count := func(alias string) string {
			a := s.call("admin", "POST", "/api/search/count", wrap(`{"indices":["`+alias+`"]}`))
			return a.raw("count")
		}
		run("environment create staging", map[string]any{"label": "Staging"}, `"name":"staging","alias":"quoin_staging","index":"quoin_staging_`)
		run("environment create staging", nil, `"staging"`)
		fails("environment create staging", map[string]any{"strict": true}, "already")
		fails("environment create No!", nil, "lower-case")
		s.comes("the environment is searched", func() bool { return count("quoin_staging") == "0" })

		fails("environment align preview staging", nil, "--force")
		run("environment align preview staging", map[string]any{"dry-run": true}, `"changed":4`)
		if count("quoin_staging") != "0" {
			t.Error("a dry run has published something")
		}
		run("environment align preview staging", map[string]any{"force": true, "search-query": `{"term":{"category":"a"}}`}, `{"changed":2,"default_environment":0,"failed":0}`)
		if got := count("quoin_staging"); got != "2" { // the command waits for the index
			t.Errorf("%s documents after the alignment", got)
		}
		run("environment align preview staging", map[string]any{"force": true}, `"changed":2`)
		run("environment align preview staging", map[string]any{"force": true}, `"changed":0`)
		run("environment align staging preview", map[string]any{"force": true}, `"default_environment":0`)
		if got := count("quoin_staging"); got != "4" {
			t.Errorf("%s documents after the alignment", got)
		}
		fails("environment align preview staging", map[string]any{"force": true, "search-query": `{"trem":{}}`}, "trem")
		fails("environment align preview staging", map[string]any{"force": true, "search-query": `{`}, "JSON")
		fails("environment align preview nowhere", map[string]any{"force": true}, "environment list")
		run("environment unpublish staging", map[string]any{"force": true, "search-query": `{"query":{"match":{"title":"second"}}}`}, `"changed":1`)
		if got := count("quoin_staging"); got != "3" {
			t.Errorf("%s documents after unpublishing", got)
		}
		run("environment unpublish preview", map[string]any{"force": true}, `"changed":0,"default_environment":4`)

		run("managed-alias create site", nil, `"alias":"quoin_site","environments":[]`)
		fails("managed-alias create site", nil, "already")
		run("managed-alias update site", map[string]any{"add": []string{"staging", "live"}}, `["live","staging"]`)
		s.comes("the alias stands for both", func() bool { return count("quoin_site") == "4" })
		run("managed-alias add-environment quoin_site preview", map[string]any{"clear-alias": true}, `["preview"]`)
		s.comes("the alias stands for another", func() bool { return count("quoin_site") == "4" && s.hasAlias("quoin_site", "quoin_preview_") })
		run("managed-alias align both site", nil, `["live","preview"]`)
		run("managed-alias list", nil, `"environments":["live","preview"]`)
		fails("managed-alias update nothing", map[string]any{"add": []string{"live"}}, "managed-alias list")
		fails("managed-alias update site", map[string]any{"add": []string{"nowhere"}}, "nowhere")
		fails("managed-alias align nothing site", nil, "nothing")
		if n := s.emitted("manage_alias.update.quoin_site"); n != 3 {
			t.Errorf("%d events of the alias", n)
		}
		run("environment rebuild staging", nil, `"documents":3`)
		run("environment align preview staging", map[string]any{"force": true, "snapshot": true}, `"changed":1`)
		fails("environment align preview staging", map[string]any{"force": true}, "snapshot")
		run("environment list", nil, `"documents":4,"managed":true,"snapshot":true,"aliases":[],"state":"ready"`)
	})
}

// TestAliasesCheck: an index that somebody took away is noticed, and made again
// with everything that belongs into it.
func TestAliasesCheck(t *testing.T) {
	s := site(t)
	index := s.indexOf("quoin_preview")
	s.must(s.index.Damage(t.Context(), index))
	out, err := s.quoin("aliases check", nil)
	if err == nil || !strings.Contains(out, "its index "+index+" is missing") || !strings.Contains(out, `"subject":"quoin_both"`) {
		t.Errorf("%s %v", out, err)
	}
	if out, err = s.quoin("aliases check", map[string]any{"repair": true}); err != nil || strings.Contains(out, `"repaired":false`) {
		t.Errorf("%s %v", out, err)
	}
	s.post("/api/search/refresh", "[]").is(200)
	if got := s.count("admin", `{"indices":["quoin_both"],"query":{"term":{"_contenttype":"page"}}}`); got != "4" {
		t.Errorf("%s documents after the repair", got)
	}
	if out, err = s.quoin("aliases check", nil); err != nil || out != "[]" {
		t.Errorf("%s %v", out, err)
	}
}

// TestExplainCommand: the server explains over its documents; without one the
// mapping is known.
func TestExplainCommand(t *testing.T) {
	s := site(t)
	const object = `{"indices":["quoin_preview"],"query":{"match":{"title":"second"}}}`
	explain := func(object string, refused bool, want ...string) {
		t.Helper()
		out, err := s.quoin("search explain "+strings.ReplaceAll(object, " ", ""), nil)
		if (err != nil) != refused {
			t.Errorf("%s: %v", object, err)
		}
		for _, w := range want {
			if !strings.Contains(out, w) {
				t.Errorf("%s: %s is not in %s", object, w, out)
			}
		}
	}
	explain(object, false, `"engine":"embedded"`, `"terms":["second"],"matches":1`, `"clause":"match","path":"query.match"`, `"indices":["`+s.indexOf("quoin_preview"))
	explain(object, false, `"engine":"typesense","note":"made without a server`, `where t_title:second`)
	explain(`{"sort":[{"title":"asc"},"n","category","date"]}`, true, `"engine":"typesense"`)
	explain(`{"query":{"match":{"title":{"query":"second","boost":0}}},"size":0,"aggs":{"t":{"terms":{"field":"category"}}}}`, false, `lists the values of k_category`)
	explain(wrap(object), false, `"matches":1`)
	explain(`{"query":{"mtach":{"title":"x"}}}`, true, `"path":"query.mtach"`, "mtach")
	explain(`{"query":{"range":{"n":{"gte":"nonsense"}}}}`, true, `{"path":"query.range"`)
	explain(`{"query":`, true, `"refused":[{`)
	explain(`{"indices":["nowhere"]}`, true)
	s.stop()
	explain(object, false, `"fields":["title (text)"]`, `"matches":1`, "no server runs", `"engine":"typesense","note":"made without a server`)
}

// TestExplainCommandOnServer: the plan of the embedded engine stands beside that
// of the search server.
func TestExplainCommandOnServer(t *testing.T) {
	vars, _ := onServer(t)
	s := site(t, vars...)
	out, err := s.quoin(`search explain {"indices":["quoin_preview"],"query":{"match":{"title":"second"}}}`, nil)
	for _, w := range []string{`"engines":[{"engine":"typesense","refused":[]`, `"engine":"embedded","note":"made with some documents`, `"terms":["second"]`} {
		if err != nil || !strings.Contains(out, w) {
			t.Errorf("%s is not in %s %v", w, out, err)
		}
	}
}

// hasAlias tells whether all indexes behind an alias begin with a prefix.
func (s *server) hasAlias(alias, prefix string) bool {
	a := s.post("/api/search/indices-from-alias", `{"alias":"`+alias+`"}`)
	n := 0
	for it := rawjson.Iterate([]byte(a.raw("indices"))); it.Next(); n++ {
		if name, _ := rawjson.String(it.Value()); !strings.HasPrefix(name, prefix) {
			return false
		}
	}
	return n > 0
}
