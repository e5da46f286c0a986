package author

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/quoin-cms/quoin/sdk/manifest"
	"github.com/quoin-cms/quoin/sdk/plugin"
	pluginv1 "github.com/quoin-cms/quoin/sdk/proto/plugin/v1"
)

// Description is what a plugin says of itself.
type Description = pluginv1.Description

// Describe starts a program and gives what it says of itself.
type Describe func(ctx context.Context, path string) (*Description, error)

// Pack builds the plugin whose source is in dir for the platforms (that of this
// machine when there are none) and writes the folder to install below out: its
// name is that of the plugin. It gives that folder.
func Pack(ctx context.Context, dir, out string, platforms []string, key ed25519.PrivateKey, describe Describe) (folder string, err error) {
	here := runtime.GOOS + "/" + runtime.GOARCH
	if len(platforms) == 0 {
		platforms = []string{here}
	}
	work, err := os.MkdirTemp("", "quoin-pack-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(work) }()
	m := &manifest.Manifest{Protocol: plugin.Protocol, Programs: map[string]manifest.Program{}}
	own := filepath.Join(work, "own")
	if err := build(ctx, dir, own, here); err != nil {
		return "", err
	}
	d, err := describe(ctx, own)
	if err != nil {
		return "", err
	}
	m.Name, m.Version, m.Summary = d.Name, d.Version, d.Summary
	m.Capabilities, m.Events, m.Webhooks = d.Capabilities, d.Events, d.Webhooks
	if err := os.MkdirAll(out, 0o755); err != nil {
		return "", err
	}
	folder = filepath.Join(out, m.Name)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	for _, platform := range platforms {
		built := own
		if platform != here {
			built = filepath.Join(work, "other")
			if err := build(ctx, dir, built, platform); err != nil {
				return "", err
			}
		}
		if m.Programs[platform], err = install(built, folder, m.Name, platform); err != nil {
			return "", err
		}
	}
	if err := m.Check(); err != nil {
		return "", err
	}
	return folder, writeManifest(folder, m, key)
}

// install puts a program into the folder of the plugin.
func install(built, folder, name, platform string) (manifest.Program, error) {
	file := name + "-" + strings.ReplaceAll(platform, "/", "-")
	if strings.HasPrefix(platform, "windows/") {
		file += ".exe"
	}
	b, err := os.ReadFile(built)
	if err != nil {
		return manifest.Program{}, err
	}
	fresh := filepath.Join(folder, "."+file)
	if err := os.WriteFile(fresh, b, 0o755); err != nil {
		return manifest.Program{}, err
	}
	sum := sha256.Sum256(b)
	// A program that runs cannot be written to, but another can take its name.
	return manifest.Program{File: file, SHA256: hex.EncodeToString(sum[:])}, os.Rename(fresh, filepath.Join(folder, file))
}

func build(ctx context.Context, dir, out, platform string) error {
	system, arch, ok := strings.Cut(platform, "/")
	if !ok {
		return fmt.Errorf("the platform %q must be such as linux/amd64", platform)
	}
	out, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	return Go(ctx, dir, []string{"CGO_ENABLED=0", "GOOS=" + system, "GOARCH=" + arch}, "build", "-trimpath", "-ldflags=-s -w", "-o", out, ".")
}

func writeManifest(folder string, m *manifest.Manifest, key ed25519.PrivateKey) error {
	text, err := m.Write()
	if err != nil {
		return err
	}
	path := filepath.Join(folder, manifest.File)
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, text) && key == nil {
		return nil
	}
	if key != nil {
		signature := base64.StdEncoding.EncodeToString(ed25519.Sign(key, text)) + "\n"
		if err := writeFile(filepath.Join(folder, manifest.Signature), signature); err != nil {
			return err
		}
	}
	if err := writeFile(path+".new", string(text)); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
