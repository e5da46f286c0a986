package embedded

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/quoin-cms/quoin/core/search"
)

// forms tells how documents are indexed by settings, as short texts that are
// others when anything else would become of a document.
type forms struct {
	settings search.Settings
	shared   string            // of what concerns all content types; empty until it is asked for
	known    map[string]string // by content type
}

func newForms(s search.Settings) *forms { return &forms{settings: s, known: map[string]string{}} }

// of gives the form of the documents of a content type.
func (f *forms) of(contentType string) string {
	if known, ok := f.known[contentType]; ok {
		return known
	}
	if f.shared == "" {
		shared := f.settings
		shared.Types = nil
		if f.shared = sumOfJSON(shared); f.shared == "" {
			return ""
		}
	}
	form := sumOfJSON([]any{f.shared, f.settings.Types[contentType]})
	f.known[strings.Clone(contentType)] = form
	return form
}

// sumOfJSON gives the hash of a value as JSON, "" if it has none, which is like
// no other.
func sumOfJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil { // raw JSON that is none
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
