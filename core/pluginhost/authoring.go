package pluginhost

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/quoin-cms/quoin/core/module"
	"github.com/quoin-cms/quoin/core/pluginhost/author"
	"github.com/quoin-cms/quoin/sdk/manifest"
	pluginv1 "github.com/quoin-cms/quoin/sdk/proto/plugin/v1"
)

func runNew(ctx context.Context, call *module.Call) error {
	name := call.Args[0]
	dir := name
	if len(call.Args) > 1 {
		dir = call.Args[1]
	}
	if err := author.New(ctx, dir, name); err != nil {
		return err
	}
	_, err := fmt.Fprintf(call.Out, "%s is a plugin that works. Try next:\n  quoin plugin test %s\n  quoin plugin dev %s\n", dir, dir, dir)
	return err
}

func runTest(ctx context.Context, call *module.Call) error {
	if err := author.Go(ctx, call.Args[0], nil, "test", "./..."); err != nil {
		return err
	}
	_, err := fmt.Fprintln(call.Out, "The tests pass.")
	return err
}

func runPack(ctx context.Context, call *module.Call) error {
	key, err := privateKey(call.String("key"))
	if err != nil {
		return err
	}
	dir := call.Args[0]
	folder, err := author.Pack(ctx, dir, cmp.Or(call.String("out"), filepath.Join(dir, "dist")), call.Strings("platform"), key, DescribeProgram)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(call.Out, "%s is what operators copy into their folder of plugins.\n", folder)
	return err
}

func privateKey(file string) (ed25519.PrivateKey, error) {
	if file == "" {
		return nil, nil
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(b)))
	if err != nil || len(key) != ed25519.PrivateKeySize {
		return nil, fmt.Errorf("%s does not hold the base64 of a private ed25519 key of %d bytes", file, ed25519.PrivateKeySize)
	}
	return key, nil
}

// DescribeProgram starts a program and gives what it says of itself.
func DescribeProgram(ctx context.Context, path string) (*pluginv1.Description, error) {
	runtime.LockOSThread() // see dieWithParent
	defer runtime.UnlockOSThread()
	proc, err := launch(ctx, Defaults(), "the plugin", path, manifest.Program{}, quiet())
	if err != nil {
		return nil, err
	}
	defer proc.stop()
	return proc.about, checkOffers(proc.about)
}

func quiet() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
}

// runVerify checks what an operator would install. The settings are tried
// without a server, so host services answer that they are not there.
func runVerify(ctx context.Context, call *module.Call) error {
	f := read(absolute(call.Args[0]))
	config := Defaults()
	if _, err := os.Stat(filepath.Join(f.Dir, "go.mod")); err == nil && f.Manifest == nil {
		return fmt.Errorf("%s is the source of a plugin: verify what quoin plugin pack makes of it, which is in %s", call.Args[0], filepath.Join(call.Args[0], "dist"))
	}
	if _, _, err := f.verify(config, ""); err != nil {
		return err
	}
	w := &Wish{Name: f.Name, Config: []byte("{}"), Granted: []string{}}
	if file := call.String("settings"); file != "" {
		b, err := readSettings(file, call.In)
		if err != nil {
			return err
		}
		w.Config = b
	}
	data, err := os.MkdirTemp("", "quoin-verify-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(data) }()
	h := New(Options{Config: config, Data: data, Log: quiet()})
	return h.once(ctx, f, w, func(p *process) error {
		d := p.about
		if len(d.Tools)+len(d.Resources)+len(d.Events)+len(d.Webhooks)+len(d.Commands) == 0 {
			return errors.New("the plugin offers nothing")
		}
		var rows [][]string
		for _, t := range d.Tools {
			rows = append(rows, []string{"tool", PublicName(d.Name, t.Name), t.Description})
		}
		for _, r := range d.Resources {
			rows = append(rows, []string{"resource", r.Uri, r.Description})
		}
		for _, c := range d.Commands {
			rows = append(rows, []string{"command", strings.TrimSpace(c.Name + " " + c.Usage), c.Short})
		}
		for _, e := range d.Events {
			rows = append(rows, []string{"event", e, ""})
		}
		for _, e := range d.Webhooks {
			rows = append(rows, []string{"webhook", e, ""})
		}
		for _, c := range d.Capabilities {
			rows = append(rows, []string{"asks for", c, ""})
		}
		return call.Table(rows, []string{"OFFERS", "NAME", "ABOUT"}, rows)
	})
}
