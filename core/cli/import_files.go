package cli

import (
	"context"
	"errors"
	"hash"
	"io/fs"
	"mime"
	"net/http"
	"os"
	"path/filepath"

	"lukechampine.com/blake3"

	"github.com/quoin-cms/quoin/sdk/client"
)

func newBlake3() hash.Hash { return blake3.New(32, nil) }

// assetsFolder is the folder of admin that holds files, and no configuration.
const assetsFolder = "assets"

// assets lists the files of an export that documents may name by their hash.
func assets(dir string) (*importGroup, error) {
	g := &importGroup{Kind: "files", Name: "assets"}
	err := filepath.WalkDir(filepath.Join(dir, "admin", assetsFolder), func(path string, d fs.DirEntry, err error) error {
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
	for _, file := range g.files {
		if ctx.Err() != nil {
			return
		}
		o, err := i.asset(ctx, file)
		i.count(ctx, g, file, o, err)
	}
}

// asset sends one file. It goes on where an upload that was interrupted is.
func (i *importer) asset(ctx context.Context, path string) (outcome, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }() // only read
	sum, _, err := i.api.Files.Hash(ctx, f)
	if client.Status(err) == http.StatusNotFound {
		return 0, errors.New("the server takes no files: switch its module file on (modules.file.enabled)")
	}
	if err != nil {
		return 0, err
	}
	if there, err := i.api.Files.Exists(ctx, sum); there || err != nil {
		return unchanged, err
	}
	_, err = i.api.Files.Upload(ctx, f, client.Upload{Hash: sum, Name: filepath.Base(path), Type: mime.TypeByExtension(filepath.Ext(path))})
	return created, err
}
