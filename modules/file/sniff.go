package file

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
)

// sniffLength is how much of a file is looked at, in bytes.
const sniffLength = 1024

// The types that browsers run as programs of the site.
const (
	typeHTML = "text/html"
	typeXML  = "text/xml"
	typeSVG  = "image/svg+xml"
)

// sniff tells what the first bytes of a file look like, without parameters.
// What a browser might take for markup is always found.
func sniff(head []byte) string {
	kind, _, _ := strings.Cut(http.DetectContentType(head), ";")
	lower := bytes.ToLower(head)
	switch {
	case bytes.Contains(lower, []byte("<svg")):
		return typeSVG
	case kind == typeHTML || kind == typeXML:
		return kind
	case strings.HasPrefix(kind, "text/") && (bytes.Contains(lower, []byte("<html")) || bytes.Contains(lower, []byte("<script")) || bytes.Contains(lower, []byte("<!doctype html"))):
		return typeHTML
	}
	return kind
}

func (s *Service) sniffStage(ctx context.Context, stage string, size int64) (string, error) {
	if size == 0 {
		return sniff(nil), nil
	}
	r, err := s.blobs.ReadStage(ctx, stage, 0, min(size, sniffLength))
	if err != nil {
		return "", err
	}
	head, err := io.ReadAll(r)
	return sniff(head), errors.Join(err, r.Close())
}
