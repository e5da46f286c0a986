package file

import (
	"bufio"
	"context"
	"errors"
	"io"
	"mime"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/blob"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/web"
)

// Stored describes a file that was uploaded in one piece.
type Stored struct {
	Acknowledged bool   `json:"acknowledged"`
	Success      bool   `json:"success"`
	Uploaded     int    `json:"uploaded" doc:"1: the file is stored"`
	FileName     string `json:"fileName"`
	URL          string `json:"url" doc:"where the file is shown"`
	Fields
}

// Fields are the metadata of a file as documents hold them, in both spellings
// (spec.md 2.5).
type Fields struct {
	Hash     string `json:"_hash"`
	Size     int64  `json:"_size" doc:"bytes"`
	Name     string `json:"_name"`
	Type     string `json:"_type"`
	Algo     string `json:"_algo"`
	SHA1     string `json:"sha1" deprecated:"true"`
	Filesize int64  `json:"filesize" deprecated:"true"`
	Filename string `json:"filename" deprecated:"true"`
	Mimetype string `json:"mimetype" deprecated:"true"`
}

func (o *object) fields() Fields {
	return Fields{o.Hash, o.Size, o.Name, o.Type, o.Algo, o.Hash, o.Size, o.Name, o.Type}
}

// Limits of a form besides its file.
const (
	maxParts = 32
	maxPart  = 64 << 10 // bytes
	// formBuffer is how much of a form is read, looked through and written at
	// once, in bytes.
	formBuffer = 256 << 10
)

// Upload stores the file in the field upload of a form. The form is read as it
// comes and never held in memory.
func (s *Service) Upload(ctx context.Context, contentType, typ string, body *web.Upload) (Stored, error) {
	kind, params, err := mime.ParseMediaType(contentType)
	boundary := params["boundary"]
	if err != nil || kind != "multipart/form-data" || boundary == "" || len(boundary) > maxBoundary {
		return Stored{}, problem.New(problem.Invalid, "the body must be multipart/form-data with the file in the field upload")
	}
	if body.Length > int64(s.cfg.MaxSize)+maxParts*maxPart {
		return Stored{}, s.tooLarge()
	}
	f := form{s: s, typ: typ}
	buffered := s.forms.Get().(*bufio.Reader)
	buffered.Reset(body)
	err = f.read(ctx, newFormReader(buffered, boundary))
	buffered.Reset(nil)
	s.forms.Put(buffered)
	if err == nil && f.d == nil {
		err = problem.Field(problem.Invalid, "upload", "is missing: the form has no file with this name")
	}
	if err == nil {
		err = f.publish(context.WithoutCancel(ctx))
	}
	if err != nil {
		if f.draft != nil {
			err = errors.Join(err, f.draft.Discard(context.WithoutCancel(ctx)))
		}
		return Stored{}, err
	}
	o := f.object
	return Stored{Acknowledged: true, Success: true, Uploaded: 1, FileName: o.Name, URL: link("/data/file/view/", o.Hash, o.Name, o.Type), Fields: o.fields()}, nil
}

func (s *Service) tooLarge() error {
	return problem.New(problem.TooLarge, "files may have %s at most", s.cfg.MaxSize)
}

// form is a form that is being read.
type form struct {
	s      *Service
	draft  blob.Draft // the bytes of the file
	typ    string     // of the file, by another field; empty takes that of the part
	d      *digest
	head   []byte
	object *object
}

func (f *form) read(ctx context.Context, r *formReader) error {
	for range maxParts {
		part, err := r.next()
		if errors.Is(err, errNoForm) || errors.Is(err, errDelimiter) && !r.started {
			return problem.New(problem.Invalid, "the multipart body cannot be read: no line of it is the boundary that Content-Type names")
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return brokenForm(err)
		}
		switch name := part.head.FormName(); {
		case name == "upload" && f.d == nil:
			err = f.file(ctx, part)
		case name == "type":
			err = f.field(part.body)
		default:
			err = skip(part.body)
		}
		if err != nil {
			return err
		}
	}
	return problem.New(problem.Invalid, "the form has more than %d parts", maxParts)
}

func brokenForm(err error) error {
	return problem.Wrap(err, problem.Invalid, "the form broke off or is not well formed")
}

func skip(part io.Reader) error {
	n, err := io.CopyN(io.Discard, part, maxPart+1)
	switch {
	case n > maxPart:
		return problem.New(problem.TooLarge, "a field of the form besides upload is larger than %d bytes", maxPart)
	case errors.Is(err, io.EOF):
		return nil
	}
	return brokenForm(err)
}

func (f *form) field(part io.Reader) error {
	text, err := io.ReadAll(io.LimitReader(part, maxType+1))
	if err != nil {
		return brokenForm(err)
	}
	f.typ = string(text)
	return skip(part)
}

// file stores the bytes of the file and works out their hash on the way.
func (f *form) file(ctx context.Context, part *formPart) error {
	f.d = f.s.algo.begin()
	r := &formFile{f: f, part: part.body, left: int64(f.s.cfg.MaxSize)}
	var source io.Reader = r
	if plain, ok := part.body.(*content); ok {
		source = formSlices{r, plain}
	}
	draft, n, err := f.s.drafter.Draft(ctx, source)
	f.draft = draft
	switch {
	case r.err != nil && r.left < 0:
		return f.s.tooLarge()
	case r.err != nil:
		return brokenForm(r.err)
	case err != nil:
		return told(err)
	case n == 0 && part.head.FileName() == "": // what browsers send when no file was chosen
		return problem.Field(problem.Invalid, "upload", "is missing: no file was chosen")
	}
	typ := part.head.Header.Get("Content-Type")
	f.object = &object{Hash: f.d.text(), Algo: f.s.algo.name, Size: n, Name: cleanName(part.head.FileName()), Type: typ, Sniffed: sniff(f.head), UploadedBy: auth.Username(ctx)}
	return nil
}

func (f *form) publish(ctx context.Context) error {
	if f.typ != "" {
		f.object.Type = f.typ
	}
	f.object.Type = cleanType(f.object.Type)
	return f.s.publish(ctx, f.draft, nil, f.object)
}

// formFile is the file of a form.
type formFile struct {
	f    *form
	part io.Reader
	left int64
	err  error
}

// Read implements io.Reader.
func (r *formFile) Read(p []byte) (int, error) {
	n, err := r.part.Read(p)
	if err := r.took(p[:n], err); err != nil {
		return 0, err
	}
	return n, err
}

// took looks at bytes of the file, or at why there are none.
func (r *formFile) took(p []byte, err error) error {
	if r.left -= int64(len(p)); r.left < 0 {
		err = blob.ErrFull
	}
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
		return err
	}
	if want := sniffLength - len(r.f.head); want > 0 {
		r.f.head = append(r.f.head, p[:min(len(p), want)]...)
	}
	_, _ = r.f.d.Write(p) // a hash has no errors
	return nil
}

// formSlices is a file that stands in the form as it is.
type formSlices struct {
	*formFile
	plain *content
}

// WriteTo implements io.WriterTo: it writes out of the buffer of the form.
func (r formSlices) WriteTo(w io.Writer) (n int64, err error) {
	for {
		piece, err := r.plain.slice()
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err := r.took(piece, err); err != nil {
			return n, err
		}
		wrote, err := w.Write(piece)
		n += int64(wrote)
		if err != nil {
			return n, err
		}
		if err := r.plain.pass(len(piece)); err != nil {
			return n, err
		}
	}
}
