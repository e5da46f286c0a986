package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/testkit"
)

// pair are two processes on one PostgreSQL.
func pair(t *testing.T) (who *people, a, b *replica) {
	t.Helper()
	who = &people{gone: map[string]bool{}}
	url := testkit.Postgres(t, testkit.WithoutFsync())
	one, two := open(t, db.Config{URL: url}), open(t, db.Config{URL: url})
	return who, replicaOn(t, one, who, nil), replicaOn(t, two, who, nil)
}

func TestAnyReplicaServesAnySession(t *testing.T) {
	t.Parallel()
	_, a, b := pair(t)
	session := begin(t, a, "ann", initialize)
	for range 3 {
		for _, r := range []*replica{b, a} {
			if status, _, body := post(t, r, "ann", echo, "Mcp-Session-Id", session); status != 200 || !strings.Contains(body, "hi") {
				t.Fatalf("%d %s", status, body)
			}
		}
	}
	a.stop() // one of them dies
	if status, _, body := post(t, b, "ann", echo, "Mcp-Session-Id", session); status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	if status, _, _ := send(t, http.MethodDelete, b.url, "ann", "", "Mcp-Session-Id", session); status != 204 {
		t.Fatalf("%d", status)
	}
	if status, _, _ := post(t, b, "ann", echo, "Mcp-Session-Id", session); status != 404 {
		t.Fatalf("%d", status)
	}
}

func TestADeletedSessionEndsEverywhere(t *testing.T) {
	t.Parallel()
	_, a, b := pair(t)
	session := begin(t, a, "ann", initialize)
	if status, _, _ := send(t, http.MethodDelete, b.url, "ann", "", "Mcp-Session-Id", session); status != 204 {
		t.Fatalf("%d", status)
	}
	testkit.Eventually(t, func() bool {
		status, _, _ := post(t, a, "ann", ping, "Mcp-Session-Id", session)
		return status == 404
	})
}

func TestAClientBehindRoundRobin(t *testing.T) {
	t.Parallel()
	_, a, b := pair(t)
	updated := make(chan string, 10)
	asked := make(chan string, 10)
	session := connect(t, "ann", "2025-11-25", &sdk.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) { updated <- r.Params.URI },
		ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			asked <- r.Params.Message
			return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"username": "ann"}}, nil
		},
	}, a, b)

	for range 4 { // calls land on both
		res, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "echo", Arguments: map[string]any{"text": "hi"}})
		if err != nil || res.IsError {
			t.Fatalf("%v %v", err, res)
		}
	}

	// The question is asked by one process, the answer arrives at the other.
	for range 2 {
		res, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "test_elicitation", Arguments: map[string]any{"message": "who?"}})
		if err != nil || res.IsError {
			t.Fatalf("%v %v", err, res)
		}
		if got := <-asked; got != "who?" {
			t.Errorf("asked %q", got)
		}
	}

	// Subscribed at one process, told by the stream at whichever has it.
	const uri = "elasticms://bench/one"
	if err := session.Subscribe(t.Context(), &sdk.SubscribeParams{URI: uri}); err != nil {
		t.Fatal(err)
	}
	for _, at := range []*replica{a, b} {
		deadline := time.After(patience)
		for got := ""; got != uri; {
			at.bench.change(uri)
			select {
			case got = <-updated:
			case <-time.After(200 * time.Millisecond): // the other process may not have heard of the subscription yet
			case <-deadline:
				t.Fatal("no notification")
			}
		}
	}
	if err := session.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "elasticms://bench/none"}); err == nil {
		t.Error("subscribed to nothing")
	}
}

func TestACallIsCancelledThroughTheOtherReplica(t *testing.T) {
	t.Parallel()
	_, a, b := pair(t)
	session := begin(t, a, "ann", initialize)
	done := make(chan string, 1)
	go func() {
		_, _, body := post(t, a, "ann", `{"jsonrpc":"2.0","id":"x 1","method":"tools/call","params":{"name":"hang","arguments":{}}}`, "Mcp-Session-Id", session, "Accept", "application/json, text/event-stream")
		done <- body
	}()
	<-a.bench.started
	for deadline, ended := time.After(patience), false; !ended; {
		status, _, body := post(t, b, "ann", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"x 1"}}`, "Mcp-Session-Id", session)
		if status != 202 {
			t.Fatalf("%d %s", status, body)
		}
		select {
		case err := <-a.bench.ended:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%v", err)
			}
			ended = true
		case <-time.After(200 * time.Millisecond): // the other process may not listen yet
		case <-deadline:
			t.Fatal("the call goes on")
		}
	}
	<-done
}

func TestAnAnswerThatNobodyWasThereForIsFetchedFromTheOtherReplica(t *testing.T) {
	t.Parallel()
	_, a, b := pair(t)
	message := strings.ReplaceAll(initialize, "2025-06-18", "2025-11-25")
	session := begin(t, a, "ann", message)
	version := []string{"Mcp-Session-Id", session, "Mcp-Protocol-Version", "2025-11-25", "Accept", "application/json, text/event-stream"}
	_, _, body := post(t, a, "ann", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"test_reconnection","arguments":{}}}`, version...)
	id := ""
	for line := range strings.Lines(body) {
		if rest, ok := strings.CutPrefix(line, "id: "); ok {
			id = strings.TrimSpace(rest)
		}
	}
	if id == "" || strings.Contains(body, `"result"`) {
		t.Fatalf("the stream was not closed early: %s", body)
	}
	testkit.Eventually(t, func() bool {
		status, _, body := send(t, http.MethodGet, b.url, "ann", "", append(version, "Last-Event-ID", id)...)
		return status == 200 && strings.Contains(body, "You came back")
	})
}

func TestAStreamEndsWithItsToken(t *testing.T) {
	t.Parallel()
	who, a, _ := pair(t)
	session := begin(t, a, "ann", initialize)
	ended := make(chan string, 1)
	go func() {
		_, _, body := send(t, http.MethodGet, a.url, "ann", "", "Mcp-Session-Id", session, "Accept", "text/event-stream")
		ended <- body
	}()
	who.sendAway("ann")
	select {
	case <-ended:
	case <-time.After(patience):
		t.Fatal("the stream goes on")
	}
}

func TestListenInTheEraWithoutSessions(t *testing.T) {
	t.Parallel()
	_, a, b := pair(t)
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.url, strings.NewReader(
		`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":["elasticms://bench/one"]},`+meta+`}}`))
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "X-Auth-Token": "ann",
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "subscriptions/listen",
	} {
		req.Header.Set(k, v)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	events := json.NewDecoder(&dataOnly{r: resp.Body})
	next := func() (method string) {
		var m struct{ Method string }
		if err := events.Decode(&m); err != nil {
			t.Fatal(err)
		}
		return m.Method
	}
	if got := next(); got != "notifications/subscriptions/acknowledged" {
		t.Fatalf("%s", got)
	}
	b.bench.change("elasticms://bench/one") // elsewhere
	if got := next(); got != "notifications/resources/updated" {
		t.Fatalf("%s", got)
	}
}
