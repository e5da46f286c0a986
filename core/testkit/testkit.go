// Package testkit is what tests share: a private PostgreSQL and MinIO, real data, golden
// files, a fake clock. Only tests import it.
//
// Three variables steer it:
//
//	QUOIN_TEST_REQUIRE_SERVICES=1   a missing service fails the test instead of skipping it
//	QUOIN_TEST_DATABASE_URL         use this PostgreSQL server instead of starting one
//	QUOIN_TEST_DATA                 folder with sample data for tests that import real content
//
// Nothing here is a mock: code is tested against the real service or skipped
// loudly.
package testkit

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

const (
	pollEvery = 10 * time.Millisecond
	pollLimit = 5 * time.Minute // generous: only a failing test waits so long
)

// missing skips the test loudly, or fails it when services are required.
func missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("QUOIN_TEST_REQUIRE_SERVICES") == "1" {
		t.Fatalf("QUOIN_TEST_REQUIRE_SERVICES=1, but "+format, args...)
	}
	t.Skipf("SKIPPED: "+format, args...)
}

// Data gives the absolute path of the folder with sample data, QUOIN_TEST_DATA.
// Without it the test is skipped, or fails when services are required.
func Data(t testing.TB) string {
	t.Helper()
	folder := os.Getenv("QUOIN_TEST_DATA")
	if folder == "" {
		missing(t, "QUOIN_TEST_DATA does not name a folder with sample data")
	}
	path, err := filepath.Abs(folder)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		t.Fatalf("QUOIN_TEST_DATA=%s is not a folder: %v", folder, err)
	}
	return path
}

// Eventually asks the condition every 10 ms until it holds, and fails the test
// after five minutes. It is for processes outside of the test only, such as a server
// that was started or killed; inside one process, wait on a channel.
func Eventually(t testing.TB, cond func() bool) {
	t.Helper()
	deadline := time.Now().Add(pollLimit)
	for !cond() {
		if time.Now().After(deadline) {
			t.Fatalf("the condition did not come true within %s", pollLimit)
		}
		time.Sleep(pollEvery)
	}
}
