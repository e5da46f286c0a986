package app

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/quoin-cms/quoin/core/blob"
	"github.com/quoin-cms/quoin/core/module"
)

const (
	// shallow is how deep folders are looked at: down to the folders of files.
	shallow = 2
	// readAndWrite is R_OK and W_OK of access(2).
	readAndWrite = 4 | 2
)

// giveBack says what helps against a path that the server cannot write to.
func giveBack(folder string) string {
	return "give all of it to the user that runs the server, and run quoin as that user: chown -R USER " + folder
}

// permissions looks for what the server could not write to in a folder of the
// installation. Root may write everywhere, and looks for another thing: what
// belongs to root in a folder that does not came from a command that root ran.
func (d *doctor) permissions(check, folder string) {
	var top fs.FileInfo
	count, example := 0, ""
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // it goes while the server runs
			return nil
		}
		if entry == nil {
			return err
		}
		if entry.Name() == "lost+found" { // of the file system
			return fs.SkipDir
		}
		info, gone := entry.Info()
		if gone != nil {
			return nil //nolint:nilerr // likewise
		}
		if top == nil {
			top = info
		}
		if closed(path, info) || os.Geteuid() == 0 && owner(info) == 0 && owner(top) != 0 {
			count, example = count+1, path
		}
		if entry.IsDir() && (err != nil || depth(folder, path) >= shallow) {
			return fs.SkipDir
		}
		return nil
	})
	if d.failed(check, err) || count == 0 {
		return
	}
	if os.Geteuid() == 0 {
		d.say(check, module.Warn, fmt.Sprintf("%d files and folders in %s belong to root, and it does not, such as %s", count, folder, example), giveBack(folder))
		return
	}
	d.say(check, module.Fail, fmt.Sprintf("%d files and folders in %s cannot be written to, such as %s", count, folder, example), giveBack(folder))
}

// closed tells whether this process may not write to a path. What nobody is
// meant to write to is left out.
func closed(path string, info fs.FileInfo) bool {
	if !info.IsDir() && (!info.Mode().IsRegular() || info.Mode().Perm()&0o200 == 0) {
		return false
	}
	err := syscall.Access(path, readAndWrite)
	return err != nil && !errors.Is(err, fs.ErrNotExist)
}

// owner is the number of the user that a path belongs to.
func owner(info fs.FileInfo) uint32 {
	if system, ok := info.Sys().(*syscall.Stat_t); ok {
		return system.Uid
	}
	return 0
}

// depth is how many folders below the root a path is.
func depth(root, path string) int {
	rel, err := filepath.Rel(root, path)
	if err != nil || rel == "." {
		return 0
	}
	return strings.Count(rel, string(filepath.Separator)) + 1
}

// writable puts a few bytes where uploads begin, and takes them away.
func (d *doctor) writable(ctx context.Context, check string, store blob.Store) bool {
	stager, ok := store.(blob.Stager)
	if !ok {
		return true
	}
	var random [32]byte // as long as the name of a file
	_, _ = rand.Read(random[:])
	name := hex.EncodeToString(random[:])
	_, err := stager.Append(ctx, name, 0, strings.NewReader("doctor"), 6, false)
	err = errors.Join(err, stager.Discard(ctx, name))
	switch {
	case err == nil:
		return true
	case errors.Is(err, blob.ErrFull):
		d.say(check, module.Fail, fmt.Sprintf("%s has no room: %v", store, err), "make room, or move files to a bucket (blob.url)")
	default:
		d.say(check, module.Fail, fmt.Sprintf("%s cannot be written to: %v", store, err),
			"give the folder to the user that runs the server, or let the key of the bucket write and delete")
	}
	return false
}
