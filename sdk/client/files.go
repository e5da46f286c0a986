package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Files is about files, which are named by the hash of their bytes (spec 4.7).
type Files struct{ c *Client }

// HashAlgo is the hash that names files: sha1, sha256 or blake3. GET
// /api/file/hash-algo (spec 4.7).
func (f *Files) HashAlgo(ctx context.Context) (string, error) {
	var a struct {
		Algo string `json:"hash_algo"`
	}
	if _, err := f.c.do(ctx, get("/api/file/hash-algo"), &a); err != nil {
		return "", err
	}
	f.c.algo.Store(&a.Algo)
	return a.Algo, nil
}

// Exists tells whether a file is there. HEAD /api/file/{hash} (spec 4.7).
func (f *Files) Exists(ctx context.Context, hash string) (bool, error) {
	return f.c.head(ctx, newCall(http.MethodHead, "/api/file/{}", hash))
}

// Heads tells which of up to 100,000 files are there, in the order of hashes.
// POST /api/file/heads (spec 4.7).
func (f *Files) Heads(ctx context.Context, hashes []string) ([]bool, error) {
	if len(hashes) == 0 {
		return nil, nil
	}
	var answer []json.RawMessage
	if _, err := f.c.do(ctx, post("/api/file/heads").idempotent().json(hashes), &answer); err != nil {
		return nil, err
	}
	if len(answer) != len(hashes) {
		return nil, fmt.Errorf("the server was asked for %d files and told about %d", len(hashes), len(answer))
	}
	there := make([]bool, len(answer))
	for i, v := range answer {
		there[i] = string(v) == "true"
	}
	return there, nil
}

// FileObject is how a document names a file in one of its fields (spec 2.5).
type FileObject struct {
	Hash string `json:"_hash"`
	Size int64  `json:"_size"` // bytes
	Name string `json:"_name"`
	Type string `json:"_type"`
	Algo string `json:"_algo"`
}

// FileInfo is what is known about a file (spec 2.5).
type FileInfo struct {
	FileObject FileObject `json:"file-object"`
	FirstSeen  Seen       `json:"first-seen"`
	LastSeen   Seen       `json:"last-seen"`
	UploadedBy string     `json:"uploaded-by"`
	Hidden     bool       `json:"hidden"` // not served to websites
	Uploads    int64      `json:"uploads"`
	Heads      int64      `json:"head-counter"`
}

// Seen is a time that is written as PHP writes its objects; zero when it was not
// asked for.
type Seen struct{ time.Time }

// UnmarshalJSON implements json.Unmarshaler.
func (s *Seen) UnmarshalJSON(b []byte) error {
	var v struct{ Date, Timezone string }
	if err := json.Unmarshal(b, &v); err != nil || v.Date == "" {
		return err
	}
	zone, err := time.LoadLocation(v.Timezone)
	if err != nil {
		zone = time.UTC
	}
	s.Time, err = time.ParseInLocation("2006-01-02 15:04:05", v.Date, zone)
	return err
}

// Info tells what is known about a file. GET /api/file/info/{hash} (spec 4.7).
func (f *Files) Info(ctx context.Context, hash string) (*FileInfo, error) {
	return f.info(ctx, get("/api/file/info/{}", hash))
}

// InfoQuickly is Info without FirstSeen.
func (f *Files) InfoQuickly(ctx context.Context, hash string) (*FileInfo, error) {
	return f.info(ctx, get("/api/file/info/{}", hash).set("first-seen", "false"))
}

func (f *Files) info(ctx context.Context, k *call) (*FileInfo, error) {
	var i FileInfo
	if _, err := f.c.do(ctx, k, &i); err != nil {
		return nil, err
	}
	return &i, nil
}

// Part says what is wanted of a file. Its zero value is all of it.
type Part struct {
	From   int64 // offset in bytes
	Length int64 // bytes; 0: to the end

	Inline bool   // to be shown, if its type allows, instead of saved
	Public bool   // as websites get it, from /data/file
	Name   string // instead of that of the last upload
	Type   string // likewise
}

// Content is a file, or a part of it, that is being read. Close it.
type Content struct {
	io.ReadCloser

	Size int64 // of the whole file, in bytes
	From int64 // offset of what is read
	Type string
	Name string
	ETag string
}

// Open reads a file, or a part of it, as a stream. 404 when there is none, 416
// when the part is outside of it. GET /api/file/{hash}, /api/file/view/{hash},
// /data/file/{hash} or /data/file/view/{hash} (spec 4.7).
func (f *Files) Open(ctx context.Context, hash string, p Part) (*Content, error) {
	path := "/api/file/"
	if p.Public {
		path = "/data/file/"
	}
	if p.Inline {
		path += "view/"
	}
	k := get(path+"{}", hash).set("name", p.Name).set("type", p.Type)
	k.header.Set("Accept", "*/*")
	if p.From > 0 || p.Length > 0 {
		end := ""
		if p.Length > 0 {
			end = strconv.FormatInt(p.From+p.Length-1, 10)
		}
		k.header.Set("Range", fmt.Sprintf("bytes=%d-%s", p.From, end))
	}
	resp, err := f.c.open(ctx, k)
	if err != nil {
		return nil, err
	}
	c, err := content(resp)
	if err == nil && c.From != p.From {
		err = fmt.Errorf("byte %d of the file %s was asked for, and the server gives those from %d on", p.From, hash, c.From)
	}
	if err != nil {
		_ = resp.Body.Close()
		return nil, err
	}
	return c, nil
}

// content reads the headers of a file.
func content(r *http.Response) (*Content, error) {
	c := &Content{ReadCloser: r.Body, Size: r.ContentLength, Type: r.Header.Get("Content-Type"), ETag: r.Header.Get("ETag")}
	if _, params, err := mime.ParseMediaType(r.Header.Get("Content-Disposition")); err == nil {
		c.Name = params["filename"]
	}
	if r.StatusCode != http.StatusPartialContent {
		return c, nil
	}
	span, size, ok := strings.Cut(strings.TrimPrefix(r.Header.Get("Content-Range"), "bytes "), "/")
	from, _, dash := strings.Cut(span, "-")
	var errFrom, errSize error
	c.From, errFrom = strconv.ParseInt(from, 10, 64)
	c.Size, errSize = strconv.ParseInt(size, 10, 64)
	if !ok || !dash || errFrom != nil || errSize != nil {
		return nil, fmt.Errorf("the server gives a part of a file without saying which: %q", r.Header.Get("Content-Range"))
	}
	return c, nil
}
