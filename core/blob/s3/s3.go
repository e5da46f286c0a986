// Package s3 keeps blobs in a bucket of S3 or of a server that speaks its
// protocol, such as MinIO: <prefix><first three characters>/<key>, and the
// pieces of stages below <prefix>staging/.
package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/quoin-cms/quoin/core/blob"
)

// Config names a bucket.
type Config struct {
	Endpoint string // host:port
	TLS      bool
	Bucket   string
	Prefix   string // of every object; empty or ending in /
	Region   string
	Key      string
	Secret   string
}

// keyFolder is how many characters of a key are its folder.
const keyFolder = 3

// Parse reads s3://key:secret@host:port/bucket/prefix?tls=false&region=…. Key
// and secret may be left out of it.
func Parse(text string) (Config, error) {
	u, err := url.Parse(text)
	if err != nil {
		return Config{}, errors.New("the address is not a URL such as s3://key:secret@host:9000/bucket") // without the secret in it
	}
	bucket, prefix, _ := strings.Cut(strings.Trim(u.Path, "/"), "/")
	c := Config{Endpoint: u.Host, TLS: true, Bucket: bucket, Key: u.User.Username()}
	c.Secret, _ = u.User.Password()
	if prefix != "" {
		c.Prefix = path.Clean(prefix) + "/"
	}
	if u.Scheme != "s3" || c.Endpoint == "" || c.Bucket == "" {
		return Config{}, errors.New("the address must be like s3://key:secret@host:9000/bucket")
	}
	for name, values := range u.Query() {
		switch value := values[len(values)-1]; name {
		case "tls":
			if c.TLS, err = strconv.ParseBool(value); err != nil {
				return Config{}, fmt.Errorf("tls=%q is neither true nor false", value)
			}
		case "region":
			c.Region = value
		default:
			return Config{}, fmt.Errorf("the address has an unknown option %q; there are tls and region", name)
		}
	}
	return c, nil
}

// Store is a bucket. It implements blob.Store and blob.Stager.
type Store struct {
	c       Config
	core    minio.Core
	buffers sync.Pool // of one part, for what comes without a length
}

// Open prepares the use of a bucket; nothing is asked of the server yet.
func Open(c Config) (*Store, error) { return open(c, patient) }

func open(c Config, p patience) (*Store, error) {
	base, err := minio.DefaultTransport(c.TLS)
	if err != nil {
		return nil, err
	}
	client, err := minio.New(c.Endpoint, &minio.Options{
		Creds: credentials.NewStaticV4(c.Key, c.Secret, ""), Secure: c.TLS, Region: c.Region, Transport: p.transport(base), MaxRetries: 3,
	})
	if err != nil {
		return nil, fmt.Errorf("the bucket: %w", err)
	}
	s := &Store{c: c, core: minio.Core{Client: client}}
	s.buffers.New = func() any { b := make([]byte, minPart); return &b }
	return s, nil
}

// String implements blob.Store.
func (s *Store) String() string { return "the bucket " + s.c.Bucket + " at " + s.c.Endpoint }

// Check implements blob.Store. A bucket that is not there is made.
func (s *Store) Check(ctx context.Context) error {
	there, err := s.core.BucketExists(ctx, s.c.Bucket)
	if err != nil {
		return told(err)
	}
	if there {
		return nil
	}
	err = s.core.MakeBucket(ctx, s.c.Bucket, minio.MakeBucketOptions{Region: s.c.Region})
	if code := minio.ToErrorResponse(err).Code; code == "BucketAlreadyOwnedByYou" || code == "BucketAlreadyExists" {
		err = nil // another process was quicker
	}
	return told(err)
}

func (s *Store) object(key string) (string, error) {
	if err := blob.CheckKey(key); err != nil {
		return "", err
	}
	return s.c.Prefix + key[:keyFolder] + "/" + key, nil
}

// Put implements blob.Store.
func (s *Store) Put(ctx context.Context, key string, r io.Reader, size int64) error {
	if _, err := s.object(key); err != nil {
		return err
	}
	stage := "put-" + key[:min(len(key), 64)] + "-" + strconv.FormatInt(time.Now().UnixNano(), 36)
	n, err := s.Append(ctx, stage, 0, r, size, false)
	if err == nil {
		err = s.Publish(ctx, stage, key, n)
	}
	if err != nil {
		return errors.Join(err, s.Discard(context.WithoutCancel(ctx), stage))
	}
	return nil
}

// Get implements blob.Store.
func (s *Store) Get(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	name, err := s.object(key)
	if err != nil {
		return nil, err
	}
	return s.read(ctx, name, offset, length)
}

func (s *Store) read(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	opt := minio.GetObjectOptions{}
	switch {
	case length == 0:
		return http.NoBody, nil
	case length > 0:
		opt.Set("Range", fmt.Sprintf("bytes=%d-%d", offset, offset+length-1))
	case offset > 0:
		opt.Set("Range", fmt.Sprintf("bytes=%d-", offset))
	}
	r, _, _, err := s.core.GetObject(ctx, s.c.Bucket, name, opt)
	if minio.ToErrorResponse(err).Code == "InvalidRange" { // behind the end
		return http.NoBody, nil
	}
	if err != nil {
		return nil, told(err)
	}
	return reader{r}, nil
}

// reader gives the errors of a connection their names.
type reader struct{ io.ReadCloser }

// Read implements io.Reader.
func (r reader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if err == nil || errors.Is(err, io.EOF) {
		return n, err
	}
	if gone := told(err); errors.Is(gone, blob.ErrNotFound) { // removed while it is read
		return n, gone
	}
	return n, fmt.Errorf("%w: %w", blob.ErrUnavailable, err)
}

// Stat implements blob.Store.
func (s *Store) Stat(ctx context.Context, key string) (blob.Info, error) {
	name, err := s.object(key)
	if err != nil {
		return blob.Info{}, err
	}
	o, err := s.core.StatObject(ctx, s.c.Bucket, name, minio.StatObjectOptions{})
	if err != nil {
		return blob.Info{}, told(err)
	}
	return blob.Info{Key: key, Size: o.Size, Modified: o.LastModified}, nil
}

// Delete implements blob.Store.
func (s *Store) Delete(ctx context.Context, key string) error {
	name, err := s.object(key)
	if err != nil {
		return err
	}
	return s.remove(ctx, name)
}

func (s *Store) remove(ctx context.Context, name string) error {
	err := told(s.core.RemoveObject(ctx, s.c.Bucket, name, minio.RemoveObjectOptions{}))
	if errors.Is(err, blob.ErrNotFound) {
		return nil
	}
	return err
}

// List implements blob.Store.
func (s *Store) List(ctx context.Context, fn func(blob.Info) error) error {
	return s.list(ctx, s.c.Prefix, func(o minio.ObjectInfo) error {
		folder, key, _ := strings.Cut(strings.TrimPrefix(o.Key, s.c.Prefix), "/")
		if len(folder) == keyFolder && blob.CheckKey(key) == nil {
			return fn(blob.Info{Key: key, Size: o.Size, Modified: o.LastModified})
		}
		return nil
	})
}

func (s *Store) list(ctx context.Context, prefix string, fn func(minio.ObjectInfo) error) error {
	ctx, cancel := context.WithCancel(ctx) // ends the listing when fn gives up
	defer cancel()
	for o := range s.core.Client.ListObjects(ctx, s.c.Bucket, minio.ListObjectsOptions{Prefix: prefix, Recursive: true}) {
		if o.Err != nil {
			return told(o.Err)
		}
		if err := fn(o); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// told gives the errors of the server their names in package blob, once.
func told(err error) error {
	if err == nil || errors.Is(err, blob.ErrNotFound) || errors.Is(err, blob.ErrFull) || errors.Is(err, blob.ErrUnavailable) {
		return err
	}
	var answer minio.ErrorResponse // nothing when the server was not reached
	errors.As(err, &answer)
	switch {
	case answer.Code == "NoSuchKey" || answer.Code == "NoSuchUpload":
		return fmt.Errorf("%w: %w", blob.ErrNotFound, err)
	case answer.Code == "XMinioStorageFull" || answer.Code == "QuotaExceeded" || answer.Code == "XMinioAdminBucketQuotaExceeded" || answer.StatusCode == http.StatusInsufficientStorage:
		return fmt.Errorf("%w: %w", blob.ErrFull, err)
	case errors.Is(err, context.Canceled):
		return err
	case answer.StatusCode == 0 || answer.StatusCode >= 500 || answer.StatusCode == http.StatusTooManyRequests || answer.Code == "NoSuchBucket" || answer.StatusCode == http.StatusForbidden:
		return fmt.Errorf("%w: %w", blob.ErrUnavailable, err)
	}
	return err
}
