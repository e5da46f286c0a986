// Package author is what quoin does for those who write plugins: a new one from
// nothing, and the folder that an operator installs from its source.
package author

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/quoin-cms/quoin/sdk"
)

const home = "github.com/quoin-cms/quoin"

// Kit is the folder in a plugin's source that holds the copy of the kit.
const Kit = ".quoin/sdk"

var nameShape = regexp.MustCompile(`^[a-z][a-z0-9-]{0,39}$`)

// New writes the source of a new plugin into dir, which must not exist or be
// empty, and makes it ready to build.
func New(ctx context.Context, dir, name string) error {
	if !nameShape.MatchString(name) {
		return fmt.Errorf("the name %q must be lower-case letters, digits and -, beginning with a letter", name)
	}
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return fmt.Errorf("the folder %s is not empty", dir)
	}
	files := map[string]string{
		"main.go": mainFile, "main_test.go": testFile, ".gitignore": "/dist/\n/.quoin/\n/settings.json\n",
		"go.mod": fmt.Sprintf("module %s\n\ngo 1.26\n\nrequire %s v0.0.0\n\nreplace %s => ./%s\n", name, home, home, Kit),
	}
	for file, text := range files {
		if err := writeFile(filepath.Join(dir, file), strings.ReplaceAll(text, "NAME", name)); err != nil {
			return err
		}
	}
	if err := WriteKit(dir); err != nil {
		return err
	}
	return Go(ctx, dir, nil, "mod", "tidy")
}

// needKit writes the copy of the kit when the source names it and has none: it is
// no part of what an author checks in.
func needKit(dir string) error {
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil || !strings.Contains(string(mod), "./"+Kit) {
		return nil //nolint:nilerr // go says better what is wrong with the source
	}
	if _, err := os.Stat(filepath.Join(dir, Kit, "go.mod")); err == nil {
		return nil
	}
	return WriteKit(dir)
}

// WriteKit copies the kit of this binary into the source of a plugin.
func WriteKit(dir string) error {
	kit := filepath.Join(dir, Kit)
	if err := os.RemoveAll(kit); err != nil {
		return err
	}
	mod, err := kitModule()
	if err != nil {
		return err
	}
	if err := writeFile(filepath.Join(kit, "go.mod"), mod); err != nil {
		return err
	}
	return fs.WalkDir(sdk.Source, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "/testdata/") {
			return err
		}
		b, err := sdk.Source.ReadFile(path)
		if err != nil {
			return err
		}
		return writeFile(filepath.Join(kit, "sdk", path), string(b))
	})
}

// kitModule is the go.mod of the copy: what the kit needs, in the versions that
// this binary was built with.
func kitModule() (string, error) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "", errors.New("the binary does not know what it was built from: build it with go build")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "module %s\n\ngo 1.26\n\nrequire (\n", home)
	wanted := []string{"github.com/hashicorp/go-plugin", "github.com/hashicorp/go-hclog", "google.golang.org/grpc", "google.golang.org/protobuf", "go.yaml.in/yaml/v3"}
	for _, dep := range info.Deps {
		if dep.Replace != nil {
			dep = dep.Replace
		}
		if slices.Contains(wanted, dep.Path) {
			fmt.Fprintf(&b, "\t%s %s\n", dep.Path, dep.Version)
		}
	}
	return b.String() + ")\n", nil
}

// Go runs a go command in a folder; its output is part of the error.
func Go(ctx context.Context, dir string, env []string, args ...string) error {
	if err := needKit(dir); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off"), env...) //nolint:forbidigo // the author's own go command
	out, err := cmd.CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		return errors.New("there is no go command: install Go 1.26 or newer (go.dev)")
	}
	if err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

func writeFile(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

const mainFile = `// Command NAME is a plugin of Quoin.
package main

import (
	"github.com/quoin-cms/quoin/sdk/plugin"
)

type greeting struct {
	Name string ` + "`json:\"name\" doc:\"who to greet\"`" + `
}

func main() { build().Serve() }

func build() *plugin.Plugin {
	p := plugin.New("NAME", "0.1.0").About("Greets people.")
	plugin.Tool(p, "hello", "Greets someone by name.", greet, plugin.ReadOnly)
	p.OnEvent("content.published.*", published)
	return p
}

func greet(c *plugin.Call, in greeting) (string, error) {
	return "Hello " + in.Name + ", from " + c.User().DisplayName + "!", nil
}

func published(c *plugin.Call, e plugin.Event) error {
	c.Log().Info("published", "subject", e.Subject)
	return nil
}
`

const testFile = `package main

import (
	"testing"

	"github.com/quoin-cms/quoin/sdk/plugin"
	"github.com/quoin-cms/quoin/sdk/plugintest"
)

func TestHello(t *testing.T) {
	h := plugintest.Start(t, build())
	if got := h.Tool("hello", ` + "`{\"name\":\"Ada\"}`" + `).Text; got != "Hello Ada, from Test User!" {
		t.Errorf("it says %q", got)
	}
	if err := h.Event(plugin.Event{ID: 1, Type: "content.published.live", Subject: "page:1"}); err != nil {
		t.Error(err)
	}
}
`
