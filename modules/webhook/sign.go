package webhook

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"
)

// secretPrefix marks a secret of the Standard Webhooks specification: base64 of
// the key follows. One secret serves both signatures: that of the specification
// is made with the key, that of the contract with the secret as it is written.
const secretPrefix = "whsec_"

func newSecret() string {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	return secretPrefix + base64.StdEncoding.EncodeToString(key)
}

// signature is the contract's: lower-case hexadecimal HMAC-SHA256 of the body,
// keyed with the secret (spec.md 6.1).
func signature(secret string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}

// standardSignature is that of Standard Webhooks 1.0 over id, time and body.
// Each valid secret gives one, parted by a space, so that a receiver may change
// to a new secret at leisure.
func standardSignature(id string, unix int64, body []byte, secrets ...string) string {
	var all []string
	for _, secret := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, secretPrefix))
		if err != nil { // a secret of another form is its own key
			key = []byte(secret)
		}
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(id + "." + strconv.FormatInt(unix, 10) + "."))
		mac.Write(body)
		all = append(all, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	return strings.Join(all, " ")
}
