// Package place opens the store that an address names.
package place

import (
	"errors"
	"net/url"
	"strings"

	"github.com/quoin-cms/quoin/core/blob"
	"github.com/quoin-cms/quoin/core/blob/disk"
	"github.com/quoin-cms/quoin/core/blob/s3"
)

// Check tells what is wrong with an address, without its secrets.
func Check(address string) error {
	_, _, err := parse(address)
	return err
}

// Open opens s3://key:secret@host:port/bucket (package s3), file:///folder, or
// a plain path. minFree is for folders (package disk), in bytes.
func Open(address string, minFree int64) (blob.Store, error) {
	folder, bucket, err := parse(address)
	if err != nil {
		return nil, err
	}
	if bucket != nil {
		return s3.Open(*bucket)
	}
	return disk.Open(folder, minFree)
}

// Folder is the folder that an address names; empty for a bucket.
func Folder(address string) string {
	folder, _, err := parse(address)
	if err != nil {
		return ""
	}
	return folder
}

// parse gives a folder, or a bucket.
func parse(address string) (folder string, bucket *s3.Config, err error) {
	scheme, _, isURL := strings.Cut(address, "://")
	switch {
	case scheme == "s3" && isURL:
		c, err := s3.Parse(address)
		return "", &c, err
	case scheme == "file" && isURL:
		u, err := url.Parse(address)
		if err != nil || u.Host != "" || u.Path == "" {
			return "", nil, errors.New("the address of a folder is like file:///srv/files, with three slashes")
		}
		return u.Path, nil, nil
	case isURL || address == "":
		return "", nil, errors.New("the address must begin with s3:// or file://")
	}
	return address, nil, nil
}
