package testkit_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/quoin-cms/quoin/core/testkit"
)

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_ = conn.Close(ctx)
	})
	return conn
}

func show(t *testing.T, conn *pgx.Conn, query string) string {
	t.Helper()
	var text string
	if err := conn.QueryRow(t.Context(), query).Scan(&text); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return text
}

func TestEveryTestHasItsOwnDatabase(t *testing.T) {
	var first string
	t.Run("one", func(t *testing.T) {
		first = testkit.Postgres(t)
		conn := connect(t, first)
		if _, err := conn.Exec(t.Context(), "CREATE TABLE a (n int)"); err != nil {
			t.Fatal(err)
		}
		other := connect(t, testkit.Postgres(t))
		if got := show(t, other, "SELECT coalesce(to_regclass('a')::text, 'none')"); got != "none" {
			t.Errorf("the databases share a table: %s", got)
		}
		if os.Getenv("QUOIN_TEST_DATABASE_URL") == "" && show(t, conn, "SHOW fsync") != "on" {
			t.Error("fsync must be on")
		}
	})
	if first == "" {
		t.Skip("SKIPPED: the database of the subtest is missing")
	}
	conn, err := pgx.Connect(t.Context(), first)
	if err == nil {
		_ = conn.Close(t.Context())
		t.Error("the database of a test that ended is still there")
	}
}

func TestWithoutFsync(t *testing.T) {
	if os.Getenv("QUOIN_TEST_DATABASE_URL") != "" {
		t.Skip("SKIPPED: the given server keeps its own settings")
	}
	if got := show(t, connect(t, testkit.Postgres(t, testkit.WithoutFsync())), "SHOW fsync"); got != "off" {
		t.Errorf("fsync is %s", got)
	}
}

func TestTemplateIsPreparedOnce(t *testing.T) {
	prepared := 0
	filled := testkit.FromTemplate("filled", func(url string) error {
		prepared++
		conn, err := pgx.Connect(t.Context(), url)
		if err != nil {
			return err
		}
		_, err = conn.Exec(t.Context(), "CREATE TABLE a AS SELECT 'x' AS n")
		return errors.Join(err, conn.Close(t.Context()))
	})
	for range 2 {
		conn := connect(t, testkit.Postgres(t, filled))
		if got := show(t, conn, "SELECT string_agg(n, ',') FROM a"); got != "x" {
			t.Errorf("the copy holds %s", got)
		}
		if _, err := conn.Exec(t.Context(), "INSERT INTO a VALUES ('y')"); err != nil {
			t.Fatal(err)
		}
	}
	if prepared != 1 {
		t.Errorf("prepared %d times", prepared)
	}
}

// TestChildHoldsCluster is the other process of TestNoServerIsLeftBehind. Run
// on its own it has nothing to do.
func TestChildHoldsCluster(t *testing.T) {
	how := os.Getenv("TESTKIT_CHILD")
	if how == "" {
		return
	}
	conn := connect(t, testkit.Postgres(t, testkit.WithoutFsync()))
	fmt.Println("DATA " + show(t, conn, "SHOW data_directory"))
	switch how {
	case "exits":
	case "panics":
		panic("as the test wants")
	default:
		select {}
	}
}

func TestNoServerIsLeftBehind(t *testing.T) {
	if os.Getenv("QUOIN_TEST_DATABASE_URL") != "" {
		t.Skip("SKIPPED: no cluster is started when a server is given")
	}
	testkit.Postgres(t) // skips without PostgreSQL
	for _, how := range []string{"exits", "panics", "is killed"} {
		t.Run(how, func(t *testing.T) {
			child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChildHoldsCluster$")
			child.Env = append(os.Environ(), "TESTKIT_CHILD="+how)
			out, err := child.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := child.Start(); err != nil {
				t.Fatal(err)
			}
			data := ""
			for lines := bufio.NewScanner(out); data == "" && lines.Scan(); {
				data, _ = strings.CutPrefix(lines.Text(), "DATA ")
			}
			server := serverPID(t, data)
			if how == "is killed" {
				if err := child.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
			_ = child.Wait() // a panic and a kill are errors, and meant
			testkit.Eventually(t, func() bool { return !running(server) })
			testkit.Eventually(t, func() bool {
				_, err := os.Stat(filepath.Dir(data))
				return os.IsNotExist(err)
			})
		})
	}
}

// serverPID reads the process of the server while it runs, or gives 0 when it
// is gone already.
func serverPID(t *testing.T, data string) int {
	t.Helper()
	if data == "" {
		t.Fatal("the child did not start a cluster")
	}
	text, err := os.ReadFile(filepath.Join(data, "postmaster.pid"))
	if os.IsNotExist(err) {
		return 0
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(first)
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func running(pid int) bool { return pid > 0 && syscall.Kill(pid, 0) == nil }
