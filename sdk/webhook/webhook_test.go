package webhook_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/quoin-cms/quoin/sdk/webhook"
)

const (
	secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	body   = `{"event":"content.delete","data":{"ouuid":"1"}}`
	// What other programs made of the above: openssl dgst -sha256 -hmac for
	// the first, and for the second with the decoded key over
	// "msg_1.1777888800." and the body.
	plain    = "0217fd6f7be40a53856faf11037aa0398ee27d1fe5ae3d271621b3932e3ac6f6"
	standard = "v1,2R1R4Acsfn0XCLu0ABbXGR70uHr/QsyXGo2yj5BBwyg="
)

var at = time.Unix(1777888800, 0)

func verifier(change ...func(*webhook.Verifier)) *webhook.Verifier {
	v := &webhook.Verifier{
		Secrets: func(id string) []string {
			if id != "sub" {
				return nil
			}
			return []string{"whsec_b3RoZXI=", secret}
		},
		Now: func() time.Time { return at.Add(time.Minute) },
	}
	for _, c := range change {
		c(v)
	}
	return v
}

func headers(pairs ...string) http.Header {
	h := http.Header{}
	h.Set("X-Webhook-Subscription-Id", "sub")
	for i := 0; i < len(pairs); i += 2 {
		h.Set(pairs[i], pairs[i+1])
	}
	return h
}

func TestVerify(t *testing.T) {
	both := headers("X-Webhook-Signature", plain, "webhook-id", "msg_1", "webhook-timestamp", "1777888800", "webhook-signature", "v1a,x v1,AAAA "+standard)
	old := headers("X-Webhook-Signature", plain)
	late := func(v *webhook.Verifier) { v.Now = func() time.Time { return at.Add(time.Hour) } }
	for name, c := range map[string]struct {
		h    http.Header
		body string
		v    *webhook.Verifier
		want error
	}{
		"both":                {both, body, verifier(), nil},
		"only the contract's": {old, body, verifier(), nil},
		"time is required":    {old, body, verifier(func(v *webhook.Verifier) { v.RequireTime = true }), webhook.ErrSignature},
		"body changed":        {both, strings.Replace(body, "1", "2", 1), verifier(), webhook.ErrSignature},
		"old, body changed":   {old, body + " ", verifier(), webhook.ErrSignature},
		"too old":             {both, body, verifier(late), webhook.ErrSignature},
		"any age":             {both, body, verifier(late, func(v *webhook.Verifier) { v.Window = -1 }), nil},
		"another id":          {headers("webhook-id", "msg_2", "webhook-timestamp", "1777888800", "webhook-signature", standard), body, verifier(), webhook.ErrSignature},
		"no number":           {headers("webhook-id", "msg_1", "webhook-timestamp", "x", "webhook-signature", standard), body, verifier(), webhook.ErrSignature},
		"nothing signed":      {headers(), body, verifier(), webhook.ErrSignature},
		"unknown":             {http.Header{}, body, verifier(), webhook.ErrUnknown},
		"right signature beside a wrong one of the other kind": {headers("X-Webhook-Signature", plain, "webhook-id", "msg_1", "webhook-timestamp", "1777888800", "webhook-signature", "v1,AAAA"), body, verifier(), webhook.ErrSignature},
	} {
		e, err := c.v.Check(c.h, []byte(c.body))
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && (e.Type != "content.delete" || string(e.Data) != `{"ouuid":"1"}` || e.Control()) {
			t.Errorf("%s: %+v", name, e)
		}
	}
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	r.Header = both
	if _, err := verifier(func(v *webhook.Verifier) { v.MaxBody = 10 }).Verify(r); !errors.Is(err, webhook.ErrBody) {
		t.Errorf("a body that is too large: %v", err)
	}
}

// A receiver that looks a subscription up in a map and does not ask whether it is
// there gives an empty secret.
func TestAnEmptySecretIsNone(t *testing.T) {
	for _, empty := range []string{"", "whsec_"} {
		v := verifier(func(v *webhook.Verifier) { v.Secrets = func(string) []string { return []string{empty} } })
		sign := func(text string) []byte {
			m := hmac.New(sha256.New, nil)
			m.Write([]byte(text))
			return m.Sum(nil)
		}
		stamped := sign("msg_1.1777888800." + body)
		for name, h := range map[string]http.Header{
			"the contract's": headers("X-Webhook-Signature", hex.EncodeToString(sign(body))),
			"standard":       headers("webhook-id", "msg_1", "webhook-timestamp", "1777888800", "webhook-signature", "v1,"+base64.StdEncoding.EncodeToString(stamped)),
		} {
			if _, err := v.Check(h, []byte(body)); !errors.Is(err, webhook.ErrSignature) {
				t.Errorf("%q, %s: %v", empty, name, err)
			}
		}
	}
}

func TestABodyMayBeAsLargeAsCanBe(t *testing.T) {
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	r.Header = headers("X-Webhook-Signature", plain)
	if _, err := verifier(func(v *webhook.Verifier) { v.MaxBody = math.MaxInt64 }).Verify(r); err != nil {
		t.Error(err)
	}
}

func FuzzCheck(f *testing.F) {
	f.Add("msg_1", "1777888800", standard, plain, []byte(body))
	f.Add("", "", "", "", []byte("{}"))
	f.Fuzz(func(t *testing.T, id, stamp, sig, old string, b []byte) {
		h := headers("webhook-id", id, "webhook-timestamp", stamp, "webhook-signature", sig, "X-Webhook-Signature", old)
		if _, err := verifier().Check(h, b); err == nil && !bytes.Equal(b, []byte(body)) {
			t.Errorf("accepted %q", b)
		}
	})
}
