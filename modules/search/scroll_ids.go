package search

import (
	"bytes"
	"compress/flate"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/search"
)

// maxScrollID is how long the id of a scroll may be, in bytes, when it is opened.
const maxScrollID = 64 << 10

// scrollMark is what ids that hold their scroll begin with. Other ids have no
// dot.
const scrollMark = "s1."

// scrollIDs makes ids that hold a whole scroll, so that every process with the
// same secret can continue it, also after a restart: where it stands, whose it
// is and what was searched, compressed, behind a code (HMAC-SHA256) that nobody
// else can make. Each page has an id of its own, which can be asked for again.
type scrollIDs struct {
	key   []byte
	cfg   *Config
	now   func() time.Time
	atUse *warmCursors
}

// heldScroll is what an id holds.
type heldScroll struct {
	User   int64           `json:"u"`
	Until  int64           `json:"e"` // when it expires, in ms
	Now    int64           `json:"n"` // what now means in the search, in ns
	Place  json.RawMessage `json:"p"`
	Search string          `json:"s"`

	code string
}

// newScrollIDs makes ids of one installation: its processes share the key of
// the search server, and nobody else has both that and the prefix.
func newScrollIDs(cfg *Config, instance string) *scrollIDs {
	mac := hmac.New(sha256.New, []byte(cfg.Key))
	for _, part := range []string{"quoin scroll ids", cfg.Prefix, instance} {
		mac.Write([]byte(part + "\x00"))
	}
	return &scrollIDs{key: mac.Sum(nil), cfg: cfg, now: time.Now, atUse: &warmCursors{most: cfg.Scrolls, at: map[string]warmCursor{}}}
}

func (s *scrollIDs) code(packed []byte) []byte {
	mac := hmac.New(sha256.New, s.key)
	mac.Write(packed)
	return mac.Sum(nil)
}

// pack gives the id for the place of a cursor, which is kept at hand for it.
func (s *scrollIDs) pack(h heldScroll, c search.Portable, keep time.Duration) (id string, err error) {
	until := s.now().Add(keep)
	h.Until = until.UnixMilli()
	if h.Place, err = c.Place(); err != nil {
		return "", err
	}
	text, err := json.Marshal(h)
	if err != nil {
		return "", err
	}
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.DefaultCompression)
	if err != nil {
		return "", err
	}
	_, _ = w.Write(text) // a buffer takes everything
	_ = w.Close()
	code := s.code(packed.Bytes())
	s.atUse.put(string(code), c, until, s.now())
	return scrollMark + base64.RawURLEncoding.EncodeToString(append(code, packed.Bytes()...)), nil
}

// unpack reads an id of the user. NotFound is all that somebody learns of an id
// of others, or of one that nobody has made.
func (s *scrollIDs) unpack(id string, user int64) (*heldScroll, error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(strings.TrimPrefix(id, scrollMark))
	if err != nil || len(raw) < sha256.Size {
		return nil, noScroll()
	}
	code, packed := raw[:sha256.Size], raw[sha256.Size:]
	if !hmac.Equal(code, s.code(packed)) {
		return nil, noScroll()
	}
	text, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), 8*int64(s.cfg.MaxRequest)))
	if err != nil {
		return nil, noScroll()
	}
	h := &heldScroll{code: string(code)}
	if err := json.Unmarshal(text, h); err != nil || h.User != user || s.now().UnixMilli() >= h.Until {
		return nil, noScroll()
	}
	return h, nil
}

func noScroll() error {
	return problem.Field(problem.NotFound, "scroll-id", "there is no such scroll: it has expired, or it never was").WithCode("scroll_not_found")
}

// warmCursors are cursors that stand where an id says, so that the next page
// needs no compiling of the search. Without one a page is slower, and the same.
type warmCursors struct {
	most int

	mu sync.Mutex
	at map[string]warmCursor // by the code of an id
}

type warmCursor struct {
	cursor search.Portable
	until  time.Time
}

// put keeps a cursor. The one that expires first makes room.
func (w *warmCursors) put(code string, c search.Portable, until, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	first := ""
	for k, v := range w.at {
		if !now.Before(v.until) {
			delete(w.at, k)
		} else if first == "" || v.until.Before(w.at[first].until) {
			first = k
		}
	}
	if len(w.at) >= w.most {
		delete(w.at, first)
	}
	w.at[code] = warmCursor{c, until}
}

// take gives the cursor of an id to one caller, nil if it is not there.
func (w *warmCursors) take(code string) search.Portable {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.at[code].cursor
	delete(w.at, code)
	return c
}
