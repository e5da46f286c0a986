package plugintest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

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

// TestAFileThatBreaksOffIsNotStored reads from a source that ends too early, as
// the body of an answer does whose connection broke.
func TestAFileThatBreaksOffIsNotStored(t *testing.T) {
	p := plugin.New("copier", "1.0.0")
	p.Needs(plugin.CapFilesWrite)
	plugin.Tool(p, "copy", "Copies half a file.", func(c *plugin.Call, _ nothing) (string, error) {
		return c.WriteFile("half.txt", "text/plain", io.MultiReader(strings.NewReader("half"), iotest.ErrReader(io.ErrUnexpectedEOF)))
	})
	if a := plugintest.Start(t, p).Tool("copy", `{}`); !a.Failed || !strings.Contains(a.Text, "unexpected EOF") {
		t.Errorf("%+v", a)
	}
}

// TestTextThatIsNoUTF8 reaches whoever asks, with its faults marked.
func TestTextThatIsNoUTF8(t *testing.T) {
	p := plugin.New("latin", "1.0.0")
	plugin.Tool(p, "text", "Answers Latin-1.", func(c *plugin.Call, _ nothing) (string, error) {
		c.Log().Info("caf\xe9")
		c.Progress(1, 2, "caf\xe9")
		return "caf\xe9", nil
	})
	plugin.Tool(p, "fail", "Fails in Latin-1.", func(*plugin.Call, nothing) (string, error) { return "", errors.New("caf\xe9") })
	h := plugintest.Start(t, p)
	for _, tool := range []string{"text", "fail"} {
		if a := h.Tool(tool, `{}`); a.Text != "caf?" || a.Failed != (tool == "fail") {
			t.Errorf("%s: %+v", tool, a)
		}
	}
	if l := h.Logged(); len(l) != 1 || l[0] != "caf?" {
		t.Errorf("%q", l)
	}
}
