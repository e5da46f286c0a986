package testkit

import (
	"context"
	"errors"
	"net/url"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// PostgresOption changes what Postgres gives.
type PostgresOption func(*postgresOptions)

type postgresOptions struct {
	fsync    bool
	template string
	prepare  func(url string) error
}

// WithoutFsync gives a database on a cluster that does not wait for the disk:
// faster, for tests that neither crash the server nor measure it. It has no
// effect on the server of QUOIN_TEST_DATABASE_URL.
func WithoutFsync() PostgresOption {
	return func(o *postgresOptions) { o.fsync = false }
}

// FromTemplate gives a copy of a database that prepare has filled, for example
// with every migration. prepare runs once for all tests that hold a copy of
// the name at the same time, and must close its connections.
func FromTemplate(name string, prepare func(url string) error) PostgresOption {
	return func(o *postgresOptions) { o.template, o.prepare = name, prepare }
}

// template is a prepared database with the number of tests that use it.
type template struct {
	database string
	users    int
}

// clusters are the servers of this test process: with fsync, without, and the
// one of QUOIN_TEST_DATABASE_URL. A process has no other place to keep them:
// there is no TestMain in most packages.
var clusters struct {
	mu     sync.Mutex
	opened map[string]*openedCluster
}

type openedCluster struct {
	cluster *cluster
	err     error // kept, so that a server that cannot start costs its time once
}

// Postgres gives the URL of an empty database that belongs to the test alone,
// with a role that may do everything in it. It is dropped when the test ends.
//
// The first call of a test process starts a private cluster: fsync on, C
// collation, UTC, at most 200 connections, reachable over a free TCP port of
// 127.0.0.1. It lives until the process ends, however it ends: the server is
// stopped and its folder removed by a shell that waits for the process to
// close a pipe. With QUOIN_TEST_DATABASE_URL the database is made on that
// server, whose role must be allowed to create databases.
//
// Without PostgreSQL the test is skipped, or fails when
// QUOIN_TEST_REQUIRE_SERVICES=1.
func Postgres(t testing.TB, options ...PostgresOption) string {
	t.Helper()
	o := postgresOptions{fsync: true}
	for _, option := range options {
		option(&o)
	}
	c, err := openCluster(o.fsync)
	switch {
	case errors.Is(err, errNoPostgres):
		missing(t, "%v", err)
	case err != nil:
		t.Fatal(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	from, err := c.source(t, o)
	if err != nil {
		t.Fatalf("prepare the template database: %v", err)
	}
	name := freshName()
	if err := c.exec("CREATE DATABASE %s TEMPLATE %s", name, from); err != nil {
		t.Fatalf("create a test database: %v", err)
	}
	t.Cleanup(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if err := c.exec("DROP DATABASE IF EXISTS %s WITH (FORCE)", name); err != nil {
			t.Errorf("drop the test database: %v", err)
		}
	})
	return c.url(name)
}

// source gives the database to copy and makes it when it is not there yet.
func (c *cluster) source(t testing.TB, o postgresOptions) (string, error) {
	if o.template == "" {
		return "template0", nil
	}
	tpl := c.templates[o.template]
	if tpl == nil {
		tpl = &template{database: freshName()}
		if err := c.exec("CREATE DATABASE %s TEMPLATE template0", tpl.database); err != nil {
			return "", err
		}
		if err := o.prepare(c.url(tpl.database)); err != nil {
			return "", errors.Join(err, c.exec("DROP DATABASE %s WITH (FORCE)", tpl.database))
		}
		c.templates[o.template] = tpl
	}
	tpl.users++
	t.Cleanup(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if tpl.users--; tpl.users > 0 {
			return
		}
		delete(c.templates, o.template)
		if err := c.exec("DROP DATABASE IF EXISTS %s WITH (FORCE)", tpl.database); err != nil {
			t.Errorf("drop the template database: %v", err)
		}
	})
	return tpl.database, nil
}

func openCluster(fsync bool) (*cluster, error) {
	clusters.mu.Lock()
	defer clusters.mu.Unlock()
	given := os.Getenv("QUOIN_TEST_DATABASE_URL")
	key := given
	if given == "" {
		key = map[bool]string{true: "fsync", false: "no fsync"}[fsync]
	}
	if c := clusters.opened[key]; c != nil {
		return c.cluster, c.err
	}
	c := &openedCluster{}
	if given != "" {
		c.cluster, c.err = existingCluster(given)
	} else {
		c.cluster, c.err = startCluster(fsync)
	}
	if c.err == nil {
		c.cluster.templates = map[string]*template{}
	}
	if clusters.opened == nil {
		clusters.opened = map[string]*openedCluster{}
	}
	clusters.opened[key] = c
	return c.cluster, c.err
}

func existingCluster(text string) (*cluster, error) {
	base, err := url.Parse(text)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	admin, err := pgx.Connect(ctx, text)
	return &cluster{base: base, admin: admin}, err
}
