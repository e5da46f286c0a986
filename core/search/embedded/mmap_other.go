//go:build !unix

package embedded

import (
	"io"
	"os"
)

// mapFile reads a whole file, where files that are mapped cannot be replaced.
func mapFile(f *os.File) (mapped, error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return mapped{}, err
	}
	data, err := io.ReadAll(f)
	return mapped{bytes: data}, err
}

// syncFolder does nothing where folders cannot be opened.
func syncFolder(string) error { return nil }
