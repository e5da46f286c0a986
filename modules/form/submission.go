package form

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/quoin-cms/quoin/core/rawjson"
)

// Submission is what somebody sent with a form (spec.md 2.3).
type Submission struct {
	Seq      int64 // grows; the order of lists
	ID       string
	Name     string
	Instance string
	Locale   string
	Label    string
	// Data is the JSON object or list as it came; nil once the submission was
	// processed.
	Data      []byte
	ExpiresAt time.Time
	Tries     int
	ProcessID string
	ProcessBy string
	HeldUntil time.Time
	Processed time.Time
	CreatedAt time.Time
	Modified  time.Time
	Files     []*File
}

// File is a file of a submission. Its bytes are in the blob store.
type File struct {
	ID        string
	Filename  string
	MimeType  string
	Size      int64
	FormField string

	content []byte // of a submission that is being stored
}

// key names the bytes of a file in the blob store.
func (f *File) key() string { return keyPrefix + f.ID }

// keyPrefix parts our blobs from those of files that have an address.
const keyPrefix = "form-"

// date writes a time as the API does.
func date(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05+00:00") }

// json gives the submission as the API answers it, with the members in the
// order of elasticms. urls are the addresses of its files; nil leaves them out.
func (s *Submission) json(urls []string) []byte {
	b := []byte(`{"id":`)
	text := func(s string) { b = rawjson.AppendString(b, s) }
	member := func(name string) {
		b = append(b, `,"`...)
		b = append(b, name...)
		b = append(b, `":`...)
	}
	optional := func(s string) {
		if s == "" {
			b = append(b, "null"...)
			return
		}
		text(s)
	}
	text(s.ID)
	for _, m := range []struct{ name, value string }{
		{"created", date(s.CreatedAt)}, {"modified", date(s.Modified)}, {"name", s.Name}, {"instance", s.Instance}, {"locale", s.Locale},
	} {
		member(m.name)
		text(m.value)
	}
	member("data")
	if s.Data == nil {
		b = append(b, "null"...)
	} else {
		b = append(b, s.Data...)
	}
	member("label")
	text(s.Label)
	member("processTryCounter")
	b = strconv.AppendInt(b, int64(s.Tries), 10)
	member("processId")
	optional(s.ProcessID)
	member("processBy")
	optional(s.ProcessBy)
	if !s.ExpiresAt.IsZero() {
		member("expireDate")
		text(date(s.ExpiresAt))
	}
	if len(s.Files) > 0 {
		member("files")
		list, _ := json.Marshal(s.views()) // strings always marshal
		b = append(b, list...)
		if urls != nil {
			member("file_urls")
			list, _ = json.Marshal(urls)
			b = append(b, list...)
		}
	}
	return append(b, '}')
}

// fileView is a file in an answer.
type fileView struct {
	ID        string `json:"id"`
	Filename  string `json:"filename"`
	MimeType  string `json:"mimeType"`
	Size      string `json:"size"`
	FormField string `json:"formField"`
}

func (s *Submission) views() []fileView {
	list := []fileView{}
	for _, f := range s.Files {
		list = append(list, fileView{f.ID, f.Filename, f.MimeType, strconv.FormatInt(f.Size, 10), f.FormField})
	}
	return list
}
