package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/quoin-cms/quoin/sdk/plugin"
)

const (
	maxFile   = 64 << 20  // bytes of a PDF; a larger one has no text
	maxMemory = 512 << 20 // bytes of the process that reads it
	within    = 20 * time.Second

	// reader is the argument with which the program reads a PDF from standard
	// input and writes its text to standard output.
	reader = "read-pdf"
)

// unreadable is a file that has no text, whoever tries again.
type unreadable struct{ why string }

func (u *unreadable) Error() string { return u.why }

// extract gives the text of the file with a hash.
func (t *pdftext) extract(c *plugin.Call, hash string) (string, error) {
	select {
	case t.readers <- struct{}{}:
	case <-c.Done():
		return "", c.Err()
	}
	defer func() { <-t.readers }()
	file, err := os.CreateTemp("", "pdftext-")
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close(); _ = os.Remove(file.Name()) }()
	if _, err := c.ReadFile(hash, &bounded{file, maxFile}); err != nil {
		return "", err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	return readApart(c, file, within)
}

// bounded writes up to left bytes.
type bounded struct {
	to   io.Writer
	left int64
}

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	if b.left -= int64(len(p)); b.left < 0 {
		return 0, &unreadable{fmt.Sprintf("the file has more than %d MiB", maxFile>>20)}
	}
	return b.to.Write(p)
}

// readApart reads a PDF in another process, which is ended after within.
func readApart(ctx context.Context, file *os.File, within time.Duration) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	limited, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	cmd := exec.CommandContext(limited, self, reader)
	cmd.Env = []string{"TMPDIR=" + os.TempDir()}
	var out, said bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = file, &out, &bounded{&said, 64 << 10}
	cmd.WaitDelay = time.Second
	err = cmd.Run()
	switch why, _, _ := strings.Cut(said.String(), "\n"); {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case limited.Err() != nil:
		return "", &unreadable{fmt.Sprintf("the PDF was not read within %s", within)}
	case errors.As(err, new(*exec.ExitError)):
		return "", &unreadable{"the PDF cannot be read: " + why}
	case err != nil:
		return "", err
	}
	return out.String(), nil
}

// readPDF is the other process: it writes the text, which is short, or why there
// is none.
func readPDF(in *os.File, out, why io.Writer) (status int) {
	// The garbage collector tries hard before the limit, and the kernel holds it.
	debug.SetMemoryLimit(maxMemory / 2)
	limit := syscall.Rlimit{Cur: maxMemory, Max: maxMemory}
	_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &limit) // a lower one holds already
	info, err := in.Stat()
	var text string
	if err == nil {
		text, err = textOf(in, info.Size())
	}
	if err == nil {
		_, err = io.WriteString(out, text)
	}
	if err != nil {
		_, _ = fmt.Fprintln(why, err) // nobody is left to tell
		return 1
	}
	return 0
}
