package testkit

import (
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

//go:embed guard_minio.sh
var minioGuardScript string

// MinIOVersion is the version of MinIO that tests run against; .ci/services
// builds it from source.
const MinIOVersion = "v0.0.0-20260212201848-7aac2a2c5b7c"

const (
	minioUser     = "quoin-test"
	minioPassword = "quoin-test-password"
)

var errNoMinIO = errors.New("MinIO is not installed: no minio in PATH or ~/.cache/quoin; run `make services`, which builds it")

// MinIOServer is a MinIO server of one test, which may be killed and started
// again.
type MinIOServer struct {
	dir   string
	port  int
	alive *os.File
	ended chan error
}

// shared is the server that the tests of a process share.
var shared struct {
	once   sync.Once
	server *MinIOServer
	err    error
}

// MinIO gives the address, s3://key:secret@host:port/bucket?tls=false, of a
// bucket that belongs to the test alone and is still to be made. The first call
// of a test process starts a private server, which lives until the process
// ends, however it ends. Without MinIO the test is skipped, or fails when
// QUOIN_TEST_REQUIRE_SERVICES=1.
func MinIO(t testing.TB) string {
	t.Helper()
	shared.once.Do(func() { shared.server, shared.err = newMinIO("") })
	failed(t, shared.err)
	return shared.server.URL()
}

// StartMinIO gives a server of the test's own.
func StartMinIO(t testing.TB) *MinIOServer {
	t.Helper()
	s, err := newMinIO("keep")
	failed(t, err)
	t.Cleanup(func() {
		s.Kill()
		if err := os.RemoveAll(s.dir); err != nil {
			t.Error(err)
		}
	})
	return s
}

func failed(t testing.TB, err error) {
	t.Helper()
	switch {
	case errors.Is(err, errNoMinIO):
		missing(t, "%v", err)
	case err != nil:
		t.Fatal(err)
	}
}

// URL gives the address of a bucket that nobody else uses.
func (s *MinIOServer) URL() string {
	return fmt.Sprintf("s3://%s:%s@127.0.0.1:%d/test-%s?tls=false", minioUser, minioPassword, s.port, strings.ToLower(rand.Text()[:16]))
}

// Kill ends the server with SIGKILL and waits for its end.
func (s *MinIOServer) Kill() {
	_ = s.alive.Close()
	if err, first := <-s.ended; first {
		close(s.ended)
		_ = err // killed, as it should be
	}
}

// Start runs the server again after Kill, on the same port and folder.
func (s *MinIOServer) Start(t testing.TB) {
	t.Helper()
	if err := s.start("keep"); err != nil {
		t.Fatal(err)
	}
}

// minioProgram finds the program.
func minioProgram() (string, error) {
	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" {
		cache = filepath.Join(os.Getenv("HOME"), ".cache")
	}
	if path := filepath.Join(cache, "quoin", "minio-"+MinIOVersion, "minio"); executable(path) {
		return path, nil
	}
	path, err := exec.LookPath("minio")
	if err != nil {
		return "", errNoMinIO
	}
	return path, nil
}

func newMinIO(keep string) (*MinIOServer, error) {
	dir, err := os.MkdirTemp("", "quoin-minio-")
	if err != nil {
		return nil, err
	}
	s := &MinIOServer{dir: dir}
	for attempt := 0; ; attempt++ {
		if s.port, err = freePort(); err != nil {
			return nil, err
		}
		if err = s.start(keep); err == nil || errors.Is(err, errNoMinIO) || attempt == 2 {
			break // another try helps when somebody took the free port meanwhile
		}
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, nil
}

func (s *MinIOServer) start(keep string) error {
	program, err := minioProgram()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(s.dir, "data"), 0o700); err != nil {
		return err
	}
	guard := exec.Command("sh", "-c", minioGuardScript, "guard", program, s.dir, strconv.Itoa(s.port), keep) //nolint:noctx // outlives every context
	guard.Dir = s.dir
	guard.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir, "MINIO_ROOT_USER=" + minioUser, "MINIO_ROOT_PASSWORD=" + minioPassword, "MINIO_BROWSER=off", "MINIO_UPDATE=off"}
	guard.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // Ctrl-C is for the test; the guard follows it
	log, alive, err := begin(guard)
	if err != nil {
		return err
	}
	s.alive, s.ended = alive, make(chan error, 1)
	ended := s.ended
	go func() { ended <- guard.Wait() }()
	if err := s.wait(); err != nil {
		s.Kill()
		text, _ := io.ReadAll(io.NewSectionReader(log, 0, 64<<10))
		return fmt.Errorf("MinIO does not start: %w\n%s", err, text)
	}
	return nil
}

// wait asks until the server is ready for requests.
func (s *MinIOServer) wait() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	url := "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) + "/minio/health/cluster"
	client := &http.Client{Timeout: 5 * time.Second}
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		if resp, err := client.Do(req); err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case err := <-s.ended:
			s.ended <- err
			return errors.New("it ended")
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pollEvery):
		}
	}
}
