package plugintest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/sdk/plugin"
	"github.com/quoin-cms/quoin/sdk/plugintest"
)

func TestTheExample(t *testing.T) { greets(t) }

type nothing struct{}

// TestTheHostInMemory lets a plugin use every service.
func TestTheHostInMemory(t *testing.T) {
	p := plugin.New("all", "1.0.0")
	p.Needs(plugin.Capabilities()...)
	plugin.Tool(p, "try", "Uses everything.", func(c *plugin.Call, _ nothing) (string, error) {
		var file bytes.Buffer
		hash, err := c.WriteFile("a.txt", "text/plain", strings.NewReader(strings.Repeat("x", 600<<10)))
		if err == nil {
			_, err = c.ReadFile(hash, &file)
		}
		if err != nil || file.Len() != 600<<10 {
			return "", errors.Join(err, errors.New("the file did not come back"))
		}
		ouuid, err := c.Index("page", "", map[string]string{"a": "1"})
		if err == nil {
			err = c.Merge("page", ouuid, map[string]string{"b": "2"})
		}
		if err == nil {
			err = c.Emit("done", "page:"+ouuid, map[string]int{"n": 1})
		}
		if _, missing := c.Document("page", "nowhere"); err == nil && !plugin.NotFound(missing) {
			err = errors.New("a document that is not there is there")
		}
		c.Log().Info("done")
		return ouuid, err
	})
	h := plugintest.Start(t, p)
	a := h.Tool("try", `{}`)
	if a.Failed {
		t.Fatal(a.Text)
	}
	var page struct{ A, B string }
	if err := json.Unmarshal(h.Document("page", a.Text), &page); err != nil || page.A != "1" || page.B != "2" {
		t.Errorf("%+v, %v", page, err)
	}
	if e := h.Emitted(); len(e) != 1 || e[0].Type != "done" {
		t.Errorf("%+v", e)
	}
	if l := h.Logged(); len(l) != 1 || l[0] != "done" {
		t.Errorf("%v", l)
	}
}
