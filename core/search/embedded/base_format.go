package embedded

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"unsafe"
)

// A base is a segment that never changes but for deletions, in the form in
// which it is read: arrays that start at multiples of eight bytes, in the byte
// order of the machine. It begins with a header of fixed size and ends with a
// directory of its sections (see core/decisions/0008-base-file.md).
const (
	baseMagic = "QuoinIdx"
	// baseVersion rises with every change of the format, and of what becomes of
	// a document: of analyzers, of the mapping, of how values are kept.
	baseVersion = 1
	headerSize  = 64
	// orderMark is another number on a machine with the other byte order.
	orderMark = 0x01020304
)

// section is a part of a base: where it starts, and its length in bytes.
type section [2]uint64

// directory tells what a base holds and where. It is kept as JSON.
type directory struct {
	Index  string            `json:"index"`
	Formed map[string]string `json:"formed"`         // see index.formed
	Full   bool              `json:"full,omitempty"` // fields were left out because there were too many
	Refs   section           `json:"refs"`           // int64 of each document
	Stamps section           `json:"stamps"`         // int64 of each document
	Ords   section           `json:"ords"`           // 0, 1, 2 … as many as the longest dictionary has
	Spaces []spaceEntry      `json:"spaces"`         // outer ones first
	Fields []fieldEntry      `json:"fields"`
}

type spaceEntry struct {
	Path   string  `json:"path"`
	Parent int     `json:"parent"` // place in Spaces; -1 for the documents
	N      uint32  `json:"n"`
	Up     section `json:"up"`
	First  section `json:"first"`
}

type fieldEntry struct {
	Space    int    `json:"space"` // place in Spaces
	Path     string `json:"path"`
	Family   uint8  `json:"family"`
	Analyzer string `json:"analyzer,omitempty"`
	Search   string `json:"search,omitempty"`
	Listed   bool   `json:"listed,omitempty"`
	Format   string `json:"format,omitempty"`

	Has section `json:"has"` // a roaring bitmap

	Terms  section     `json:"terms"`  // the bytes of all terms, in their order
	Ends   section     `json:"ends"`   // uint32: where each term ends in Terms, after a 0
	Logs   section     `json:"logs"`   // postings, see baseTerms
	Starts section     `json:"starts"` // uint64: where each posting starts in Logs, and the end
	Many   section     `json:"many"`   // uint32: ordinals of the terms of more than fewMax objects
	Ords   columnEntry `json:"ords"`

	Lengths columnEntry `json:"lengths"`
	Words   section     `json:"words"` // the log of a sequence
	Rows    section     `json:"rows"`  // its starts, uint64
	Tokens  int64       `json:"tokens"`
	Holds   int64       `json:"holds"`

	Nums columnEntry `json:"nums"`
}

type columnEntry struct {
	Rows int     `json:"rows"`
	Objs section `json:"objs"`
	Off  section `json:"off"`
	Vals section `json:"vals"`
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// baseWriter writes sections behind each other. Its first error stays.
type baseWriter struct {
	w   io.Writer
	at  uint64
	sum uint32
	err error
}

func (b *baseWriter) write(p []byte) {
	if b.err != nil || len(p) == 0 {
		return
	}
	b.sum = crc32.Update(b.sum, castagnoli, p)
	b.at += uint64(len(p))
	_, b.err = b.w.Write(p)
}

// put writes a section.
func put[T uint32 | uint64 | int64 | float64 | byte](b *baseWriter, list []T) section {
	var pad [8]byte
	b.write(pad[:(8-b.at%8)%8])
	at := b.at
	if len(list) > 0 {
		b.write(unsafe.Slice((*byte)(unsafe.Pointer(&list[0])), len(list)*int(unsafe.Sizeof(list[0]))))
	}
	return section{at, b.at - at}
}

// finish writes the directory and gives the header, whose place is at the
// start.
func (b *baseWriter) finish(d *directory) ([]byte, error) {
	text, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	at := put(b, text)
	h := make([]byte, headerSize)
	copy(h, baseMagic)
	binary.NativeEndian.PutUint32(h[8:], orderMark)
	binary.LittleEndian.PutUint32(h[12:], baseVersion)
	binary.LittleEndian.PutUint64(h[16:], b.at)
	binary.LittleEndian.PutUint64(h[24:], at[0])
	binary.LittleEndian.PutUint64(h[32:], at[1])
	binary.LittleEndian.PutUint32(h[40:], b.sum)
	binary.LittleEndian.PutUint32(h[60:], crc32.Checksum(h[:60], castagnoli))
	return h, b.err
}

// damagedError says why a base cannot be used.
type damagedError string

func (e damagedError) Error() string { return "the base of the index cannot be used: " + string(e) }

func damaged(format string, args ...any) error { return damagedError(fmt.Sprintf(format, args...)) }

// header is what the first bytes of a base say.
type header struct {
	size  uint64
	place section // of the directory
	sum   uint32  // of all behind the header
}

func readHeader(h []byte, size int64) (header, error) {
	var out header
	switch {
	case len(h) < headerSize || string(h[:8]) != baseMagic:
		return out, damaged("it does not begin as one")
	case binary.LittleEndian.Uint32(h[60:]) != crc32.Checksum(h[:60], castagnoli):
		return out, damaged("its header has been changed")
	case binary.NativeEndian.Uint32(h[8:]) != orderMark:
		return out, damaged("it was written on a machine with another byte order")
	case binary.LittleEndian.Uint32(h[12:]) != baseVersion:
		return out, damaged("its format is version %d, and this program reads %d", binary.LittleEndian.Uint32(h[12:]), baseVersion)
	}
	out.size = binary.LittleEndian.Uint64(h[16:])
	out.place = section{binary.LittleEndian.Uint64(h[24:]), binary.LittleEndian.Uint64(h[32:])}
	out.sum = binary.LittleEndian.Uint32(h[40:])
	if size < 0 || out.size != uint64(size) || out.size > math.MaxInt {
		return out, damaged("it has %d bytes instead of %d", size, out.size)
	}
	return out, nil
}

// baseBytes reads sections of a base in place.
type baseBytes struct {
	data []byte
	err  error
}

// get gives a section as an array of n elements, or as many as it has if n is
// negative.
func get[T uint32 | uint64 | int64 | float64 | byte](b *baseBytes, s section, n int) []T {
	var one T
	size := uint64(unsafe.Sizeof(one))
	total := uint64(len(b.data))
	switch {
	case b.err != nil:
		return nil
	case s[0] > total || s[1] > total-s[0] || s[0]%8 != 0 || s[1]%size != 0 || n >= 0 && s[1]/size != uint64(n):
		b.err = damaged("a section is not where it should be")
		return nil
	case s[1] == 0:
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&b.data[s[0]])), s[1]/size)
}
