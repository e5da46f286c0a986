package disk

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// openNameless makes a file in a folder that is gone when it is closed, unless
// it was linked (open(2), O_TMPFILE).
func openNameless(folder string) (*os.File, error) {
	return os.OpenFile(folder, os.O_WRONLY|unix.O_TMPFILE, fileMode)
}

// link gives a file a name. One that exists is an error.
func link(f *os.File, name string) error {
	from := fmt.Sprintf("/proc/self/fd/%d", f.Fd())
	if err := unix.Linkat(unix.AT_FDCWD, from, unix.AT_FDCWD, name, unix.AT_SYMLINK_FOLLOW); err != nil {
		return &os.LinkError{Op: "link", Old: from, New: name, Err: err}
	}
	return nil
}
