package testkit

import (
	"errors"
	"net/url"
	"os"
	"strconv"
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

// Stop ends the server at once (SIGQUIT: its immediate shutdown), with all
// connections, and waits for its end.
func (s *PostgresServer) Stop() {
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
