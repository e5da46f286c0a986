// Package blob is the port to where files are kept: the local disk
// (blob/disk) or a bucket of S3, such as MinIO (blob/s3). Every adapter passes
// the suite in blob/blobtest.
//
// A blob is bytes under a key. It never changes: a key is derived from the
// bytes, so writing it again means the same bytes. What an adapter can do
// besides is an interface of its own, which callers probe for: Stager for
// uploads that arrive in pieces, Drafter for those in one piece, Filer for
// bytes that the kernel can send.
// Addresses for uploads past this server, or scaled images, would be two more.
package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// Errors of every adapter; errors.Is finds them.
var (
	ErrNotFound = errors.New("blob: there is no such blob")
	// ErrFull tells that there is no room. Nothing of the blob is kept.
	ErrFull = errors.New("blob: there is no room left")
	// ErrUnavailable tells that the place cannot be reached now; what was
	// written before is still there.
	ErrUnavailable = errors.New("blob: the storage cannot be reached")
)

// Info describes a blob.
type Info struct {
	Key      string
	Size     int64     // bytes
	Modified time.Time // when it was written
}

// Store keeps blobs. It is safe for concurrent use.
type Store interface {
	// Put stores what r gives until its end. size is its length in bytes, or
	// negative when that is not known; any other length is an error. The blob
	// is there, durably, once Put returns nil, and not at all before.
	Put(ctx context.Context, key string, r io.Reader, size int64) error
	// Get reads length bytes from offset on, all that follow when length is
	// negative. A range past the end gives what there is.
	Get(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error)
	// Stat describes a blob.
	Stat(ctx context.Context, key string) (Info, error)
	// Delete removes a blob; one that is not there is no error.
	Delete(ctx context.Context, key string) error
	// List calls fn for every blob, in no order, until it gives an error.
	List(ctx context.Context, fn func(Info) error) error
	// Check reports whether the place can be used at all.
	Check(ctx context.Context) error
	// String names the place for people, without secrets.
	String() string
}

// Filer is a Store whose blobs are files of this machine.
type Filer interface {
	// File opens a blob. The caller closes it.
	File(ctx context.Context, key string) (*os.File, error)
}

// Stager is a Store that takes a blob in pieces. A stage has a name of the
// caller's choice, in the form of a key, and is not seen as a blob until it is
// published. What was appended survives a crash of this program.
type Stager interface {
	// Epoch names the time since which bytes that were appended cannot be lost:
	// it changes when the machine starts again without having written them to
	// its disk. Empty means that they never are. Published blobs are never lost.
	Epoch() string
	// Append adds what r gives to the stage, which is made when there is none,
	// at the offset at: what an earlier call left behind there is overwritten.
	// size is the length of r, or negative. n bytes are stored, also when there
	// is an error. Without keep, and when there is no room, nothing of a call
	// that fails is kept: n is 0.
	Append(ctx context.Context, stage string, at int64, r io.Reader, size int64, keep bool) (n int64, err error)
	// ReadStage reads length bytes from offset on.
	ReadStage(ctx context.Context, stage string, offset, length int64) (io.ReadCloser, error)
	// Fork makes a stage of the first size bytes of another one.
	Fork(ctx context.Context, from, to string, size int64) error
	// Publish makes the first size bytes of a stage the blob of a key, durably
	// once it returns nil, and removes the stage. A blob that is there already is
	// replaced at once. When the machine crashes in the middle, the key may hold
	// other bytes: callers tell nobody of a blob before Publish has returned.
	Publish(ctx context.Context, stage, key string, size int64) error
	// Discard removes a stage; one that is not there is no error.
	Discard(ctx context.Context, stage string) error
	// Stages calls fn for every stage with the time of the last change.
	Stages(ctx context.Context, fn func(Info) error) error
}

// Drafter is a Store that takes a blob before its key is known.
type Drafter interface {
	// Draft takes what r gives until its end; n is how many bytes that are. An
	// io.WriterTo is asked to write by itself. After an error nothing is kept.
	Draft(ctx context.Context, r io.Reader) (d Draft, n int64, err error)
}

// Draft is a blob without a key. Either Publish or Discard ends it; Discard is
// no error after either.
type Draft interface {
	// Publish makes it the blob of a key, as Stager.Publish does.
	Publish(ctx context.Context, key string) error
	Discard(ctx context.Context) error
}

// Limits of keys and names of stages.
const (
	minKey = 4
	maxKey = 128
)

// CheckKey refuses what is no key: 4 to 128 lower-case letters, digits and -,
// beginning with a letter or digit. A key can never lead out of a folder.
func CheckKey(key string) error {
	ok := len(key) >= minKey && len(key) <= maxKey && key[0] != '-'
	for i := 0; ok && i < len(key); i++ {
		c := key[i]
		ok = c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-'
	}
	if !ok {
		return fmt.Errorf("blob: %.200q is not a key", key)
	}
	return nil
}

// ErrSize makes the error of a reader that gave another length than it said.
func ErrSize(got, want int64) error {
	return fmt.Errorf("blob: %d bytes came where %d were said: %w", got, want, io.ErrUnexpectedEOF)
}
