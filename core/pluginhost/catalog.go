package pluginhost

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/quoin-cms/quoin/sdk/manifest"
	"github.com/quoin-cms/quoin/sdk/plugin"
)

// Found is a plugin in the folder of plugins. Manifest is nil when it cannot be
// read; then Problem says why.
type Found struct {
	Name     string // of its folder
	Dir      string
	Manifest *manifest.Manifest
	Problem  error
}

// maxPlugins bounds how many folders are looked at.
const maxPlugins = 200

// discover reads the folder of plugins, sorted by name. A folder that is not
// there holds none.
func discover(dir string) ([]Found, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the folder of plugins: %w", err)
	}
	var all []Found
	for _, e := range entries {
		folder := filepath.Join(dir, e.Name())
		if info, err := os.Stat(folder); err != nil || !info.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if len(all) == maxPlugins {
			return all, fmt.Errorf("the folder of plugins holds more than %d", maxPlugins)
		}
		all = append(all, read(folder))
	}
	return all, nil
}

// read reads the manifest of one folder.
func read(folder string) Found {
	f := Found{Name: filepath.Base(folder), Dir: folder}
	text, err := readSmall(filepath.Join(folder, manifest.File))
	if err != nil {
		f.Problem = err
		return f
	}
	m, err := manifest.Parse(text)
	switch {
	case err != nil:
		f.Problem = err
	case m.Name != f.Name:
		f.Problem = fmt.Errorf("the folder is called %s but its manifest says %s", f.Name, m.Name)
	default:
		f.Manifest = m
	}
	return f
}

func readSmall(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return io.ReadAll(io.LimitReader(file, manifest.MaxSize+1))
}

// verify tells whether a plugin may run: its protocol, its signature when keys
// are set, and the sum of its program, which must be in the manifest and, when
// pinned is not empty, be the one that the operator enabled.
func (f *Found) verify(c *Config, pinned string) (path string, p manifest.Program, err error) {
	if f.Problem != nil {
		return "", p, f.Problem
	}
	m := f.Manifest
	if m.Protocol != plugin.Protocol {
		return "", p, fmt.Errorf("the plugin speaks protocol %d and this server protocol %d: build it with the sdk of this server (quoin plugin pack)", m.Protocol, plugin.Protocol)
	}
	for _, capability := range m.Capabilities {
		if !slices.Contains(plugin.Capabilities(), capability) {
			return "", p, fmt.Errorf("the plugin asks for %q, which this server does not know; it knows %s", capability, strings.Join(plugin.Capabilities(), ", "))
		}
	}
	if err := f.checkSignature(c.Keys); err != nil {
		return "", p, err
	}
	if p, err = m.Program(); err != nil {
		return "", p, err
	}
	path = filepath.Join(f.Dir, p.File)
	if c.Dev {
		return path, p, nil
	}
	return path, p, checkSum(path, p.SHA256, pinned)
}

func checkSum(path, want, pinned string) error {
	if want == "" {
		return fmt.Errorf("the manifest has no sha256 for %s: write it with quoin plugin pack", filepath.Base(path))
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o002 != 0 {
		return fmt.Errorf("%s may be written by anybody: chmod o-w", path)
	}
	got, err := sumFile(path)
	if err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("%s has the sha256 %s, but its manifest says %s", path, got, want)
	}
	if pinned != "" && got != pinned {
		return fmt.Errorf("%s has the sha256 %s, but %s was enabled: if you replaced it, run quoin plugin enable again", path, got, pinned)
	}
	return nil
}

func sumFile(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// checkSignature wants a signature of one of the keys; none are needed when
// there are no keys.
func (f *Found) checkSignature(keys []string) error {
	if len(keys) == 0 {
		return nil
	}
	text, err := readSmall(filepath.Join(f.Dir, manifest.File))
	if err != nil {
		return err
	}
	encoded, err := readSmall(filepath.Join(f.Dir, manifest.Signature))
	if err != nil {
		return fmt.Errorf("the plugin has no signature, and plugins.keys asks for one: %w", err)
	}
	signature, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(encoded)))
	if err != nil {
		return fmt.Errorf("%s is not base64", manifest.Signature)
	}
	for _, k := range keys {
		if key, err := publicKey(k); err == nil && ed25519.Verify(key, text, signature) {
			return nil
		}
	}
	return errors.New("the signature is by none of plugins.keys")
}
