package file_test

import (
	"bytes"
	"errors"
	"io"
	"mime/multipart"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/quoin-cms/quoin/modules/file"
)

// read is what a reader of forms makes of a body.
type read struct {
	Header   map[string][]string
	Field    string
	File     string
	Content  string
	complete bool
}

func readPart(head *multipart.Part, body io.Reader) (read, error) {
	text, err := io.ReadAll(body)
	return read{map[string][]string(head.Header), head.FormName(), head.FileName(), string(text), err == nil}, err
}

// standard reads a form with mime/multipart.
func standard(body []byte, boundary string) (list []read, err error) {
	r := multipart.NewReader(bytes.NewReader(body), boundary)
	for {
		part, err := r.NextPart()
		if err != nil {
			return list, err
		}
		p, err := readPart(part, part)
		if err != nil {
			return list, err
		}
		list = append(list, p)
	}
}

// sameForm checks that a form is read as mime/multipart reads it, whatever the
// pieces are in which it comes.
func sameForm(t *testing.T, body []byte, boundary string) {
	t.Helper()
	want, wantErr := standard(body, boundary)
	for name, r := range map[string]io.Reader{
		"whole": bytes.NewReader(body), "byte by byte": iotest.OneByteReader(bytes.NewReader(body)), "end with data": iotest.DataErrReader(bytes.NewReader(body)),
	} {
		var got []read
		err := file.Parts(r, boundary, 1024, func(head *multipart.Part, body io.Reader) error {
			p, err := readPart(head, body)
			if err == nil {
				got = append(got, p)
			}
			return err
		})
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: %q gives\n%+v (%v), want\n%+v (%v)", name, body, got, err, want, wantErr)
		}
		// A header that breaks off is a plain io.EOF there.
		if end := errors.Is(err, io.EOF); end != errors.Is(wantErr, io.EOF) && !errors.Is(err, file.ErrPartHead) {
			t.Fatalf("%s: %q gives %v, want %v", name, body, err, wantErr)
		}
	}
}

const head = "Content-Disposition: form-data; name=\"upload\"; filename=\"a.b\"\r\n"

// forms are bodies with the boundary b that something is the matter with.
func forms() map[string]string {
	return map[string]string{
		"plain":                  "--b\r\n" + head + "\r\nhello\r\n--b--\r\n",
		"two":                    "--b\r\n" + head + "\r\nhello\r\n--b\r\n" + head + "\r\nworld\r\n--b--",
		"no content":             "--b\r\n" + head + "\r\n\r\n--b--",
		"no line for content":    "--b\r\n" + head + "\r\n--b\r\n" + head + "\r\nx\r\n--b--",
		"no header":              "--b\r\n\r\nhello\r\n--b--",
		"lines without CR":       "--b\n" + strings.ReplaceAll(head, "\r", "") + "\nhello\r\n--b\n--b--\n",
		"a preamble":             "one\r\ntwo\r\n--bc\r\n--b\r\n" + head + "\r\nhello\r\n--b--\r\nafter",
		"nearly a delimiter":     "--b\r\n" + head + "\r\n\r\n--bc\r\n--\r\n--b-\r\n-b\r\n--b--",
		"one after the other":    "--b\r\n" + head + "\r\n\r\n--bx\r\n--by\r\n--b--",
		"space after it":         "--b \t\r\n" + head + "\r\nhello\r\n--b \r\n" + head + "\r\nx\r\n--b-- \t\r\n",
		"something after it":     "--b\r\n" + head + "\r\nhello\r\n--b x\r\n",
		"cut in the content":     "--b\r\n" + head + "\r\nhel",
		"cut in the delimiter":   "--b\r\n" + head + "\r\nhello\r\n--",
		"cut after the name":     "--b\r\n" + head + "\r\nhello\r\n--b",
		"cut after a dash":       "--b\r\n" + head + "\r\nhello\r\n--b-",
		"cut before the header":  "--b\r\n" + head + "\r\nhello\r\n--b\r\n",
		"cut in the header":      "--b\r\nContent-Disposition: form-da",
		"a header of two lines":  "--b\r\nContent-Disposition: form-data;\r\n name=\"upload\"\r\n\r\nx\r\n--b--",
		"a header without colon": "--b\r\nnonsense\r\n\r\nx\r\n--b--",
		"quoted-printable":       "--b\r\n" + head + "Content-Transfer-Encoding: Quoted-Printable\r\n\r\na=3Db=\r\nc\r\n--b--",
		"broken encoding":        "--b\r\n" + head + "Content-Transfer-Encoding: quoted-printable\r\n\r\na=ZZ\r\n--b--",
		"a path for a name":      "--b\r\nContent-Disposition: form-data; name=upload; filename=\"../../etc/passwd\"\r\n\r\nx\r\n--b--",
		"two names":              "--b\r\nContent-Disposition: form-data; name=a; name=upload\r\n\r\nx\r\n--b--",
		"larger than the buffer": "--b\r\n" + head + "\r\n" + strings.Repeat("\r\n--a\r\n--", 1000) + "\r\n--b--",
		"nothing":                "",
		"no form":                "hello",
	}
}

func TestFormsAreReadAsTheStandardSays(t *testing.T) {
	t.Parallel()
	for name, body := range forms() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sameForm(t, []byte(body), "b")
		})
	}
}

// TestDelimiterAnywhere moves the delimiter over the end of the buffer.
func TestDelimiterAnywhere(t *testing.T) {
	t.Parallel()
	for n := 800; n < 1100; n++ {
		sameForm(t, []byte("--b0undary\r\n"+head+"\r\n"+strings.Repeat("\r", n)+"\r\n--b0undary--\r\n"), "b0undary")
		sameForm(t, []byte("--b0undary\r\n"+head+"\r\n"+strings.Repeat("x", n)+"\r\n--b0undary-\r\n--b0undaryx\r\n--b0undary\r\n\r\ny\r\n--b0undary--\r\n"), "b0undary")
	}
}

// TestFormsWithoutEnd checks what bounds a form that goes on for ever.
func TestFormsWithoutEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ begin, again string }{
		"preamble":        {"", "x\r\n"},
		"a preamble line": {"", "x"},
		"header":          {"--b\r\n", "X-Y: z\r\n"},
		"header line":     {"--b\r\nX-Y: ", "z"},
		"header folded":   {"--b\r\nX-Y: z\r\n", " z\r\n"},
		"after a part":    {"--b\r\n\r\nx\r\n--b", " "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := io.MultiReader(strings.NewReader(c.begin), &forever{text: c.again})
			err := file.Parts(r, "b", 1024, func(_ *multipart.Part, body io.Reader) error {
				_, err := io.Copy(io.Discard, body)
				return err
			})
			if err == nil || errors.Is(err, io.EOF) {
				t.Errorf("%v", err)
			}
		})
	}
}

// forever repeats a text.
type forever struct {
	text string
	at   int
}

// Read implements io.Reader.
func (f *forever) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = f.text[f.at]
		f.at = (f.at + 1) % len(f.text)
	}
	return len(p), nil
}

func FuzzForm(f *testing.F) {
	for _, body := range forms() {
		f.Add([]byte(body), "b")
	}
	f.Add([]byte("----\r\n\r\nx\r\n------"), "--")
	f.Fuzz(func(t *testing.T, body []byte, boundary string) {
		if boundary == "" || len(boundary) > 70 || strings.ContainsAny(boundary, "\r\n") || len(body) > 900 {
			t.Skip("another size, or no boundary that a header can hold")
		}
		sameForm(t, body, boundary)
	})
}
