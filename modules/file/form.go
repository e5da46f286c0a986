package file

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"mime/quotedprintable"
	"net/textproto"
	"strings"
)

// maxBoundary bounds the boundary of a form; RFC 2046, 5.1.1 says 70.
const maxBoundary = 256

var (
	errCutOff    = errors.New("a part of the form has no end")
	errPartHead  = errors.New("the header of a part breaks off or is too large")
	errNoForm    = fmt.Errorf("no part of a form begins: %w", io.EOF)
	errDelimiter = errors.New("something stands where the next part of the form should begin")
)

// formReader reads multipart/form-data (RFC 7578, RFC 2046) as the reader of
// mime/multipart does, which looks at 4 KB at a time: here it is a whole
// buffer, and what is bounded there by 10 MB is bounded by maxPart.
type formReader struct {
	r       *bufio.Reader
	nl      []byte // the end of a line: that of the first delimiter
	dash    []byte // --boundary
	started bool
	inside  *content // of the part that is being read; nil between parts
}

// newFormReader reads a form from a buffer that is larger than maxBoundary by
// far.
func newFormReader(r *bufio.Reader, boundary string) *formReader {
	return &formReader{r: r, nl: []byte("\r\n"), dash: []byte("--" + boundary)}
}

// formPart is a part of a form. Read it before the next one.
type formPart struct {
	head multipart.Part // for its header and names; its content is not there
	body io.Reader
}

// next goes to the next part; io.EOF after the last.
func (f *formReader) next() (*formPart, error) {
	if f.inside != nil {
		if _, err := io.Copy(io.Discard, f.inside); err != nil {
			return nil, err
		}
		f.inside = nil
	}
	if err := f.delimiter(); err != nil {
		return nil, err
	}
	header, err := f.header()
	if err != nil {
		return nil, err
	}
	c := &content{r: f.r, end: append(bytes.Clone(f.nl), f.dash...), left: -1}
	if c.begin(f.dash) {
		f.inside = c
	}
	p := &formPart{head: multipart.Part{Header: header}, body: c}
	const encoding = "Content-Transfer-Encoding"
	if strings.EqualFold(header.Get(encoding), "quoted-printable") {
		header.Del(encoding)
		p.body = quotedprintable.NewReader(c)
	}
	return p, nil
}

// delimiter reads the line before a part, and what stands before the first.
func (f *formReader) delimiter() error {
	blank := false
	for skipped := 0; skipped <= maxPart; {
		line, err := f.r.ReadSlice('\n')
		if errors.Is(err, io.EOF) && !f.started && !bytes.HasPrefix(line, f.dash) {
			return errNoForm
		}
		if err != nil { // io.EOF as well where the last delimiter is not there
			return err
		}
		rest, ours := bytes.CutPrefix(line, f.dash)
		if final, closes := bytes.CutPrefix(rest, []byte("--")); ours && closes && f.ends(final) {
			return io.EOF
		}
		if ours && !f.started && string(bytes.TrimLeft(rest, " \t")) == "\n" {
			f.nl = []byte("\n") // against the RFC, but seen
		}
		switch {
		case ours && f.ends(rest):
			f.started = true
			return nil
		case !f.started:
			skipped += len(line)
		case blank || !bytes.Equal(line, f.nl):
			return errDelimiter
		default: // the line end before the delimiter belongs to it
			blank = true
		}
	}
	return errDelimiter
}

// ends reports whether nothing but space follows on a line.
func (f *formReader) ends(rest []byte) bool {
	return bytes.Equal(bytes.TrimLeft(rest, " \t"), f.nl)
}

// header reads the header of a part, which ends with an empty line.
func (f *formReader) header() (textproto.MIMEHeader, error) {
	var text []byte
	for {
		line, err := f.r.ReadSlice('\n')
		if err != nil || len(text)+len(line) > maxPart {
			if err == nil || errors.Is(err, io.EOF) || errors.Is(err, bufio.ErrBufferFull) {
				err = errPartHead
			}
			return nil, err
		}
		text = append(text, line...)
		if n := len(line); n == 1 || n == 2 && line[0] == '\r' {
			break
		}
	}
	return textproto.NewReader(bufio.NewReader(bytes.NewReader(text))).ReadMIMEHeader()
}

// content is what stands between the header of a part and the next delimiter.
type content struct {
	r    *bufio.Reader
	end  []byte // the line end and the delimiter
	left int    // bytes up to the delimiter; negative as long as it is not seen
	have int    // bytes at the front of the buffer that are known to be content
}

// begin reports whether there is any content: the delimiter may follow the
// header at once, without a line end of its own.
func (c *content) begin(dash []byte) bool {
	front, err := c.r.Peek(len(dash) + 2)
	if bytes.HasPrefix(front, dash) && delimits(front[len(dash):], err != nil) {
		c.left = 0
		return false
	}
	return true
}

// Read implements io.Reader.
func (c *content) Read(p []byte) (int, error) {
	piece, err := c.slice()
	if err != nil {
		return 0, err
	}
	n := copy(p, piece)
	return n, c.pass(n)
}

// slice gives content that stands in the buffer, which spares a copy; it holds
// until the next call. io.EOF tells the end.
func (c *content) slice() ([]byte, error) {
	if c.have == 0 && c.left != 0 {
		if err := c.scan(); err != nil {
			return nil, err
		}
	}
	if c.have == 0 {
		return nil, io.EOF
	}
	return c.r.Peek(c.have)
}

// pass goes on behind a slice.
func (c *content) pass(n int) error {
	_, err := c.r.Discard(n)
	c.have -= n
	if c.left > 0 {
		c.left -= n
	}
	return err
}

// scan fills the buffer and looks for the delimiter in it.
func (c *content) scan() error {
	buffer, err := c.r.Peek(c.r.Size())
	for from := 0; ; {
		i := bytes.Index(buffer[from:], c.end)
		if i < 0 {
			break
		}
		at := from + i
		after := buffer[at+len(c.end):]
		if len(after) < 2 && err == nil { // more has to be seen
			c.have = at
			return nil
		}
		if delimits(after, err != nil) {
			c.have, c.left = at, at
			return nil
		}
		from = at + len(c.end)
	}
	if err != nil { // the end of the body, or of the connection
		return cutOff(err)
	}
	c.have = len(buffer) - len(c.end) // the rest may be the beginning of a delimiter
	return nil
}

func cutOff(err error) error {
	if errors.Is(err, io.EOF) {
		return errCutOff
	}
	return err
}

// delimits reports whether what follows --boundary makes it a delimiter, and
// not the beginning of a longer word. last tells that nothing comes after it.
func delimits(after []byte, last bool) bool {
	if len(after) == 0 {
		return last
	}
	switch after[0] {
	case ' ', '\t', '\r', '\n':
		return true
	case '-':
		return len(after) > 1 && after[1] == '-'
	}
	return false
}
