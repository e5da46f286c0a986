package testkit

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// PostgresServer is a PostgreSQL server of one test, which may be stopped and
// started again.
type PostgresServer struct {
	t             testing.TB
	bin, password string
	dir           string
	port          int
	running       *cluster
	frozen        bool
}

// StartPostgres gives a server of the test's own, without fsync. Without
// PostgreSQL the test is skipped, or fails when services are required.
func StartPostgres(t testing.TB) *PostgresServer {
	t.Helper()
	bin, err := binaries()
	if errors.Is(err, errNoPostgres) {
		missing(t, "%v", err)
	}
	s := &PostgresServer{t: t, bin: bin}
	if s.dir, s.password, err = newFolder(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Stop()
		if err := os.RemoveAll(s.dir); err != nil {
			t.Error(err)
		}
	})
	if s.port, err = freePort(); err != nil {
		t.Fatal(err)
	}
	s.Start()
	return s
}

// URL is the database of the server.
func (s *PostgresServer) URL() string {
	u := url.URL{Scheme: "postgres", User: url.UserPassword("postgres", s.password), Host: "127.0.0.1:" + strconv.Itoa(s.port), Path: "/postgres", RawQuery: "sslmode=disable"}
	return u.String()
}

// Freeze keeps the server from doing anything, its connections open, until Thaw
// or Stop.
func (s *PostgresServer) Freeze() { s.signal(syscall.SIGSTOP) }

// Thaw lets a server that was frozen go on.
func (s *PostgresServer) Thaw() { s.signal(syscall.SIGCONT) }

// signal tells all processes of the server, the first one first: it makes the
// others.
func (s *PostgresServer) signal(sig syscall.Signal) {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, "data", "postmaster.pid"))
	if err != nil {
		s.t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	first, err := strconv.Atoi(line)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := syscall.Kill(first, sig); err != nil {
		s.t.Fatal(err)
	}
	list, err := exec.CommandContext(context.WithoutCancel(s.t.Context()), "ps", "-A", "-o", "pid=,ppid=").Output()
	if err != nil {
		s.t.Fatalf("list the processes: %v", err)
	}
	for line := range strings.Lines(string(list)) {
		var pid, parent int
		if n, _ := fmt.Sscan(line, &pid, &parent); n == 2 && parent == first {
			_ = syscall.Kill(pid, sig) // one that has just ended is as good
		}
	}
	s.frozen = sig == syscall.SIGSTOP
}

// Stop ends the server at once (SIGQUIT: its immediate shutdown), with all
// connections, and waits for its end.
func (s *PostgresServer) Stop() {
	if s.frozen {
		s.Thaw()
	}
	if s.running != nil {
		_ = s.running.alive.Close()
		for range s.running.ended {
		}
		s.running = nil
	}
}

// Start runs the server again after Stop, on the same port and folder, and
// waits until it answers.
func (s *PostgresServer) Start() {
	s.t.Helper()
	c, err := runCluster(s.bin, s.dir, s.password, s.port, false, "keep")
	if err != nil {
		s.t.Fatal(err)
	}
	s.running = c
}
