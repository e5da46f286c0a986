package client

import (
	"context"
	"crypto/sha1" //nolint:gosec // the names of files
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"os"
	"strconv"
	"time"
)

func knownHashes() map[string]func() hash.Hash {
	return map[string]func() hash.Hash{"sha1": sha1.New, "sha256": sha256.New}
}

// Hash reads r to its end and gives the name that its bytes have on the server,
// and how many they are. The server is asked once for the algorithm; see
// WithHash.
func (f *Files) Hash(ctx context.Context, r io.Reader) (name string, size int64, err error) {
	algo := ""
	if known := f.c.algo.Load(); known != nil {
		algo = *known
	} else if algo, err = f.HashAlgo(ctx); err != nil {
		return "", 0, err
	}
	make, ok := f.c.settings.hashes[algo]
	if !ok {
		return "", 0, fmt.Errorf("the server names files by %s, which this program does not know", algo)
	}
	sum := make()
	size, err = io.Copy(sum, r)
	return hex.EncodeToString(sum.Sum(nil)), size, err
}

// chunkSize is how much of a file is sent at once, in bytes.
const chunkSize = 4 << 20

// Upload is what to say about a file that is sent.
type Upload struct {
	Name string // file name; empty: upload.bin
	Type string // media type; empty: application/bin
	Hash string // the file's name on the server, when Files.Hash was asked already

	// Progress, when it is not nil, is told how many bytes the server has.
	Progress func(sent, size int64)
}

// Sent is a file that is on the server.
type Sent struct {
	Hash    string
	Size    int64 // bytes
	Existed bool  // it was there before
	URL     string
}

// Upload sends a file in chunks. When the connection breaks, or the server
// starts anew, it goes on where the server is, and so does a later Upload of the
// same bytes. What cannot seek is kept in a temporary file meanwhile, for the
// name of a file is known at its end only. POST /api/file/init-upload and
// /api/file/chunk/{hash} (spec 3.2, 4.7).
func (f *Files) Upload(ctx context.Context, r io.Reader, about Upload) (sent *Sent, err error) {
	source, ok := r.(io.ReadSeeker)
	if !ok {
		spool, err := os.CreateTemp("", "quoin-upload-")
		if err != nil {
			return nil, err
		}
		defer func() { _, _ = spool.Close(), os.Remove(spool.Name()) }()
		if _, err := io.Copy(spool, r); err != nil {
			return nil, err
		}
		source = spool
	}
	u := &upload{f: f, source: source, about: about}
	if u.size, err = source.Seek(0, io.SeekEnd); err != nil {
		return nil, err
	}
	if u.about.Hash == "" {
		if _, err := source.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
		if u.about.Hash, u.size, err = f.Hash(ctx, source); err != nil {
			return nil, err
		}
	}
	return u.run(ctx)
}

// upload is a file on its way.
type upload struct {
	f      *Files
	source io.ReadSeeker
	about  Upload
	size   int64
	at     int64 // bytes that the server has
}

// uploadState is how far the server is (spec 2.5).
type uploadState struct {
	Available bool   `json:"available"`
	Uploaded  int64  `json:"uploaded"`
	URL       string `json:"url"`
}

func (u *upload) run(ctx context.Context) (*Sent, error) {
	sent := &Sent{Hash: u.about.Hash, Size: u.size}
	st, err := u.begin(ctx)
	if err == nil && st.Available {
		sent.Existed, sent.URL = true, st.URL
		return sent, nil
	}
	buffer := make([]byte, min(u.size, chunkSize))
	for failed := 0; ; {
		if err == nil {
			if st.Uploaded > u.at {
				failed = 0
			}
			if u.at = st.Uploaded; u.about.Progress != nil {
				u.about.Progress(u.at, u.size)
			}
			if st.Available {
				sent.URL = st.URL
				return sent, nil
			}
			if st.Uploaded < 0 || st.Uploaded > u.size {
				return nil, fmt.Errorf("the server says that it has %d of the %d bytes", st.Uploaded, u.size)
			}
			if st, err = u.send(ctx, buffer); err == nil && (st.Available || st.Uploaded != u.at) {
				continue
			}
			if err == nil {
				err = errNoProgress
			}
		}
		if failed++; failed > u.f.c.settings.retries || !u.again(err) || !pause(ctx, err, failed) {
			return nil, err
		}
		st, err = u.begin(ctx) // a chunk may have arrived although its answer did not
	}
}

// errNoProgress is a chunk that was taken and is not there.
var errNoProgress = errors.New("the server takes the bytes of the file and has no more of them than before")

// begin announces the file, or asks where to go on.
func (u *upload) begin(ctx context.Context) (st uploadState, err error) {
	body := map[string]any{"hash": u.about.Hash, "size": u.size}
	if u.about.Name != "" {
		body["name"] = u.about.Name
	}
	if u.about.Type != "" {
		body["type"] = u.about.Type
	}
	k := post("/api/file/init-upload").idempotent().json(body).judged()
	k.wait = time.Minute // the bytes of a file that is all there are checked
	_, err = u.f.c.do(ctx, k, &st)
	return st, err
}

// send sends the next chunk.
func (u *upload) send(ctx context.Context, buffer []byte) (st uploadState, err error) {
	if _, err := u.source.Seek(u.at, io.SeekStart); err != nil {
		return st, &broken{err}
	}
	n, err := io.ReadFull(u.source, buffer[:min(int64(len(buffer)), u.size-u.at)])
	if err != nil {
		return st, &broken{fmt.Errorf("the file has changed while it was sent: %w", err)}
	}
	k := post("/api/file/chunk/{}", u.about.Hash).judged()
	k.body, k.wait = buffer[:n], forever
	k.header.Set("Content-Type", "application/octet-stream")
	k.header.Set("Upload-Offset", strconv.FormatInt(u.at, 10))
	_, err = u.f.c.do(ctx, k, &st)
	return st, err
}

// again tells whether to ask the server where it is and go on. Words of the
// server on offsets and lost uploads are reasons to.
func (u *upload) again(err error) bool {
	var e *Error
	if errors.As(err, &e) && (e.Code == "offset_mismatch" || e.Code == "no_upload") {
		return true
	}
	return u.f.c.passing(err)
}

// UploadForm sends a file in one piece, as browsers do. Nothing is kept of it on
// this side, and nothing goes on where it broke off. POST /api/file/upload (spec
// 4.7).
func (f *Files) UploadForm(ctx context.Context, r io.Reader, about Upload) (*FileObject, error) {
	body, out := io.Pipe()
	defer func() { _ = body.Close() }()
	form := multipart.NewWriter(out)
	go func() {
		head := textproto.MIMEHeader{"Content-Disposition": {multipart.FileContentDisposition("upload", about.Name)}}
		if about.Type != "" {
			head.Set("Content-Type", about.Type)
		}
		part, err := form.CreatePart(head)
		if err == nil {
			_, err = io.Copy(part, r)
		}
		if err == nil {
			err = form.Close()
		}
		_ = out.CloseWithError(err)
	}()
	k := post("/api/file/upload").set("type", about.Type).judged()
	k.stream, k.wait = body, forever
	k.header = http.Header{"Content-Type": {form.FormDataContentType()}}
	var stored FileObject
	if _, err := f.c.do(ctx, k, &stored); err != nil {
		return nil, err
	}
	return &stored, nil
}
