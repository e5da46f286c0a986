package disk

import (
	"os"
	"syscall"
)

// freeSpace is what an ordinary user may still write below path, in bytes.
func freeSpace(path string) (int64, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(path, &st); err != nil {
		return 0, err
	}
	return int64(st.Bavail) * st.Bsize, nil
}

// startWriting tells the kernel to begin to write a part of a file to the disk,
// so that less is left to do when it is synced.
func startWriting(f *os.File, offset, n int64) {
	const begin = 2                                          // SYNC_FILE_RANGE_WRITE, sync_file_range(2)
	_ = syscall.SyncFileRange(int(f.Fd()), offset, n, begin) // a hint
}
