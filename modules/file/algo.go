package file

import (
	"crypto/sha1" //nolint:gosec // the name of a file, compatible with the clients there are
	"crypto/sha256"
	"encoding"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"strings"

	"lukechampine.com/blake3"
)

// algorithm is a way to name files.
type algorithm struct {
	name string
	size int // of the hash, in bytes
	new  func() hash.Hash
}

func algorithms() []algorithm {
	return []algorithm{
		{"sha1", sha1.Size, sha1.New},
		{"sha256", sha256.Size, sha256.New},
		{"blake3", 32, func() hash.Hash { return blake3.New(32, nil) }},
	}
}

// algorithmOf finds an algorithm by its name.
func algorithmOf(name string) (algorithm, bool) {
	for _, a := range algorithms() {
		if a.name == name {
			return a, true
		}
	}
	return algorithm{}, false
}

// valid reports whether the text is a hash of the algorithm, in lower case.
func (a algorithm) valid(text string) bool {
	return len(text) == 2*a.size && isHash(text)
}

// isHash reports whether the text can be the hash of a file, whatever the
// algorithm was when it was uploaded.
func isHash(text string) bool {
	if len(text) != 2*sha1.Size && len(text) != 2*sha256.Size {
		return false
	}
	for i := range len(text) {
		if c := text[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// digest is a hash on its way. known is false when the bytes before it were
// not put in: then it has to be worked out from the stored bytes.
type digest struct {
	hash.Hash
	known bool
	n     int64 // bytes put in since it was made
}

// Write implements io.Writer.
func (d *digest) Write(p []byte) (int, error) {
	d.n += int64(len(p))
	if !d.known {
		return len(p), nil
	}
	return d.Hash.Write(p)
}

// begin gives the digest of nothing.
func (a algorithm) begin() *digest { return &digest{Hash: a.new(), known: true} }

// resume gives the digest after the bytes that a state stands for. It is not
// known when there is no state, or one of another epoch: then the bytes that
// were put in may not be those that are stored (blob.Stager).
func (a algorithm) resume(state, epoch string) *digest {
	d := &digest{Hash: a.new()}
	when, text, ok := strings.Cut(state, " ")
	if !ok || when != epoch {
		return d
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if u, ok := d.Hash.(encoding.BinaryUnmarshaler); ok && err == nil && u.UnmarshalBinary(raw) == nil {
		d.known = true
	}
	return d
}

// state is what resume goes on from; empty when the algorithm cannot (BLAKE3),
// or the digest is not known.
func (d *digest) state(epoch string) string {
	m, ok := d.Hash.(encoding.BinaryMarshaler)
	if !ok || !d.known {
		return ""
	}
	raw, err := m.MarshalBinary()
	if err != nil { // the hashes of the standard library have none
		return ""
	}
	return epoch + " " + base64.StdEncoding.EncodeToString(raw)
}

func (d *digest) text() string { return hex.EncodeToString(d.Sum(nil)) }
