package archtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/testkit"
)

// licence is one that may be linked into the server, and the sentences by
// which its text is known.
type licence struct {
	name  string
	marks []string
}

// licences may be linked: they ask for their text to be kept, and MPL-2.0 for
// changes of its own files, of which there are none. The first that fits counts.
func licences() []licence {
	return []licence{
		{"Apache-2.0", []string{"Apache License", "Version 2.0"}},
		{"MPL-2.0", []string{"Mozilla Public License", "2.0"}},
		{"ISC", []string{"Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee"}},
		{"ISC", []string{"Permission to use, copy, modify, and distribute this software for any purpose with or without fee"}},
		{"BSD-3-Clause", []string{"Redistribution and use in source and binary forms", "endorse or promote products"}},
		{"BSD-2-Clause", []string{"Redistribution and use in source and binary forms"}},
		{"MIT", []string{"Permission is hereby granted, free of charge, to any person obtaining a copy"}},
		{"CC0-1.0", []string{"CC0 1.0 Universal"}},
		{"Unlicense", []string{"This is free and unencumbered software released into the public domain"}},
	}
}

// TestLicences writes down under which licence each module that is linked into
// the server may be used, and fails when there is one that nobody has weighed.
func TestLicences(t *testing.T) {
	b := bytes.NewBufferString("# Licences\n\nWhat is linked into the server besides Go itself (BSD-3-Clause), and the licence of each module. Their texts are in the modules.\n\n| Module | Licence |\n|---|---|\n")
	dirs := linked(t)
	names := make([]string, 0, len(dirs))
	for name := range dirs {
		names = append(names, name)
	}
	slices.Sort(names)
	if len(names) < 30 {
		t.Fatalf("only %d modules are linked: %v", len(names), names)
	}
	for _, name := range names {
		found := licenceOf(dirs[name])
		if found == "" {
			t.Errorf("the licence of %s (%s) is not known: weigh it, and add it to licences() or do without the module", name, dirs[name])
		}
		fmt.Fprintf(b, "| %s | %s |\n", name, found)
	}
	testkit.Golden(t, filepath.Join("..", "..", "config", "reference", "licences.md"), b.Bytes())
}

// linked gives the modules of the server with their folders, of every platform
// that is released.
func linked(t *testing.T) map[string]string {
	t.Helper()
	dirs := map[string]string{}
	for _, system := range []string{"linux", "darwin"} {
		cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=Module", home)
		cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=0")
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
			var p struct {
				Module *struct {
					Path, Dir string
					Main      bool
				}
			}
			if err := dec.Decode(&p); err != nil {
				t.Fatal(err)
			}
			if p.Module != nil && !p.Module.Main {
				dirs[p.Module.Path] = p.Module.Dir
			}
		}
	}
	return dirs
}

// licenceOf names the licences in a folder, or "" when one is not known.
func licenceOf(dir string) string {
	files, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	var names []string
	for _, f := range files {
		upper := strings.ToUpper(f.Name())
		if f.IsDir() || strings.HasSuffix(upper, "-LOGO") || !strings.HasPrefix(upper, "LICEN") && !strings.HasPrefix(upper, "COPYING") && !strings.HasPrefix(upper, "UNLICENSE") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return ""
		}
		name := classify(strings.Join(strings.Fields(string(text)), " "))
		if name == "" {
			return ""
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

func classify(text string) string {
	for _, l := range licences() {
		if !slices.ContainsFunc(l.marks, func(mark string) bool { return !strings.Contains(text, mark) }) {
			return l.name
		}
	}
	return ""
}
