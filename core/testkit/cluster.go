package testkit

import (
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"io"
	randv2 "math/rand/v2"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

//go:embed guard.sh
var guardScript string

var errNoPostgres = errors.New("PostgreSQL is not installed: no initdb in PATH or /usr/lib/postgresql/*/bin; " +
	"install it (apt-get install postgresql, dnf install postgresql-server, brew install postgresql) or set QUOIN_TEST_DATABASE_URL")

// cluster is a PostgreSQL server that tests may make databases in.
type cluster struct {
	base  *url.URL     // of a role that may create databases
	alive *os.File     // our end of the pipe to the guard; closing it stops the server
	ended <-chan error // closed when the guard has ended

	mu        sync.Mutex // one statement at a time: CREATE DATABASE locks its template anyway
	admin     *pgx.Conn
	templates map[string]*template
}

// binaries gives the folder with initdb and postgres.
func binaries() (string, error) {
	folders := filepath.SplitList(os.Getenv("PATH"))
	for _, pattern := range []string{"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin", "/usr/local/opt/postgresql*/bin"} {
		found, _ := filepath.Glob(pattern) // only a malformed pattern fails
		for i := range found {
			folders = append(folders, found[len(found)-1-i]) // newest first
		}
	}
	for _, folder := range folders {
		if executable(filepath.Join(folder, "initdb")) && executable(filepath.Join(folder, "postgres")) {
			return folder, nil
		}
	}
	return "", errNoPostgres
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// startCluster makes a cluster in a new folder and waits until it answers.
func startCluster(fsync bool) (*cluster, error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	for attempt := 0; ; attempt++ {
		dir, password, err := newFolder()
		if err != nil {
			return nil, err
		}
		port, err := freePort()
		if err != nil {
			return nil, err
		}
		c, err := runCluster(bin, dir, password, port, fsync, "")
		if err == nil || attempt == 2 {
			return c, err // a second try helps when somebody took the free port meanwhile
		}
	}
}

// newFolder makes the folder of a cluster with the password of its role.
func newFolder() (dir, password string, err error) {
	if dir, err = os.MkdirTemp("", "quoin-pg-"); err != nil {
		return "", "", err
	}
	password = rand.Text()
	return dir, password, os.WriteFile(filepath.Join(dir, "password"), []byte(password+"\n"), 0o600)
}

// runCluster starts the server of a folder and waits until it answers. With
// "keep" the folder outlives it.
func runCluster(bin, dir, password string, port int, fsync bool, keep string) (*cluster, error) {
	credential, err := ownedByServer(dir)
	if err != nil {
		return nil, err
	}
	setting := map[bool]string{true: "on", false: "off"}[fsync]
	guard := exec.Command("sh", "-c", guardScript, "guard", bin, dir, strconv.Itoa(port), setting, keep) //nolint:noctx // outlives every context
	guard.Dir = dir
	guard.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}
	guard.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: credential} // Ctrl-C is for the test; the guard follows it
	log, alive, err := begin(guard)
	if err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	c := &cluster{
		ended: ended,
		base: &url.URL{Scheme: "postgres", User: url.UserPassword("postgres", password),
			Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), Path: "/postgres", RawQuery: "sslmode=disable&connect_timeout=120"}, // which a busy machine may take,
		alive: alive,
	}
	go func() { ended <- guard.Wait(); close(ended) }()
	if err := c.connect(ended); err != nil {
		_ = alive.Close()
		text, _ := io.ReadAll(io.NewSectionReader(log, 0, 64<<10))
		return nil, fmt.Errorf("PostgreSQL in %s does not start: %w\n%s", bin, err, text)
	}
	return c, nil
}

// begin starts the guard with its log in a file that has no name any more and
// with the pipe that tells it when this process ends.
func begin(guard *exec.Cmd) (log, alive *os.File, err error) {
	log, err = os.CreateTemp("", "quoin-pg-log-")
	if err != nil {
		return nil, nil, err
	}
	if err := os.Remove(log.Name()); err != nil {
		return nil, nil, err
	}
	theirs, alive, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	guard.Stdout, guard.Stderr = log, log
	guard.ExtraFiles = []*os.File{theirs}
	err = guard.Start()
	_ = theirs.Close()
	return log, alive, err
}

// ownedByServer gives the folder to the user the server runs as. PostgreSQL
// refuses root, so root becomes postgres or nobody.
func ownedByServer(dir string) (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil //nolint:nilnil // nil keeps the user of the test
	}
	account, err := user.Lookup("postgres")
	if err != nil {
		account, err = user.Lookup("nobody")
	}
	if err != nil {
		return nil, err
	}
	uid, err := strconv.ParseUint(account.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(account.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	for _, path := range []string{dir, filepath.Join(dir, "password")} {
		if err := os.Chown(path, int(uid), int(gid)); err != nil {
			return nil, err
		}
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}

// freePort gives a port of 127.0.0.1 on which nobody listens. It is none of those
// that a system gives to whoever asks for any port (Linux from 32768 on, others
// from 49152 on), so that nobody takes it before its server starts, or while
// that is down.
func freePort() (port int, err error) {
	for range 100 {
		var l net.Listener
		port = 12000 + randv2.IntN(20000)
		if l, err = net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil { //nolint:noctx // local, at once
			return port, l.Close()
		}
	}
	return 0, err
}

// FreeAddress gives an address of this machine, "127.0.0.1:12345", on which
// nobody listens and that nobody else is given.
func FreeAddress(t testing.TB) string {
	t.Helper()
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}

// connect waits until the server takes a connection or the guard has ended.
func (c *cluster) connect(ended <-chan error) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, c.base.String())
		if err == nil {
			c.admin = conn
			return nil
		}
		select {
		case <-ended:
			return errors.New("it ended")
		case <-ctx.Done():
			return err
		case <-time.After(pollEvery):
		}
	}
}

// exec runs one statement as the administrator.
func (c *cluster) exec(format string, names ...string) error {
	quoted := make([]any, len(names))
	for i, name := range names {
		quoted[i] = pgx.Identifier{name}.Sanitize()
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_, err := c.admin.Exec(ctx, fmt.Sprintf(format, quoted...))
	return err
}

// url gives the URL of a database of the cluster.
func (c *cluster) url(database string) string {
	u := *c.base
	u.Path = "/" + database
	return u.String()
}

// freshName gives a name no other process takes, also on a shared server.
func freshName() string {
	return fmt.Sprintf("quoin_test_%d_%s", os.Getpid(), strings.ToLower(rand.Text()[:12]))
}
