// Package manifest reads and writes plugin.yaml, which says what a plugin is
// before anything of it runs.
package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"go.yaml.in/yaml/v3"
)

// File is the name of the manifest in the folder of a plugin, and Signature
// that of its signature: 64 bytes of ed25519 over the manifest, in base64.
const (
	File      = "plugin.yaml"
	Signature = "plugin.yaml.sig"
)

// MaxSize bounds a manifest, in bytes.
const MaxSize = 1 << 20

// Manifest is what plugin.yaml holds.
type Manifest struct {
	Name     string `yaml:"name"`
	Version  string `yaml:"version"`
	Protocol int    `yaml:"protocol"` // 1
	Summary  string `yaml:"summary,omitempty"`
	// Capabilities are what the plugin asks for.
	Capabilities []string `yaml:"capabilities,omitempty"`
	// Events are the types it handles and Webhooks those whose calls it
	// transforms, or prefixes that end in *.
	Events   []string `yaml:"events,omitempty"`
	Webhooks []string `yaml:"webhooks,omitempty"`
	// Programs are by platform, such as linux/amd64; any is for those that run
	// everywhere.
	Programs map[string]Program `yaml:"programs"`
}

// Program is what to run.
type Program struct {
	// File is relative to the folder of the manifest.
	File string `yaml:"file"`
	// SHA256 is the sum of the file in lower-case hexadecimal.
	SHA256 string `yaml:"sha256,omitempty"`
	// Interpreter runs the file, such as /usr/bin/node; absolute, and empty for
	// a program that runs by itself.
	Interpreter string `yaml:"interpreter,omitempty"`
}

var (
	nameShape = regexp.MustCompile(`^[a-z][a-z0-9-]{0,39}$`)
	sumShape  = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// Parse reads a manifest strictly; the error names everything that is wrong.
func Parse(text []byte) (*Manifest, error) {
	if len(text) > MaxSize {
		return nil, fmt.Errorf("the manifest is larger than %d bytes", MaxSize)
	}
	var m Manifest
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&m); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, errors.New("the manifest is empty")
		}
		return nil, fmt.Errorf("the manifest cannot be read: %w", err)
	}
	return &m, m.Check()
}

// Check tells everything that is wrong with a manifest.
func (m *Manifest) Check() error {
	var errs []error
	if !nameShape.MatchString(m.Name) {
		errs = append(errs, fmt.Errorf("name: %.60q must be lower-case letters, digits and -, beginning with a letter, at most 40", m.Name))
	}
	if m.Version == "" || len(m.Version) > 60 || strings.ContainsAny(m.Version, " \t\r\n") {
		errs = append(errs, errors.New("version: must be given, without spaces, at most 60 characters"))
	}
	for key, list := range map[string][]string{"capabilities": m.Capabilities, "events": m.Events, "webhooks": m.Webhooks} {
		if len(list) > 100 {
			errs = append(errs, fmt.Errorf("%s: has more than 100 entries", key))
		}
		for i, v := range list {
			if v == "" || len(v) > 200 || strings.ContainsAny(v, " \t\r\n") || key != "capabilities" && strings.Contains(strings.TrimSuffix(v, "*"), "*") {
				errs = append(errs, fmt.Errorf("%s[%d]: %.60q is not a name", key, i, v))
			}
		}
	}
	if len(m.Programs) == 0 {
		errs = append(errs, errors.New("programs: is empty"))
	}
	for platform, p := range m.Programs {
		if !filepath.IsLocal(p.File) {
			errs = append(errs, fmt.Errorf("programs.%s.file: %.60q must be a path inside the folder of the plugin", platform, p.File))
		}
		if p.SHA256 != "" && !sumShape.MatchString(p.SHA256) {
			errs = append(errs, fmt.Errorf("programs.%s.sha256: must be 64 lower-case hexadecimal digits", platform))
		}
		if p.Interpreter != "" && !filepath.IsAbs(p.Interpreter) {
			errs = append(errs, fmt.Errorf("programs.%s.interpreter: must be an absolute path", platform))
		}
	}
	return errors.Join(errs...)
}

// Program gives what to run on this platform.
func (m *Manifest) Program() (Program, error) {
	here := runtime.GOOS + "/" + runtime.GOARCH
	for _, platform := range []string{here, "any"} {
		if p, ok := m.Programs[platform]; ok {
			return p, nil
		}
	}
	return Program{}, fmt.Errorf("the plugin has no program for %s", here)
}

// Write gives the text of a manifest.
func (m *Manifest) Write() ([]byte, error) {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(m); err != nil {
		return nil, err
	}
	return b.Bytes(), e.Close()
}
