package backup

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/quoin-cms/quoin/core/blob"
)

// limits of what is read from an archive at once, in bytes.
const (
	maxManifest = 16 << 20
	maxRow      = 1 << 30
)

// Archive is an open backup.
type Archive struct {
	Manifest Manifest
	zip      *zip.ReadCloser
	files    map[string]*zip.File
}

// OpenArchive reads the manifest of a backup. Close it.
func OpenArchive(path string) (*Archive, error) {
	z, err := zip.OpenReader(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no file %s", path)
	}
	if err != nil {
		return nil, fmt.Errorf("%s is not a complete backup: %w", path, err)
	}
	a := &Archive{zip: z, files: map[string]*zip.File{}}
	for _, f := range z.File {
		if a.files[f.Name] != nil {
			return nil, errors.Join(fmt.Errorf("%s holds %.100q twice", path, f.Name), z.Close())
		}
		a.files[f.Name] = f
	}
	if err := a.readManifest(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), z.Close())
	}
	return a, nil
}

// Close closes the file.
func (a *Archive) Close() error { return a.zip.Close() }

func (a *Archive) readManifest() error {
	r, err := a.open(manifestName)
	if err != nil {
		return errors.New("it has no manifest: it is not a backup of quoin, or not complete")
	}
	text, err := io.ReadAll(io.LimitReader(r, maxManifest))
	if err = errors.Join(err, r.Close()); err != nil {
		return fmt.Errorf("the manifest: %w", err)
	}
	if err := json.Unmarshal(text, &a.Manifest); err != nil {
		return fmt.Errorf("the manifest: %w", err)
	}
	if a.Manifest.Format != Format {
		return fmt.Errorf("it has the format %.100q; this version reads %s", a.Manifest.Format, Format)
	}
	return nil
}

func (a *Archive) open(name string) (io.ReadCloser, error) {
	f := a.files[name]
	if f == nil {
		return nil, fmt.Errorf("%.200q is missing", name)
	}
	return f.Open()
}

// Verify reads the whole backup and compares every checksum. The error names
// everything that is wrong.
func (a *Archive) Verify(ctx context.Context) error {
	var faults []error
	for _, t := range a.Manifest.Tables {
		rows := int64(0)
		err := a.lines(ctx, tableFolder+t.Name+".ndjson", t.SHA256, func([]byte) error { rows++; return nil })
		if err == nil && rows != t.Rows {
			err = fmt.Errorf("%d rows instead of %d", rows, t.Rows)
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("table %.100q: %w", t.Name, err))
		}
	}
	n := int64(0)
	err := a.eachBlob(ctx, func(e entry) error {
		n++
		if err := a.verifyBlob(ctx, e); err != nil {
			faults = append(faults, fmt.Errorf("file %s: %w", e.Key, err))
		}
		return ctx.Err()
	})
	if err == nil && n != a.Manifest.Blobs.Count {
		err = fmt.Errorf("%d files instead of %d", n, a.Manifest.Blobs.Count)
	}
	if err != nil {
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}

func (a *Archive) verifyBlob(ctx context.Context, e entry) error {
	r, err := a.open(blobFolder + e.Key)
	if err != nil {
		return err
	}
	sum := sha256.New()
	n, err := io.Copy(sum, untilDone{ctx, r})
	if err = errors.Join(err, r.Close()); err != nil {
		return err
	}
	if n != e.Size || hex.EncodeToString(sum.Sum(nil)) != e.SHA256 {
		return errors.New("its bytes do not have its checksum")
	}
	return nil
}

func (a *Archive) eachBlob(ctx context.Context, fn func(entry) error) error {
	return a.lines(ctx, blobListName, a.Manifest.Blobs.SHA256, func(line []byte) error {
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			return fmt.Errorf("the list of files: %w", err)
		}
		if err := blob.CheckKey(e.Key); err != nil {
			return err
		}
		return fn(e)
	})
}

// lines calls fn for each line of a file, which it must not keep, and compares
// the checksum at the end.
func (a *Archive) lines(ctx context.Context, name, sha string, fn func(line []byte) error) error {
	file, err := a.open(name)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // it was only read
	sum := sha256.New()
	r := bufio.NewScanner(io.TeeReader(untilDone{ctx, file}, sum))
	r.Buffer(make([]byte, 64<<10), maxRow)
	for r.Scan() {
		if err := fn(bytes.TrimSuffix(r.Bytes(), []byte{'\n'})); err != nil {
			return err
		}
	}
	if err := r.Err(); err != nil {
		return err
	}
	if hex.EncodeToString(sum.Sum(nil)) != sha {
		return errors.New("its bytes do not have its checksum")
	}
	return nil
}

// untilDone ends reading when the context ends.
type untilDone struct {
	ctx context.Context //nolint:containedctx // io.Reader has no other place for it
	r   io.Reader
}

func (u untilDone) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}
