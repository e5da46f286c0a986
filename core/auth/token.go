package auth

import (
	"crypto/rand"
	"crypto/sha256"
)

// TokenPrefix starts every token, so that secret scanners find one that leaks.
const TokenPrefix = "qn_"

// tokenRandom is how many random characters follow: 43 of 62 make 256 bits.
const tokenRandom = 43

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// NewToken makes a token: "qn_" and 43 random letters and digits. It is shown
// once and stored as its HashToken only.
func NewToken() string { return TokenPrefix + randomText(tokenRandom) }

// WellFormed reports whether the text can be a token at all, so that nonsense
// never reaches the database.
func WellFormed(token string) bool {
	if len(token) != len(TokenPrefix)+tokenRandom || token[:len(TokenPrefix)] != TokenPrefix {
		return false
	}
	for i := len(TokenPrefix); i < len(token); i++ {
		c := token[i]
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

// HashToken is what is stored of a token: its SHA-256. A token is random, so
// it needs neither salt nor a slow hash.
func HashToken(token string) [32]byte {
	var buf [len(TokenPrefix) + tokenRandom]byte
	if len(token) > len(buf) {
		return sha256.Sum256([]byte(token))
	}
	return sha256.Sum256(buf[:copy(buf[:], token)]) // no allocation
}

// randomText gives n letters and digits, each equally likely.
func randomText(n int) string {
	out := make([]byte, 0, n)
	var buf [64]byte
	for len(out) < n {
		_, _ = rand.Read(buf[:]) // never fails (crypto/rand)
		for _, b := range buf {
			if b < 248 && len(out) < n { // 248 is 4 × 62: the rest would favour some
				out = append(out, base62[b%62])
			}
		}
	}
	return string(out)
}
