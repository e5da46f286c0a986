package cli

import (
	"context"
	"crypto/sha1" //nolint:gosec // the names of files on elasticms
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"os"
	"path/filepath"

	"lukechampine.com/blake3"
)

// assetChunk is how much of a file is sent at once, in bytes.
const assetChunk = 5 << 20

// assets lists the files of an export that documents may name by their hash.
func assets(dir string) (*importGroup, error) {
	g := &importGroup{Kind: "files", Name: "assets"}
	err := filepath.WalkDir(filepath.Join(dir, "admin", "assets"), func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && d.Type().IsRegular() {
			g.files = append(g.files, path)
		}
		return err
	})
	return g, err
}

// assets sends the files that the server does not have yet.
func (i *importer) assets(ctx context.Context, g *importGroup) {
	algo, err := i.hashAlgo(ctx)
	for _, file := range g.files {
		if ctx.Err() != nil {
			return
		}
		o := unchanged
		if err == nil {
			var ferr error
			o, ferr = i.asset(ctx, file, algo)
			i.count(ctx, g, file, o, ferr)
			continue
		}
		i.count(ctx, g, file, o, err)
	}
}

// hashAlgo asks for the algorithm that names files.
func (i *importer) hashAlgo(ctx context.Context) (func() hash.Hash, error) {
	status, answer, err := i.api.do(ctx, http.MethodGet, "/api/file/hash-algo", nil)
	if status == http.StatusNotFound {
		return nil, errors.New("the server takes no files: switch its module file on (modules.file.enabled)")
	}
	if err != nil {
		return nil, err
	}
	var a struct {
		Name string `json:"hash_algo"`
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		return nil, err
	}
	switch a.Name {
	case "sha1":
		return sha1.New, nil
	case "sha256":
		return sha256.New, nil
	case "blake3":
		return func() hash.Hash { return blake3.New(32, nil) }, nil
	}
	return nil, fmt.Errorf("the server names files by %s, which this program does not know", a.Name)
}

// asset sends one file. It goes on where an upload that was interrupted is.
func (i *importer) asset(ctx context.Context, path string, algo func() hash.Hash) (outcome, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }() // only read
	sum := algo()
	size, err := io.Copy(sum, f)
	if err != nil {
		return 0, err
	}
	a := asset{
		Hash: hex.EncodeToString(sum.Sum(nil)), Size: size, Name: filepath.Base(path), Type: mime.TypeByExtension(filepath.Ext(path)),
	}
	if status, _, err := i.api.do(ctx, http.MethodHead, "/api/file/"+a.Hash, nil); status == http.StatusOK {
		return unchanged, nil
	} else if status != http.StatusNotFound {
		return 0, err
	}
	for try := 1; ; try++ {
		err := i.sendAsset(ctx, f, a)
		if err == nil || try == tries || ctx.Err() != nil {
			return created, err
		}
	}
}

type asset struct {
	Hash string `json:"hash"`
	Size int64  `json:"size"`
	Name string `json:"name"`
	Type string `json:"type,omitempty"`
}

// sendAsset asks where to begin and sends the rest. After an error the caller
// asks again, for a chunk may have arrived although its answer did not.
func (i *importer) sendAsset(ctx context.Context, f io.ReaderAt, a asset) error {
	body, err := json.Marshal(a)
	if err != nil {
		return err
	}
	_, answer, err := i.api.do(ctx, http.MethodPost, "/api/file/init-upload", body)
	buffer := make([]byte, min(a.Size, assetChunk))
	for {
		if err != nil {
			return err
		}
		var st struct {
			Success, Available bool
			Uploaded           int64
		}
		if err := json.Unmarshal(answer, &st); err != nil {
			return err
		}
		if !st.Success {
			return errors.New(reason(answer))
		}
		if st.Available {
			return nil
		}
		n, rerr := f.ReadAt(buffer, st.Uploaded)
		if rerr != nil && !errors.Is(rerr, io.EOF) {
			return rerr
		}
		if n == 0 {
			return errors.New("the file has become shorter while it was sent")
		}
		_, answer, err = i.api.once(ctx, http.MethodPost, "/api/file/chunk/"+a.Hash, buffer[:n])
	}
}
