package cli

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/quoin-cms/quoin/core/app"
	"github.com/quoin-cms/quoin/core/conf"
	"github.com/quoin-cms/quoin/core/pluginhost"
	"github.com/quoin-cms/quoin/core/pluginhost/author"
	"github.com/quoin-cms/quoin/core/telemetry"
	"github.com/quoin-cms/quoin/core/work"
)

// pluginDevCommand is in package cli, and not with the others, because it runs a
// server.
func (e *env) pluginDevCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "dev DIR", Short: "Run a server with the plugin of a source folder, and build it again on every change", Args: cobra.ExactArgs(1),
		Long: "Runs a server of its own on an empty folder, which is removed at the end, with sample content types. The plugin gets all that it asks for, and the settings of the file settings.json beside its source.",
	}
	listen := c.Flags().String("listen", "127.0.0.1:8080", "`address` to listen on")
	c.RunE = func(cmd *cobra.Command, args []string) (err error) {
		data, err := os.MkdirTemp("", "quoin-dev-")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(data)) }()
		password := rand.Text()[:20]
		for path, value := range map[string]string{
			"server.data": data, "server.listen": *listen, "content.samples": "true", "plugins.dev": "true",
			"plugins.dir": filepath.Join(data, "plugins"), "user.admin_password": password, "log.format": "text",
		} {
			e.overrides = append(e.overrides, conf.Flag{Name: "dev", Path: path, Value: value})
		}
		config, err := e.load()
		if err != nil {
			return err
		}
		dev := &pluginDev{e: e, source: args[0], out: filepath.Join(data, "plugins")}
		if err := dev.build(cmd.Context()); err != nil {
			return err
		}
		log := telemetry.New(e.err, telemetry.Config{Level: config.Log.Level, Format: config.Log.Format})
		return app.Serve(cmd.Context(), config, app.Options{Log: log, Samples: e.Samples, Examples: e.Examples, Version: e.Version}, func(_ *app.App, addr string) {
			_, _ = fmt.Fprintf(e.out, devHelp, "http://"+reachable(addr), password, dev.calls())
			go dev.follow(cmd.Context())
		})
	}
	return c
}

const devHelp = `
The plugin runs. In another terminal, paste this and call its tools:
  URL=%s
  TOKEN=$(curl -s $URL/auth-token -d '{"username":"admin","password":"%s"}' | sed 's/.*"authToken":"\([^"]*\)".*/\1/')
  tool() { curl -s $URL/api/mcp -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' -H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: tools/call' -H "Mcp-Name: $1" -d '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"'"$1"'","arguments":'"$2"',"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"curl","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}'; }
%s
Change its source: it is built and started again. Ctrl-C ends everything.

`

// pluginDev builds a plugin again and again.
type pluginDev struct {
	e           *env
	source, out string
	state       string
	about       *author.Description
}

func (d *pluginDev) build(ctx context.Context) error {
	d.state = d.look()
	_, err := author.Pack(ctx, d.source, d.out, nil, nil, func(ctx context.Context, path string) (*author.Description, error) {
		about, err := pluginhost.DescribeProgram(ctx, path)
		d.about = about
		return about, err
	})
	if err != nil {
		return err
	}
	settings, err := os.ReadFile(filepath.Join(d.source, pluginhost.DevSettings))
	if errors.Is(err, fs.ErrNotExist) {
		settings, err = []byte("{}"), nil
	}
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(d.out, d.about.Name, pluginhost.DevSettings), settings, 0o600)
}

// calls gives a command line for each tool.
func (d *pluginDev) calls() string {
	var b strings.Builder
	for _, t := range d.about.Tools {
		fmt.Fprintf(&b, "  tool %s '%s'\n", pluginhost.PublicName(d.about.Name, t.Name), example(t.InputSchema))
	}
	return b.String()
}

// example gives arguments that fit a schema: text for what must be given.
func example(schema []byte) string {
	var s struct {
		Required   []string `json:"required"`
		Properties map[string]struct {
			Type string `json:"type"`
		} `json:"properties"`
	}
	values := map[string]any{"string": "Ada", "integer": 1, "number": 1, "boolean": true, "array": []any{}, "object": map[string]any{}}
	args := map[string]any{}
	if json.Unmarshal(schema, &s) == nil {
		for _, name := range s.Required {
			args[name] = values[s.Properties[name].Type]
		}
	}
	b, _ := json.Marshal(args) // plain values always marshal
	return string(b)
}

// follow builds when a source file changed; the host sees the new program.
func (d *pluginDev) follow(ctx context.Context) {
	work.Every(ctx, 300*time.Millisecond, func() {
		if d.look() == d.state {
			return
		}
		word := "Built again."
		if err := d.build(ctx); err != nil {
			word = "It does not build; the former one goes on.\n" + err.Error()
		}
		_, _ = fmt.Fprintln(d.e.out, word)
	})
}

// look gives a text that changes with the source.
func (d *pluginDev) look() string {
	var b strings.Builder
	_ = filepath.WalkDir(d.source, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // a file that just went is a change as well
		}
		if entry.IsDir() && path != d.source && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "dist") {
			return fs.SkipDir
		}
		if info, err := entry.Info(); err == nil && !entry.IsDir() {
			fmt.Fprintln(&b, path, info.Size(), info.ModTime().UnixNano())
		}
		return nil
	})
	return b.String()
}
