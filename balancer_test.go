package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/core/testkit"
)

// balancer passes TCP connections on to servers in turn, to those whose
// /readyz said yes when it was asked last.
type balancer struct {
	listener net.Listener
	client   *http.Client

	mu      sync.Mutex
	servers map[string]bool // address → ready
	next    int
}

// asksEvery is how often servers are asked whether they are ready.
const asksEvery = 50 * time.Millisecond

// balance starts a balancer that ends with the test.
func balance(t *testing.T) *balancer {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &balancer{listener: l, servers: map[string]bool{}, client: &http.Client{Timeout: 5 * time.Second}}
	ctx, end := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { b.ask(ctx) })
	running.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() { b.pass(conn) })
		}
	})
	t.Cleanup(func() { end(); _ = l.Close(); running.Wait() })
	return b
}

func (b *balancer) base() string { return "http://" + b.listener.Addr().String() }

// add takes a server in and waits until it gets connections.
func (b *balancer) add(t *testing.T, s *server) {
	t.Helper()
	address := strings.TrimPrefix(s.base, "http://")
	b.mu.Lock()
	b.servers[address] = false
	b.mu.Unlock()
	testkit.Eventually(t, func() bool { return slices.Contains(b.ready(), address) })
}

func (b *balancer) remove(s *server) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.servers, strings.TrimPrefix(s.base, "http://"))
}

func (b *balancer) ready() (addresses []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for address, ready := range b.servers {
		if ready {
			addresses = append(addresses, address)
		}
	}
	slices.Sort(addresses)
	return addresses
}

func (b *balancer) ask(ctx context.Context) {
	for ctx.Err() == nil {
		b.mu.Lock()
		var all []string
		for address := range b.servers {
			all = append(all, address)
		}
		b.mu.Unlock()
		for _, address := range all {
			ready := b.isReady(ctx, address)
			b.mu.Lock()
			if _, there := b.servers[address]; there {
				b.servers[address] = ready
			}
			b.mu.Unlock()
		}
		select {
		case <-ctx.Done():
		case <-time.After(asksEvery):
		}
	}
}

func (b *balancer) isReady(ctx context.Context, address string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/readyz", nil)
	if err != nil {
		return false
	}
	resp, err := b.client.Do(req)
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// pass connects a client with the server whose turn it is.
func (b *balancer) pass(client net.Conn) {
	defer func() { _ = client.Close() }()
	for range 3 {
		ready := b.ready()
		if len(ready) == 0 {
			return
		}
		b.mu.Lock()
		b.next++
		address := ready[b.next%len(ready)]
		b.mu.Unlock()
		server, err := net.DialTimeout("tcp", address, time.Second)
		if err != nil {
			continue
		}
		join(client.(*net.TCPConn), server.(*net.TCPConn))
		return
	}
}

// join copies both ways until both ends have closed.
func join(client, server *net.TCPConn) {
	defer func() { _ = server.Close() }()
	var both sync.WaitGroup
	copyTo := func(to, from *net.TCPConn) {
		_, _ = io.Copy(to, from)
		_ = to.CloseWrite()
		_ = from.CloseRead()
	}
	both.Go(func() { copyTo(server, client) })
	both.Go(func() { copyTo(client, server) })
	both.Wait()
}
