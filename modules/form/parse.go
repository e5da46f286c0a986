package form

import (
	"encoding/base64"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
)

// Bounds of a submission.
const (
	maxName  = 255     // bytes of a name, label, file name …
	maxDepth = 64      // of data
	maxParam = 1 << 14 // bytes of a property path or an address template
)

// parse reads the body of a new submission: exactly the members of the contract
// (spec.md 4.4, contract-notes 1.4), each with what it must be.
func (s *Service) parse(body []byte) (*Submission, error) {
	if err := rawjson.CheckObject(body, rawjson.Limits{Depth: maxDepth}); err != nil {
		return nil, err
	}
	out := &Submission{}
	missing := map[string]bool{"form_name": true, "instance": true, "locale": true, "data": true}
	err := rawjson.Members(body, func(key string, value []byte) error {
		delete(missing, key)
		switch key {
		case "form_name":
			return name(key, value, &out.Name, true)
		case "instance":
			return name(key, value, &out.Instance, true)
		case "locale":
			return name(key, value, &out.Locale, true)
		case "label":
			return name(key, value, &out.Label, false)
		case "data":
			if k := rawjson.KindOf(value); k != rawjson.Map && k != rawjson.Array {
				return problem.Field(problem.Invalid, key, "must be an object")
			}
			out.Data = append([]byte{}, value...)
		case "expire_date":
			return out.expires(value)
		case "files":
			return s.files(value, out)
		default:
			return problem.Field(problem.Invalid, key, "is not known; a submission has form_name, instance, locale, data, label, expire_date and files")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, key := range []string{"form_name", "instance", "locale", "data"} {
		if missing[key] {
			return nil, problem.Field(problem.Invalid, key, "is missing")
		}
	}
	return out, nil
}

// name reads a text of reasonable length.
func name(path string, value []byte, to *string, needed bool) error {
	text, ok := rawjson.String(value)
	switch {
	case !ok:
		return problem.Field(problem.Invalid, path, "must be a string")
	case needed && text == "":
		return problem.Field(problem.Invalid, path, "must not be empty")
	case len(text) > maxName || !utf8.ValidString(text):
		return problem.Field(problem.Invalid, path, "must have at most %d bytes", maxName)
	}
	*to = text
	return nil
}

// expires reads the day from which on the submission may be deleted. Of a time
// it is the day that is written there.
func (s *Submission) expires(value []byte) error {
	if rawjson.KindOf(value) == rawjson.Null {
		return nil
	}
	text, _ := rawjson.String(value)
	day, err := time.Parse(time.DateOnly, text)
	for _, form := range []string{time.RFC3339, time.DateTime, "2006-01-02T15:04:05"} {
		if t, wrong := time.Parse(form, text); err != nil && wrong == nil {
			day, err = time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC), nil
		}
	}
	if err != nil || day.Year() < 1970 || day.Year() > 9999 {
		return problem.Field(problem.Invalid, "expire_date", "must be a date such as 2026-12-31, or null")
	}
	s.ExpiresAt = day
	if day.Unix() == 0 { // which is stored as never
		s.ExpiresAt = day.Add(time.Microsecond)
	}
	return nil
}

// files reads the list of files. PHP writes a list with gaps as an object, whose
// keys mean nothing.
func (s *Service) files(value []byte, out *Submission) error {
	add := func(path string, element []byte) error {
		if len(out.Files) == s.cfg.MaxFiles {
			return problem.Field(problem.Invalid, "files", "must hold at most %d files", s.cfg.MaxFiles)
		}
		if rawjson.KindOf(element) != rawjson.Map {
			return problem.Field(problem.Invalid, path, "must be an object")
		}
		f, err := parseFile(path, element)
		if err == nil {
			out.Files = append(out.Files, f)
		}
		return err
	}
	switch rawjson.KindOf(value) {
	case rawjson.Array:
		return rawjson.Elements(value, func(i int, element []byte) error { return add(rawjson.Index("files", i), element) })
	case rawjson.Map:
		return rawjson.Members(value, func(key string, element []byte) error { return add(rawjson.Join("files", key), element) })
	}
	return problem.Field(problem.Invalid, "files", "must be a list")
}

// parseFile reads a file: all five members, and bytes that are as many as it
// says.
func parseFile(path string, raw []byte) (*File, error) {
	f := &File{ID: uuid.Must(uuid.NewV7()).String()}
	var size string
	var encoded []byte
	have := 0
	err := rawjson.Members(raw, func(key string, value []byte) error {
		at := rawjson.Join(path, key)
		have++
		switch key {
		case "filename":
			return name(at, value, &f.Filename, true)
		case "mimeType":
			return name(at, value, &f.MimeType, true)
		case "form_field":
			return name(at, value, &f.FormField, true)
		case "size": // a string by the contract, which many write as the number it is
			if rawjson.KindOf(value) == rawjson.Number {
				size = string(value)
				return nil
			}
			return name(at, value, &size, true)
		case "base64":
			text, ok := rawjson.Bytes(value)
			if !ok {
				return problem.Field(problem.Invalid, at, "must be a string")
			}
			encoded = append([]byte{}, text...)
			return nil
		}
		return problem.Field(problem.Invalid, at, "is not known; a file has filename, mimeType, base64, size and form_field")
	})
	if err != nil {
		return nil, err
	}
	if have != 5 {
		return nil, problem.Field(problem.Invalid, path, "must have filename, mimeType, base64, size and form_field")
	}
	if !validType(f.MimeType) {
		return nil, problem.Field(problem.Invalid, rawjson.Join(path, "mimeType"), "is no MIME type such as image/png")
	}
	n, err := base64.StdEncoding.Strict().Decode(encoded, encoded) // it never overtakes itself
	if err != nil {
		return nil, problem.Field(problem.Invalid, rawjson.Join(path, "base64"), "is not base64: %s", err)
	}
	f.content, f.Size = encoded[:n], int64(n)
	if want, err := strconv.ParseInt(size, 10, 64); err != nil || want != f.Size {
		return nil, problem.Field(problem.Invalid, rawjson.Join(path, "size"), "says %q, but base64 holds %d bytes", size, f.Size)
	}
	return f, nil
}

// validType tells whether a text can be the value of Content-Type.
func validType(s string) bool {
	kind, sub, ok := strings.Cut(s, "/")
	if !ok || kind == "" || sub == "" {
		return false
	}
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}
