package testkit

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// update is set by `go test ./that/package -update`.
var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// Golden compares got with the file at the path, relative to the folder of the
// test. With the flag -update it writes the file. `make generate` updates the
// golden files of the whole repository.
func Golden(t testing.TB, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; write it with: make generate", err)
	}
	if difference := firstDifference(want, got); difference != "" {
		t.Errorf("%s is not what the code makes; when the change is meant: make generate\n%s", path, difference)
	}
}

// firstDifference shows the first line that differs, or "".
func firstDifference(want, got []byte) string {
	if bytes.Equal(want, got) {
		return ""
	}
	wants, gots := bytes.Split(want, []byte("\n")), bytes.Split(got, []byte("\n"))
	for i := range max(len(wants), len(gots)) {
		w, g := lineAt(wants, i), lineAt(gots, i)
		if w != g {
			return fmt.Sprintf("line %d\n  in the file: %s\n  made now:    %s", i+1, w, g)
		}
	}
	return ""
}

func lineAt(lines [][]byte, i int) string {
	if i >= len(lines) {
		return "(ends before)"
	}
	return fmt.Sprintf("%q", lines[i])
}
