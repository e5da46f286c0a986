//go:build unix

package embedded

import (
	"os"
	"syscall"
)

// mapFile maps a whole file for reading. The mapping stays when the file is
// closed, deleted or replaced.
func mapFile(f *os.File) (mapped, error) {
	info, err := f.Stat()
	if err != nil {
		return mapped{}, err
	}
	if int64(int(info.Size())) != info.Size() || info.Size() == 0 {
		return mapped{}, damaged("it has %d bytes", info.Size())
	}
	data, err := syscall.Mmap(int(f.Fd()), 0, int(info.Size()), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return mapped{}, os.NewSyscallError("mmap", err)
	}
	return mapped{bytes: data, unmap: func() error { return syscall.Munmap(data) }}, nil
}

// syncFolder makes sure that the names in a folder are on the disk.
func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }()
	return d.Sync()
}
