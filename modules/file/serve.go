package file

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/quoin-cms/quoin/core/blob"
	"github.com/quoin-cms/quoin/core/db"
)

// View is how a file is asked for.
type View struct {
	Hash   string
	Inline bool   // shown rather than saved, if its type allows
	Public bool   // without a token
	Name   string // instead of that of the last upload; empty for that
	Type   string // likewise
}

// maxRanges bounds a request for several ranges; one for more gets the whole.
const maxRanges = 16

// Serve answers with a file: ranges, conditions (RFC 9110), and a name (RFC
// 6266). What it is never changes, so it may be kept for ever.
func (s *Service) Serve(w http.ResponseWriter, r *http.Request, v View) error {
	ctx := r.Context()
	o, err := s.find(ctx, v.Hash)
	if err != nil {
		return err
	}
	if v.Public && o.Hidden {
		return unknown(o.Hash)
	}
	if r.Method == http.MethodHead {
		if err := s.seen.add(ctx, map[string]*object{o.Hash: o}); err != nil {
			return err
		}
	}
	content, err := s.open(ctx, o, r)
	if err != nil {
		return err
	}
	defer func() { _ = content.Close() }() // only read
	headers(w.Header(), o, v)
	if strings.Count(r.Header.Get("Range"), ",") >= maxRanges {
		r.Header.Del("Range")
	}
	http.ServeContent(w, r, "", db.Time(o.FirstSeen), content)
	return nil
}

// open gives the bytes of a file. On a disk that is the file itself, and
// nothing around it, so that the kernel can send it.
func (s *Service) open(ctx context.Context, o *object, r *http.Request) (io.ReadSeekCloser, error) {
	var content io.ReadSeekCloser
	var err error
	files, local := s.blobs.(blob.Filer)
	switch {
	case r.Method == http.MethodHead:
		return blob.NewReader(ctx, s.blobs, o.Hash, o.Size), nil
	case local:
		content, err = files.File(ctx, o.Hash)
	default:
		reader := blob.NewReader(ctx, s.blobs, o.Hash, o.Size)
		content, err = reader, reader.Begin(firstByte(r.Header.Get("Range")))
	}
	if errors.Is(err, blob.ErrNotFound) {
		s.log.ErrorContext(ctx, "a file is missing in the storage; quoin files verify tells more", "hash", o.Hash)
		return nil, unknown(o.Hash)
	}
	if err != nil {
		return nil, told(err)
	}
	return content, nil
}

// firstByte guesses where the answer to a Range header begins; a wrong guess
// costs another request to the storage.
func firstByte(header string) int64 {
	text, _, _ := strings.Cut(strings.TrimPrefix(header, "bytes="), "-")
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// The policies of answers: nothing in a file may run. The viewers for PDF do
// not work in a sandbox.
const (
	policy    = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; media-src 'self'; sandbox"
	policyPDF = "default-src 'none'; style-src 'unsafe-inline'; object-src 'self'; base-uri 'none'; form-action 'none'"
	typePDF   = "application/pdf"
)

// headers says what the file is.
func headers(h http.Header, o *object, v View) {
	name, kind := o.Name, o.Type
	if v.Name != "" {
		name = cleanName(v.Name)
	}
	if v.Type != "" {
		kind = cleanType(v.Type)
	}
	if kind == defaultType {
		kind = "application/octet-stream"
	}
	plain, _, _ := strings.Cut(kind, ";")
	show := "attachment"
	switch {
	case !agrees(plain, o.Sniffed):
		kind = "application/octet-stream"
	case v.Inline && harmless(plain):
		show = "inline"
	}
	csp := policy
	if plain == typePDF && show == "inline" {
		csp = policyPDF
	}
	scope := "private"
	if v.Public {
		scope = "public"
	}
	h.Set("Content-Type", kind)
	h.Set("Content-Disposition", disposition(show, name))
	h.Set("Content-Security-Policy", csp)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Robots-Tag", "noindex")
	h.Set("ETag", `"`+o.Hash+`"`)
	h.Set("Cache-Control", scope+", max-age=31536000, immutable")
}

// harmless reports whether a browser may show the type by itself. SVG may hold
// programs, which the policy stops.
func harmless(kind string) bool {
	family, _, _ := strings.Cut(kind, "/")
	switch family {
	case "audio", "video", "font":
		return true
	}
	return slices.Contains([]string{
		"image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp", "image/tiff", "image/x-icon", "image/vnd.microsoft.icon",
		typeSVG, typePDF, "text/plain", "text/css", "text/csv", "text/markdown", "application/json",
	}, kind)
}

// agrees reports whether a file may be given out as the type. One that looks
// like markup to a browser must not be called anything that is shown, except as
// text.
func agrees(kind, sniffed string) bool {
	switch sniffed {
	case typeHTML, typeXML, typeSVG:
		family, _, _ := strings.Cut(kind, "/")
		return family == "text" || family == "application" && kind != typePDF || kind == typeSVG && sniffed != typeHTML
	}
	return true
}
