package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/ledongthuc/pdf"
)

const (
	maxPages = 5000
	maxText  = 1 << 20 // bytes
)

// textOf gives the text of a PDF: a line for each line, an empty one between
// pages. Pages that cannot be read are left out; the error is about the whole
// file.
func textOf(file io.ReaderAt, size int64) (text string, err error) {
	var r *pdf.Reader
	if err := protect(func() (err error) { r, err = pdf.NewReader(file, size); return err }); err != nil {
		return "", err
	}
	pages := 0
	if err := protect(func() error { pages = r.NumPage(); return nil }); err != nil {
		return "", err
	}
	var b strings.Builder
	failed := 0
	for i := range min(pages, maxPages) {
		err := protect(func() error {
			if p := r.Page(i + 1); !p.V.IsNull() {
				newWalker(&b).read(p.V.Key("Contents"), p.Resources())
				b.WriteString("\n\n")
			}
			return nil
		})
		if err != nil {
			failed++
		}
		if b.Len() >= maxText {
			break
		}
	}
	if failed > 0 && strings.TrimSpace(b.String()) == "" {
		return "", errors.New("none of its pages can be read")
	}
	text = strings.ToValidUTF8(b.String(), "")
	return strings.TrimSpace(strings.ToValidUTF8(text[:min(len(text), maxText)], "")), nil
}

// protect makes an error of a panic, with which the library answers much that
// is wrong in a file.
func protect(fn func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%v", v)
		}
	}()
	return fn()
}
