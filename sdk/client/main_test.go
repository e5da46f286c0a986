package client_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/sdk/client"
)

// What the examples and tests of this package talk to: a whole server on an
// empty folder with the sample content types.
var (
	address string
	token   string
)

const password = "correct horse battery staple"

func TestMain(m *testing.M) {
	code, err := withServer(m.Run)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

// withServer runs the tests beside a server: the program of this repository, built
// and started as anybody would.
func withServer(tests func() int) (code int, err error) {
	folder, err := os.MkdirTemp("", "quoin-client-")
	if err != nil {
		return 1, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	defer cancel()
	program := filepath.Join(folder, "quoin")
	build := exec.CommandContext(ctx, "go", "build", "-o", program, "../..")
	if out, err := build.CombinedOutput(); err != nil {
		return 1, fmt.Errorf("build the server: %w\n%s", err, out)
	}
	server := exec.CommandContext(ctx, program, "serve")
	server.Env = []string{
		"QUOIN_DATA=" + filepath.Join(folder, "data"), "QUOIN_LISTEN=127.0.0.1:0", "QUOIN_ADMIN_PASSWORD=" + password, "QUOIN_CONTENT__SAMPLES=true",
		"QUOIN_USER__HASHING__MEMORY=8KiB", "QUOIN_USER__HASHING__PASSES=1", "QUOIN_WEBHOOK__ALLOW_NETWORKS=127.0.0.0/8",
	}
	server.Cancel = func() error { return server.Process.Signal(os.Interrupt) }
	log, err := server.StderrPipe()
	if err != nil {
		return 1, err
	}
	if err := server.Start(); err != nil {
		return 1, err
	}
	defer func() { cancel(); _ = server.Wait() }()
	if address, err = ready(log); err != nil {
		return 1, err
	}
	go func() { _, _ = io.Copy(io.Discard, log) }()
	c, err := client.New(address)
	if err == nil {
		token, err = c.Users.SignIn(ctx, "admin", password)
	}
	if err != nil {
		return 1, err
	}
	return tests(), nil
}

// ready waits for the line of the log that tells where the server listens.
func ready(log io.Reader) (address string, err error) {
	var said strings.Builder
	for lines := bufio.NewScanner(log); lines.Scan(); {
		var is struct{ Msg, Listen string }
		if json.Unmarshal(lines.Bytes(), &is) == nil && is.Msg == "ready" {
			return "http://" + is.Listen, nil
		}
		said.WriteString(lines.Text() + "\n")
	}
	return "", fmt.Errorf("the server does not start:\n%s", said.String())
}

// connected gives a client with the rights of the administrator.
func connected(t testing.TB, options ...client.Option) *client.Client {
	t.Helper()
	c, err := client.New(address, append([]client.Option{client.WithToken(token)}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
