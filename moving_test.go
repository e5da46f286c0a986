package main

import (
	"crypto/sha1"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/quoin-cms/quoin/core/testkit"
)

// TestMoving runs the commands of deployments/elasticms.md with the export of a
// real site and a storage as elasticms keeps it.
func TestMoving(t *testing.T) {
	site := filepath.Join(testkit.Data(t), "elasticms-demo")
	for _, tool := range []string{"bash", "curl", "sed"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("SKIPPED LOUDLY: the way from elasticms needs %s", tool)
		}
	}
	page, err := os.ReadFile("deployments/elasticms.md")
	if err != nil {
		t.Fatal(err)
	}
	steps := blocks(string(page), "moving")
	if len(steps) != 5 {
		t.Fatalf("%d blocks to run", len(steps))
	}
	data := "QUOIN_DATA=" + t.TempDir()
	s := start(t, data, "QUOIN_INSTANCE__ID=ems_promo_v2_")
	script := "quoin() { " + childVariable + "=1 " + os.Args[0] + " \"$@\"; }\n" + strings.Join(steps, "\n")
	script = strings.NewReplacer("http://127.0.0.1:8080", s.base, "./export", site, "/old/storage", oldStorage(t, site)).Replace(script)
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script)
	cmd.Env = append(os.Environ(), data, "QUOIN_INSTANCE__ID=ems_promo_v2_")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, s.log)
	}
	for _, want := range []string{"26 were there", "26 files", "0 faults", "176 documents published in live", "stands for live"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	counts := regexp.MustCompile(`(?m)^(\w+) +(\d+) \{"count":(\d+)\}$`).FindAllStringSubmatch(string(out), -1)
	if len(counts) != 10 {
		t.Errorf("%d content types were counted in\n%s", len(counts), out)
	}
	for _, c := range counts {
		if c[2] != c[3] {
			t.Errorf("%s: %s files, %s documents", c[1], c[2], c[3])
		}
	}
}

// oldStorage lays the files of an export out as elasticms stores them.
func oldStorage(t *testing.T, site string) string {
	t.Helper()
	dir := t.TempDir()
	files, err := filepath.Glob(filepath.Join(site, "admin", "assets", "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %d files", err, len(files))
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha1.Sum(content) //nolint:gosec // the name of a file in elasticms
		name := hex.EncodeToString(sum[:])
		if err := os.MkdirAll(filepath.Join(dir, name[:3]), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name[:3], name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
