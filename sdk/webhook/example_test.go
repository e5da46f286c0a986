package webhook_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"github.com/quoin-cms/quoin/sdk/webhook"
)

// A whole receiver. It answers validation, test and ping, says 410 to a
// subscription that it does not know (which ends it), 401 to a call that was
// not made with the secret, and handles every event once.
func Example() {
	secrets := map[string]string{"0198a3f2-0000-7000-8000-000000000001": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}
	verifier := &webhook.Verifier{
		Secrets: func(subscription string) []string {
			if s, ok := secrets[subscription]; ok {
				return []string{s}
			}
			return nil
		},
		Now: func() time.Time { return time.Unix(1777888800, 0) }, // leave it out: it is for this example
	}
	var seen sync.Map // in real life a table of your database, written in one transaction with the work

	receiver := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e, err := verifier.Verify(r)
		switch {
		case errors.Is(err, webhook.ErrUnknown):
			http.Error(w, "unknown subscription", http.StatusGone)
			return
		case errors.Is(err, webhook.ErrSignature):
			http.Error(w, "bad signature", http.StatusUnauthorized)
			return
		case err != nil:
			http.Error(w, "bad request", http.StatusBadRequest)
			return
		}
		if _, twice := seen.LoadOrStore(e.ID, true); twice || e.Control() {
			return // 200
		}
		fmt.Println("handled", e.Type, string(e.Data))
	})

	server := httptest.NewServer(receiver)
	defer server.Close()
	for _, c := range []struct{ subscription, body, signature string }{
		{"0198a3f2-0000-7000-8000-000000000001", `{"event":"webhook_ping","data":{"message":"ping"}}`, "TgU7PPGwk7WH8Dp0l7XKB7tRdnND3/FAaRbKKB63Zqc="},
		{"0198a3f2-0000-7000-8000-000000000001", `{"event":"content.delete","data":{"ouuid":"1"}}`, "2R1R4Acsfn0XCLu0ABbXGR70uHr/QsyXGo2yj5BBwyg="},
		{"0198a3f2-0000-7000-8000-000000000001", `{"event":"content.delete","data":{"ouuid":"1"}}`, "2R1R4Acsfn0XCLu0ABbXGR70uHr/QsyXGo2yj5BBwyg="},
		{"0198a3f2-0000-7000-8000-000000000001", `{"event":"content.delete","data":{"ouuid":"2"}}`, "2R1R4Acsfn0XCLu0ABbXGR70uHr/QsyXGo2yj5BBwyg="},
		{"0198a3f2-0000-7000-8000-00000000ffff", `{"event":"content.delete","data":{"ouuid":"1"}}`, "2R1R4Acsfn0XCLu0ABbXGR70uHr/QsyXGo2yj5BBwyg="},
	} {
		req, _ := http.NewRequest(http.MethodPost, server.URL, strings.NewReader(c.body))
		req.Header.Set("X-Webhook-Subscription-Id", c.subscription)
		req.Header.Set("webhook-id", "msg_1")
		if c.signature == "TgU7PPGwk7WH8Dp0l7XKB7tRdnND3/FAaRbKKB63Zqc=" {
			req.Header.Set("webhook-id", "msg_0")
		}
		req.Header.Set("webhook-timestamp", "1777888800")
		req.Header.Set("webhook-signature", "v1,"+c.signature)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			fmt.Println(err)
			return
		}
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		fmt.Println(res.StatusCode)
	}
	// Output:
	// 200
	// handled content.delete {"ouuid":"1"}
	// 200
	// 200
	// 401
	// 410
}
