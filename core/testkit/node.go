package testkit

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// Node gives a folder in which these npm packages ("name@version") are
// installed, so that a script that runs there can import them: foreign clients
// and receivers are tested as they come. The folder is kept for the next run.
// Without Node.js and npm the test is skipped, or fails when services are
// required.
func Node(t testing.TB, packages ...string) string {
	t.Helper()
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			missing(t, "%s is not installed (Node.js 20 or later, with npm)", program)
		}
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(packages)
	sum := sha256.Sum256([]byte(strings.Join(packages, "\n")))
	dir := filepath.Join(cache, "quoin", "node-"+hex.EncodeToString(sum[:8]))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Close() }() // ends the lock
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	done := filepath.Join(dir, "installed")
	if _, err := os.Stat(done); err == nil {
		return dir
	}
	npm := exec.CommandContext(t.Context(), "npm", append([]string{"install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", "--prefix", dir}, packages...)...)
	npm.Dir = dir
	if out, err := npm.CombinedOutput(); err != nil {
		missing(t, "npm cannot install %v: %v\n%s", packages, err, out)
	}
	if err := os.WriteFile(done, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}
