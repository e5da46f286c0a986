package embedded

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Names of files in the folder of bases.
const (
	baseSuffix = ".base"
	tempSuffix = ".tmp"
)

// fileOf gives where the base of an index is kept; empty if in memory only.
func (p *policy) fileOf(name string) string {
	if p.dir == "" {
		return ""
	}
	escaped := strings.ReplaceAll(url.PathEscape(name), ".", "%2E")
	if len(escaped) > 200 { // file systems take 255 bytes
		return ""
	}
	return filepath.Join(p.dir, escaped+baseSuffix)
}

// directory begins the directory of a base. The caller holds writer.
func (x *index) directory() *directory {
	d := &directory{Index: x.name, Full: x.reg.Full, Formed: map[string]string{}}
	for t, f := range x.formed {
		d.Formed[t] = f
	}
	return d
}

// write makes a base of the segments and opens it. Nothing is locked.
func (x *index) write(path string, d *directory, origins []*origin) (*segment, error) {
	data, err := x.store(path, d, origins)
	if err != nil {
		return nil, err
	}
	if d, err = readDirectory(data.bytes, true); err != nil {
		return nil, errors.Join(err, data.release())
	}
	return x.open(data, d)
}

// mapped are the bytes of a base and how they are given back.
type mapped struct {
	bytes []byte
	unmap func() error
}

func (m mapped) release() error {
	if m.unmap == nil {
		return nil
	}
	return m.unmap()
}

// open makes a segment of a base. Its memory is given back when nobody holds
// the segment any more.
func (x *index) open(data mapped, d *directory) (*segment, error) {
	x.writer.Lock()
	defer x.writer.Unlock()
	s, err := openBase(data.bytes, d, x.reg, x.set.Load())
	if err != nil {
		return nil, errors.Join(err, data.release())
	}
	if data.unmap != nil {
		s.mapped = true
		runtime.AddCleanup(s, func(unmap func() error) { _ = unmap() }, data.unmap)
	}
	return s, nil
}

// store writes a base to the file of the index, or to memory. A file takes its
// name only when all of it is on the disk.
func (x *index) store(path string, d *directory, origins []*origin) (out mapped, err error) {
	if path == "" {
		var buf bytes.Buffer
		h, err := writeBase(&baseWriter{w: &buf}, d, origins)
		if err != nil {
			return out, err
		}
		out.bytes = bytes.Clone(buf.Bytes()) // without the room that it kept
		copy(out.bytes, h)
		return out, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return out, err
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*"+tempSuffix)
	if err != nil {
		return out, err
	}
	if err = writeFile(f, d, origins); err == nil {
		out, err = mapFile(f)
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = x.rename(f.Name(), path)
	}
	if err != nil {
		return mapped{}, errors.Join(err, out.release(), os.Remove(f.Name()))
	}
	return out, nil
}

func writeFile(f *os.File, d *directory, origins []*origin) error {
	buf := bufio.NewWriterSize(f, 1<<18)
	h, err := writeBase(&baseWriter{w: buf}, d, origins)
	if err != nil {
		return err
	}
	if err := buf.Flush(); err != nil {
		return err
	}
	if _, err := f.WriteAt(h, 0); err != nil {
		return err
	}
	return f.Sync()
}

// rename gives a finished file its name, unless the index is gone.
func (x *index) rename(from, to string) error {
	x.writer.Lock()
	defer x.writer.Unlock()
	if x.closed || x.path != to {
		return errors.New("the index is gone")
	}
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(to))
}

// readFile maps the file of an index and checks all of its bytes, which are
// read without taking the memory of this process.
func readFile(path string) (mapped, *directory, error) {
	f, err := os.Open(path)
	if err != nil {
		return mapped{}, nil, err
	}
	defer func() { _ = f.Close() }()
	if err := checkFile(f); err != nil {
		return mapped{}, nil, err
	}
	data, err := mapFile(f)
	if err != nil {
		return mapped{}, nil, err
	}
	d, err := readDirectory(data.bytes, true)
	if err != nil {
		return mapped{}, nil, errors.Join(err, data.release())
	}
	return data, d, nil
}

// usable tells whether what a base holds was indexed as the settings say.
func usable(d *directory, name string, f *forms) error {
	if d.Index != name {
		return damaged("it is of the index %q", d.Index)
	}
	for t, form := range d.Formed {
		if form == "" || form != f.of(t) {
			return damaged("documents of the content type %q are indexed in another way now", t)
		}
	}
	return nil
}

// restore fills an empty index from its file.
func (x *index) restore() error {
	data, d, err := readFile(x.path)
	if err != nil {
		return err
	}
	if err := usable(d, x.name, x.forms); err != nil {
		return errors.Join(err, data.release())
	}
	s, err := x.open(data, d)
	if err != nil {
		return err
	}
	x.formed, x.kept = d.Formed, x.path
	x.reg.Full = x.reg.Full || d.Full
	x.full.Store(x.reg.Full)
	x.segs = []*segment{s, newSegment()}
	x.tail().align(s)
	return nil
}

// checkFile compares the bytes of a file with their sum.
func checkFile(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	h := make([]byte, headerSize)
	if _, err := io.ReadFull(f, h); err != nil {
		return damaged("it is too short")
	}
	head, err := readHeader(h, info.Size())
	if err != nil {
		return err
	}
	sum, err := sumOf(f)
	if err != nil {
		return err
	}
	if sum != head.sum {
		return damaged("its contents have been changed")
	}
	return nil
}

// sumOf reads all behind the header.
func sumOf(r io.Reader) (sum uint32, err error) {
	buf := make([]byte, 1<<18)
	for {
		n, err := r.Read(buf)
		sum = crc32.Update(sum, castagnoli, buf[:n])
		if errors.Is(err, io.EOF) {
			return sum, nil
		}
		if err != nil {
			return 0, err
		}
	}
}

// removeFile deletes the file of an index.
func (p *policy) removeFile(path string) {
	if path == "" {
		return
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.log.Warn("the file of an old search index stays", "error", err)
	}
}

// sweep deletes the files that are not wanted.
func (p *policy) sweep(wanted func(path string) bool) error {
	if p.dir == "" {
		return nil
	}
	list, err := os.ReadDir(p.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("the folder of the search index: %w", err)
	}
	for _, e := range list {
		path := filepath.Join(p.dir, e.Name())
		if ours := strings.HasSuffix(path, baseSuffix) || strings.HasSuffix(path, tempSuffix); ours && !wanted(path) {
			p.removeFile(path)
		}
	}
	return nil
}
