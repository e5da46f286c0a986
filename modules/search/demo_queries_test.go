package search_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/rawjson"
	"github.com/quoin-cms/quoin/core/testkit"
)

// ask runs a saved query of the site for what somebody has typed, over the
// environments that it names, and gives the labels of the hits.
func (s *server) ask(name, typed string) []string {
	s.Helper()
	saved := s.call("admin", "GET", "/api/admin/query-search/"+name, "").is(200)
	var indices []string
	for it := rawjson.Iterate([]byte(saved.raw("properties.environments"))); it.Next(); {
		env, _ := rawjson.String(it.Value())
		indices = append(indices, string(rawjson.AppendString(nil, "quoin_"+env)))
	}
	body := strings.ReplaceAll(saved.text("properties.options.query"), "%query%", typed)
	a := s.search("admin", `{"indices":[`+strings.Join(indices, ",")+`],"size":50,"query":`+body+`}`).is(200)
	labels := []string{}
	for it := rawjson.Iterate([]byte(a.raw("hits.hits"))); it.Next(); {
		source, _ := rawjson.Get(it.Value(), "_source")
		label, _ := rawjson.Get(source, "label")
		text, _ := rawjson.String(label)
		labels = append(labels, text)
	}
	return labels
}

// TestSavedQueries: the four saved queries of a real site find what editors
// look for, also by the beginnings of words, and nothing of other types.
func TestSavedQueries(t *testing.T) {
	engines(t, func(t *testing.T, vars ...string) {
		s := start(t, vars...)
		demo(t, s)
		for _, file := range files(t, filepath.Join(testkit.Data(t), "elasticms-demo", "admin", "query-search")) {
			text, err := os.ReadFile(file)
			s.must(err)
			s.post("/api/admin/query-search", string(text)).is(200)
		}
		for _, c := range []struct {
			name, typed string
			first       string // label of the best hit, empty for none
			all         int    // hits; -1 for any number
		}{
			{"categories", "Migration", "Migration", 1},
			{"categories", "migr", "Migration", 1},
			{"categories", "look fe", "Look & feel", 1},
			{"categories", "soft hyphen", "", 0},
			{"documents", "déclaration prot", "Privacy policy", 1}, // by its title, in any language
			{"documents", "user gr", "User group", -1},
			{"documents", "soft hyphen", "", 0}, // a news: the site does not copy their titles to live_search
			{"documents", "zzzzzz", "", 0},
			{"forms", "user group", "User group form", 1},
			{"forms", "exam", "Example files", 1},
			{"forms", "migration", "", 0},
			{"pages", "", "", 16},
		} {
			labels := s.ask(c.name, c.typed)
			if c.all >= 0 && len(labels) != c.all || c.first != "" && !slices.Contains(labels[:min(len(labels), 1)], c.first) {
				t.Errorf("%s: %q finds %d: %q, want %q first", c.name, c.typed, len(labels), labels, c.first)
			}
		}
	})
}
