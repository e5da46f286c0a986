package archtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// listed is what go list tells about a package.
type listed struct {
	ImportPath   string
	Dir          string
	GoFiles      []string
	TestGoFiles  []string
	XTestGoFiles []string
	// IgnoredGoFiles are those of other systems; the rules hold there too.
	IgnoredGoFiles []string
	Deps           []string
}

func (p listed) path() string {
	if p.ImportPath == home {
		return "."
	}
	return strings.TrimPrefix(p.ImportPath, home+"/")
}

func (p listed) files() []string {
	return slices.Concat(p.GoFiles, p.IgnoredGoFiles, p.TestGoFiles, p.XTestGoFiles)
}

// packages runs go list over the repository. What does not compile is listed too
// (-e): the compiler tells about it better.
func packages(t *testing.T) []listed {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-e", "-json=ImportPath,Dir,GoFiles,TestGoFiles,XTestGoFiles,IgnoredGoFiles,Deps", "./...")
	list.Dir = filepath.Join("..", "..")
	var stderr bytes.Buffer
	list.Stderr = &stderr
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	var all []listed
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// edgesOf gives the imports of a file and whether it has a func init.
func edgesOf(pkg, file string, text any) (edges []edge, hasInit bool, err error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, false, err
	}
	name := filepath.Base(file)
	for _, spec := range parsed.Imports {
		to, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, false, err
		}
		e := edge{from: pkg, file: name, to: to, test: strings.HasSuffix(name, "_test.go")}
		if within(to, home) {
			e.ours, e.to = true, strings.TrimPrefix(strings.TrimPrefix(to, home), "/")
		}
		edges = append(edges, e)
	}
	for _, d := range parsed.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
			hasInit = true
		}
	}
	return edges, hasInit, nil
}

func TestImportsFollowTheArchitecture(t *testing.T) {
	all := packages(t)
	if !slices.ContainsFunc(all, func(p listed) bool { return p.path() == "core/problem" }) {
		t.Fatalf("go list gave %d packages without core/problem", len(all))
	}
	for _, p := range all {
		for _, file := range p.files() {
			edges, hasInit, err := edgesOf(p.path(), filepath.Join(p.Dir, file), nil)
			if err != nil {
				t.Error(err)
				continue
			}
			if hasInit && !strings.HasSuffix(file, ".pb.go") { // made by protoc-gen-go, which registers its types so
				t.Errorf("%s/%s has a func init: nothing happens on import; make a value and pass it", p.path(), file)
			}
			for _, e := range edges {
				if rule := judge(e); rule != "" {
					t.Errorf("%s\n  %s", e, rule)
				}
			}
		}
		for _, dep := range judgeClosure(p.path(), p.Deps) {
			t.Errorf("%s reaches %s\n  plugin authors import sdk: find the import that pulls it in with: go mod why %s", p.path(), dep, dep)
		}
	}
}
