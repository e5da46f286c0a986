package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/quoin-cms/quoin/sdk/manifest"
	"github.com/quoin-cms/quoin/sdk/plugin"
)

// order is what the tool of the probe is asked to do.
type order struct {
	Do   string          `json:"do"`
	Name string          `json:"name,omitempty"`
	Data json.RawMessage `json:"data,omitempty"`
}

type probeSettings struct {
	Greeting string `json:"greeting,omitempty"`
	APIKey   string `json:"api_key,omitempty" doc:"of a service" secret:"true"`
}

// playPlugin gives the plugin that this program is under a name.
func playPlugin(name string) *plugin.Plugin {
	if name != "get" {
		return probe()
	}
	p := plugin.New("get", "1.0.0")
	plugin.Tool(p, "current_user", "Has the name of a tool of the server.", func(*plugin.Call, struct{}) (string, error) { return "stolen", nil })
	plugin.Tool(p, "lost", "Is called like no other.", func(*plugin.Call, struct{}) (string, error) { return "found", nil })
	return p
}

// probe is a plugin that does with every service of the host what it is told,
// and tells what came of it. This program is the plugin when a host starts it.
func probe() *plugin.Plugin {
	var settings atomic.Pointer[probeSettings]
	p := plugin.New("probe", "1.0.0").About("Does what a test tells it.")
	p.Needs(plugin.Capabilities()...)
	plugin.Config(p, func(_ *plugin.Call, s probeSettings) error {
		if s.Greeting == "wrong" {
			return plugin.Field("greeting", "must not be wrong")
		}
		settings.Store(&s)
		return nil
	})
	plugin.Tool(p, "try", "Does what it is told.", func(c *plugin.Call, o order) (string, error) {
		if o.Do == "settings" {
			return settings.Load().Greeting + " " + settings.Load().APIKey, nil
		}
		return tryService(c, o)
	})
	p.OnEvent("content.finalize", func(c *plugin.Call, e plugin.Event) error {
		_, ouuid, _ := strings.Cut(e.Subject, ":")
		told := "read"
		if _, err := c.Document("page", ouuid); err != nil {
			told = err.Error()
		}
		return c.KV().Set("event/"+ouuid, []byte(told), 0)
	})
	p.OnEvent("plugin.probe.*", func(c *plugin.Call, e plugin.Event) error {
		return c.KV().Set("own/"+e.Subject, e.Data, 0)
	})
	p.TransformWebhook("content.*", func(c *plugin.Call, d *plugin.Delivery) error {
		if bytes.Contains(d.Body, []byte("by-hand")) {
			d.Skip = true // in place of the call
			return c.KV().Set("by-hand", d.Body, 0)
		}
		d.Body = bytes.ReplaceAll(d.Body, []byte("private"), []byte("*******"))
		d.Headers["X-Probe"] = "was here"
		return nil
	})
	p.Command("try", "WHAT [NAME]", "Does what it is told.", func(c *plugin.Call, args []string) error {
		out, err := tryService(c, order{Do: args[0], Name: strings.Join(args[1:], " ")})
		c.Print("%s", out)
		return err
	})
	return p
}

func tryService(c *plugin.Call, o order) (string, error) {
	switch o.Do {
	case "read":
		d, err := c.Document("page", o.Name)
		if err != nil {
			return "", err
		}
		return string(d.Data), nil
	case "index":
		return c.Index("page", o.Name, o.Data)
	case "merge":
		return "merged", c.Merge("page", o.Name, o.Data)
	case "search":
		b, err := c.Search(map[string]any{"query": map[string]any{"match": map[string]string{"label": o.Name}}})
		return string(b), err
	case "user":
		u, err := c.FindUser(o.Name)
		return u.Username, err
	case "emit":
		return "emitted", c.Emit("tried", o.Name, o.Data)
	case "write file":
		return c.WriteFile("probe.txt", "text/plain", strings.NewReader(o.Name))
	case "read file":
		var b bytes.Buffer
		kind, err := c.ReadFile(o.Name, &b)
		return kind + " " + b.String(), err
	case "keep":
		won, err := c.KV().SetIfAbsent("k/"+o.Name, []byte("1"), 0)
		return fmt.Sprint(won), err
	case "kept":
		v, ok, err := c.KV().Get(o.Name)
		if err == nil && !ok {
			err = errors.New("there is no such value")
		}
		return string(v), err
	}
	return "", fmt.Errorf("nobody can do %q", o.Do)
}

// installPlugin puts a plugin of this program into the folder of plugins of a
// data folder.
func installPlugin(t testing.TB, data, name string, m *manifest.Manifest) {
	t.Helper()
	folder := filepath.Join(data, "plugins", name)
	program, err := os.ReadFile(os.Args[0])
	if err == nil {
		err = os.MkdirAll(folder, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, name), program, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(program)
	m.Name, m.Version, m.Protocol = name, "1.0.0", plugin.Protocol
	m.Programs = map[string]manifest.Program{runtime.GOOS + "/" + runtime.GOARCH: {File: name, SHA256: hex.EncodeToString(sum[:])}}
	text, err := m.Write()
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, manifest.File), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// quoin runs a command of the program with the variables.
func quoin(t testing.TB, vars []string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append([]string{childVariable + "=1", "PATH=" + os.Getenv("PATH")}, vars...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}
