package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/config"
	"github.com/quoin-cms/quoin/core/cli"
	"github.com/quoin-cms/quoin/modules"
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

// withServer runs the tests beside a server.
func withServer(tests func() int) (code int, err error) {
	data, err := os.MkdirTemp("", "quoin-client-")
	if err != nil {
		return 1, err
	}
	defer func() { _ = os.RemoveAll(data) }()
	ctx, cancel := context.WithCancel(context.Background())
	log := &serverLog{ready: make(chan string, 1)}
	ended := make(chan error, 1)
	go func() {
		program := cli.Program{Modules: modules.All(), Defaults: config.Defaults, Samples: config.Samples, Version: "test"}
		vars := []string{
			"QUOIN_DATA=" + data, "QUOIN_LISTEN=127.0.0.1:0", "QUOIN_ADMIN_PASSWORD=" + password, "QUOIN_CONTENT__SAMPLES=true",
			"QUOIN_USER__HASHING__MEMORY=8KiB", "QUOIN_USER__HASHING__PASSES=1", "QUOIN_WEBHOOK__ALLOW_NETWORKS=127.0.0.0/8",
		}
		ended <- cli.Run(ctx, program, []string{"serve"}, vars, strings.NewReader(""), log, log)
	}()
	defer func() { cancel(); <-ended }()
	select {
	case listen := <-log.ready:
		address = "http://" + listen
	case err := <-ended:
		ended <- err
		return 1, fmt.Errorf("the server does not start: %w\n%s", err, log.text.String())
	case <-time.After(2 * time.Minute):
		return 1, fmt.Errorf("the server is not ready\n%s", log.text.String())
	}
	c, err := client.New(address)
	if err == nil {
		token, err = c.Users.SignIn(ctx, "admin", password)
	}
	if err != nil {
		return 1, err
	}
	return tests(), nil
}

// serverLog waits for the line that tells the address.
type serverLog struct {
	mu    sync.Mutex
	text  bytes.Buffer
	ready chan string
}

// Write implements io.Writer.
func (l *serverLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range bytes.Lines(p) {
		var is struct{ Msg, Listen string }
		if json.Unmarshal(line, &is) == nil && is.Msg == "ready" {
			l.ready <- is.Listen
		}
	}
	return l.text.Write(p)
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
