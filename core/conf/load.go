package conf

import (
	"fmt"
	"io"
	"os"
	"sort"
	"strings"
)

const (
	envPrefix   = "QUOIN_"
	testPrefix  = "QUOIN_TEST_" // belongs to the tests, never to the configuration
	maxFileSize = 1 << 20       // bytes of the configuration file and of a ${file:…}
)

// Options are what Load reads. Nothing is taken from the process itself
// except the files that are named.
type Options struct {
	Defaults []byte   // embedded YAML under everything else; may be empty
	File     string   // configuration file; empty means QUOIN_CONFIG, and without that none
	Env      []string // "NAME=value", as os.Environ gives it
	Flags    []Flag   // flags of the command line that stand for a key
	Set      []string // "a.b=value", each from one --set
	// Shortcuts maps variables with a name of their own to the key they set;
	// nil means Shortcuts(). An empty variable counts as not set.
	Shortcuts map[string]string
	// OtherVariables are QUOIN_ variables that the program reads elsewhere.
	OtherVariables []string
	// ReadFile reads the configuration file and ${file:…}; nil reads from disk
	// and refuses more than 1 MiB.
	ReadFile func(name string) ([]byte, error)
}

// Flag is a flag that was given on the command line and the key it sets.
type Flag struct {
	Name  string // "--listen", for messages
	Path  string // "server.listen"
	Value string
}

// Shortcuts gives the variables with a name of their own and the key each sets.
func Shortcuts() map[string]string {
	return map[string]string{
		"QUOIN_DATA":           "server.data",
		"QUOIN_LISTEN":         "server.listen",
		"QUOIN_DATABASE_URL":   "database.url",
		"QUOIN_ADMIN_USERNAME": "user.admin_username",
		"QUOIN_ADMIN_PASSWORD": "user.admin_password",
	}
}

// Tree is the merged configuration before it is decoded. It does not change
// after Load and may be read by several goroutines.
type Tree struct {
	root    *node
	pending []Finding // found while loading, told together with those of Check
	strays  []string  // QUOIN_ variables that stand for no key
	singles []string  // names of the shortcuts, to suggest
}

// Load reads and merges the layers. It fails only when a file cannot be read
// or is not YAML; what is wrong with single values is told by Check together
// with its own findings, so that one run tells everything.
func Load(opts Options) (*Tree, error) {
	l := newLoader(opts)
	if len(opts.Defaults) > 0 {
		l.file("embedded defaults", opts.Defaults)
		l.forget(l.tree.root)
	}
	name := opts.File
	if name == "" {
		name = l.env["QUOIN_CONFIG"]
	}
	if name != "" {
		content, err := l.readFile(name)
		if err != nil {
			return nil, &Error{Findings: []Finding{{Message: fmt.Sprintf("cannot be read: %v", err), Origin: Origin{Name: name}}}}
		}
		l.file(name, content)
	}
	if l.broken {
		return nil, asError(l.tree.pending)
	}
	l.environment(opts.OtherVariables)
	for _, text := range opts.Set {
		path, value, ok := strings.Cut(text, "=")
		if !ok {
			l.finding(Origin{Name: "--set " + text}, "must have the form a.b=value")
			continue
		}
		l.put(path, value, Origin{Name: "--set " + path})
	}
	for _, f := range opts.Flags {
		l.put(f.Path, f.Value, Origin{Name: f.Name})
	}
	return l.tree, nil
}

// Origin tells where the value at the path came from; a key nobody set has the
// origin of the mapping above it when that was set, else the default.
func (t *Tree) Origin(path string) Origin {
	_, deepest := t.root.find(path)
	return deepest.origin
}

type loader struct {
	tree      *Tree
	env       map[string]string
	shortcuts map[string]string
	readFile  func(string) ([]byte, error)
	expander  *expander
	broken    bool
}

func newLoader(opts Options) *loader {
	l := &loader{
		tree:      &Tree{root: newMapping(Origin{})},
		env:       make(map[string]string, len(opts.Env)),
		shortcuts: opts.Shortcuts,
		readFile:  opts.ReadFile,
	}
	if l.shortcuts == nil {
		l.shortcuts = Shortcuts()
	}
	if l.readFile == nil {
		l.readFile = readBounded
	}
	for _, entry := range opts.Env {
		if name, value, ok := strings.Cut(entry, "="); ok {
			l.env[name] = value
		}
	}
	l.tree.singles = append(sortedKeys(l.shortcuts), "QUOIN_CONFIG")
	l.expander = newExpander(l.env, l.readFile)
	return l
}

func readBounded(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	content, err := io.ReadAll(io.LimitReader(f, maxFileSize+1))
	if err == nil && len(content) > maxFileSize {
		err = fmt.Errorf("%s is larger than %s", name, Bytes(maxFileSize))
	}
	return content, err
}

func (l *loader) finding(o Origin, format string, args ...any) {
	l.tree.pending = append(l.tree.pending, Finding{Origin: o, Message: fmt.Sprintf(format, args...)})
}

// file merges one YAML file over the tree.
func (l *loader) file(name string, content []byte) {
	r := reader{file: name, expand: l.expander.expand, findings: &l.tree.pending}
	n := r.document(content)
	switch {
	case n == nil:
		l.broken = true
	case n.kind != mapping && n.kind != null:
		l.finding(Origin{Name: name, Line: 1}, "a configuration is a mapping of sections")
	default:
		l.tree.root = merge(l.tree.root, n)
		l.tree.root.origin = Origin{}
	}
}

// forget makes every origin the default: an operator cannot open the embedded
// file, so its lines would only confuse.
func (l *loader) forget(n *node) {
	n.origin = Origin{}
	for _, child := range n.fields {
		l.forget(child)
	}
	for _, item := range n.items {
		l.forget(item)
	}
}

// put lays one text over the tree.
func (l *loader) put(path, value string, o Origin) {
	steps := strings.Split(path, ".")
	for _, step := range steps {
		if step == "" {
			l.finding(o, "%q is not a dotted key", path)
			return
		}
	}
	text, err := l.expander.expand(value)
	if err != nil {
		l.tree.pending = append(l.tree.pending, Finding{Path: path, Origin: o, Message: err.Error()})
		return
	}
	n := &node{kind: scalar, text: text, loose: true, origin: o}
	if text != value {
		n.source = value
	}
	if len(steps) > maxDepth {
		l.finding(o, "nested deeper than %d levels", maxDepth)
		return
	}
	if old := l.tree.root.put(steps, n); old != nil {
		l.finding(o, "sets a key below one that has a plain value from %s", old.origin)
	}
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
