package auth

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Params are the costs of one argon2id hash.
type Params struct {
	Memory  uint32 // KiB
	Time    uint32 // passes
	Threads uint8
}

// DefaultParams are the least that OWASP's password storage cheat sheet
// recommends for argon2id: 19 MiB, two passes, one thread.
func DefaultParams() Params { return Params{Memory: 19 << 10, Time: 2, Threads: 1} }

// The largest costs a stored hash may ask for, so that a row of the database
// cannot make the server fall over.
const (
	maxMemory  = 256 << 10 // KiB
	maxTime    = 16
	maxThreads = 16
	minKeyLen  = 16
	maxKeyLen  = 64
)

var errHash = errors.New("auth: the stored password hash is not an argon2id hash in the PHC format")

// phc is a hash in the PHC string format:
// $argon2id$v=19$m=19456,t=2,p=1$<salt>$<key>, base64 without padding.
type phc struct {
	Params
	salt, key []byte
}

// String gives the PHC string.
func (h phc) String() string {
	b64 := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=19$m=%d,t=%d,p=%d$%s$%s",
		h.Memory, h.Time, h.Threads, b64.EncodeToString(h.salt), b64.EncodeToString(h.key))
}

// parsePHC reads a PHC string; what it accepts can be computed safely.
func parsePHC(s string) (phc, error) {
	parts := strings.Split(s, "$")
	if len(s) > 512 || len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || parts[2] != "v=19" {
		return phc{}, errHash
	}
	costs := strings.Split(parts[3], ",")
	if len(costs) != 3 {
		return phc{}, errHash
	}
	m, errM := cost(costs[0], "m=", maxMemory)
	t, errT := cost(costs[1], "t=", maxTime)
	p, errP := cost(costs[2], "p=", maxThreads)
	b64 := base64.RawStdEncoding.Strict()
	salt, errSalt := b64.DecodeString(parts[4])
	key, errKey := b64.DecodeString(parts[5])
	if errors.Join(errM, errT, errP, errSalt, errKey) != nil || m < 8*p ||
		len(salt) < 8 || len(salt) > maxKeyLen || len(key) < minKeyLen || len(key) > maxKeyLen {
		return phc{}, errHash
	}
	h := phc{Params{m, t, uint8(p)}, salt, key}
	if h.String() != s { // the decoder ignores line breaks
		return phc{}, errHash
	}
	return h, nil
}

// cost reads "m=19456": a number from 1 to limit, without sign or leading zero.
func cost(s, prefix string, limit uint32) (uint32, error) {
	digits, ok := strings.CutPrefix(s, prefix)
	n, err := strconv.ParseUint(digits, 10, 32)
	if !ok || err != nil || n == 0 || n > uint64(limit) || strconv.FormatUint(n, 10) != digits {
		return 0, errHash
	}
	return uint32(n), nil
}
