// Package content is the module of content documents: content types,
// environments, documents with their revisions, and publication
// (spec.md 2.4, 3.5, 4.5; contract-notes 1.5, 2.1, 2.2, 4).
//
// A revision is numbered and, once finalized, never changes. The newest one is
// what a read answers, and it may be a draft. An environment holds at most one
// revision of a document; finalizing puts it into the default environment of
// the content type.
package content

import (
	"context"
	"encoding/hex"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
	"github.com/quoin-cms/quoin/core/telemetry"
	"github.com/quoin-cms/quoin/core/web"
)

// Service holds the rules of documents. Every method checks the rights of the
// identity in its context.
type Service struct {
	cfg     *Config
	store   store
	types   *catalogs
	bus     *event.Bus
	turns   *turns
	refresh port.Refresher // nil when nothing indexes in this process
	find    port.Finder    // nil when nothing searches in this process
	log     *slog.Logger
	now     func() time.Time
}

// Outcome is the result of a write.
type Outcome struct {
	Type       string
	OUUID      string
	RevisionID int64
	Created    bool
	// Errors are validation findings: the document was kept as a failed draft.
	Errors []problem.FieldError
	// Warnings do not hinder.
	Warnings []problem.FieldError
	Notices  []string
	etag     string
}

// Ok reports whether the write took effect as asked.
func (o *Outcome) Ok() bool { return len(o.Errors) == 0 }

// systemFields are written by the server; what a client sends under these
// names is dropped.
var systemFields = []string{"_contenttype", "_finalization_datetime", "_finalized_by", "_sha1", "_published_datetime", "_signature"}

// matches compares If-Match with the state of a document. The revision id will
// do as long as it names one state, for clients know it from answers.
func matches(ifMatch string, head *revision) error {
	if ifMatch == "" {
		return nil
	}
	if head == nil || head.Deleted {
		return problem.New(problem.PreconditionFailed, "If-Match was sent, but there is no such document")
	}
	for tag := range strings.SplitSeq(ifMatch, ",") {
		tag = strings.TrimSpace(tag)
		if tag == "*" || tag == head.etag() || (!head.Draft || head.Edits == 0) && strings.Trim(tag, `"`) == strconv.FormatInt(head.ID, 10) {
			return nil
		}
	}
	return problem.New(problem.PreconditionFailed, "the document is at revision %d (%s), not at %s: read it again", head.ID, head.etag(), ifMatch)
}

// checkOUUID refuses identifiers that cannot stand in a path. Documents of old
// installations have identifiers of many forms, so no form is asked for.
func checkOUUID(ouuid string) error {
	if len(ouuid) == 36 && strings.Trim(ouuid, "0123456789abcdef-") == "" {
		return nil
	}
	if ouuid == "" || len(ouuid) > 255 || ouuid == "." || ouuid == ".." || !utf8.ValidString(ouuid) || strings.ContainsAny(ouuid, `/\?#`) ||
		strings.ContainsFunc(ouuid, func(r rune) bool { return unicode.IsControl(r) || r != ' ' && unicode.IsSpace(r) }) || strings.TrimSpace(ouuid) != ouuid {
		return problem.Field(problem.Invalid, "ouuid", `must be 1 to 255 bytes of UTF-8 without control characters, /, \, ? or #, and no space at an end`)
	}
	return nil
}

// newOUUID makes a time-ordered UUID: random ones scatter writes over the key.
func newOUUID() string { return uuid.Must(uuid.NewV7()).String() }

// allowed gives a content type on which the caller holds the right.
func (s *Service) allowed(ctx context.Context, name string, right auth.Right) (*contentType, error) {
	ct, err := s.types.contentType(ctx, name)
	if err != nil {
		return nil, err
	}
	return ct, ct.rights.Check(ctx, right)
}

// body checks a document from outside and drops the system fields.
func (s *Service) body(raw []byte, mayBeEmpty bool) ([]byte, error) {
	if len(raw) > int(s.cfg.MaxDocument) {
		return nil, problem.New(problem.TooLarge, "the document is larger than %s", s.cfg.MaxDocument)
	}
	if len(raw) == 0 && mayBeEmpty {
		return []byte("{}"), nil
	}
	if err := rawjson.CheckObject(raw, rawjson.Limits{Depth: s.cfg.MaxDepth}); err != nil {
		return nil, err
	}
	clean := withoutSystem(rawjson.Object(raw))
	if len(clean) == 2 && !mayBeEmpty {
		return nil, problem.New(problem.Invalid, "the document is empty")
	}
	return clean, nil
}

// withoutSystem drops the system fields. It copies only where there are some;
// an object without members is {}.
func withoutSystem(raw []byte) []byte {
	empty := true
	for it := rawjson.Iterate(raw); it.Next(); empty = false {
		if key := it.Key(); len(key) > 0 && key[0] == '_' && slices.Contains(systemFields, string(key)) {
			return rawjson.Without(make([]byte, 0, len(raw)), raw, systemFields...)
		}
	}
	if empty {
		return []byte("{}")
	}
	return raw
}

// seal gives the data of a finalized revision: the content fields, then the
// system fields, the hash over all of it last.
func (ct *contentType) seal(dst, clean []byte, by string, at time.Time) []byte {
	dst = append(dst, clean[:len(clean)-1]...)
	if len(dst) > 1 {
		dst = append(dst, ',')
	}
	dst = append(dst, ct.suffix...)
	dst = append(dst, `"_finalization_datetime":"`...)
	dst = at.UTC().AppendFormat(dst, web.Atom)
	dst = rawjson.AppendString(append(dst, `","_finalized_by":`...), by)
	dst = append(dst, '}')
	h, _ := ct.hashers.Get().(*rawjson.Hasher)
	if h == nil {
		h = &rawjson.Hasher{}
	}
	defer ct.hashers.Put(h)
	sum := h.SHA1(dst)
	dst = append(dst[:len(dst)-1], `,"_sha1":"`...)
	return append(hex.AppendEncode(dst, sum[:]), `"}`...)
}

// emit adds an event about a document to the transaction.
func (s *Service) emit(ctx context.Context, name string, ct *contentType, ouuid string, env *environment, raw []byte) error {
	data := make([]byte, 0, len(raw)+len(env.name)+len(env.alias)+len(ct.Name)+len(ouuid)+96)
	data = rawjson.AppendString(append(data, `{"environment":`...), env.name)
	data = rawjson.AppendString(append(data, `,"alias":`...), env.alias)
	data = rawjson.AppendString(append(data, `,"content_type":`...), ct.Name)
	data = rawjson.AppendString(append(data, `,"ouuid":`...), ouuid)
	if raw != nil {
		data = append(append(data, `,"raw_data":`...), raw...)
	}
	return s.tell(ctx, name, ct.Name+":"+ouuid, append(data, '}'))
}

// tell adds an event to the transaction, with who made it happen.
func (s *Service) tell(ctx context.Context, name, subject string, data []byte) error {
	return s.bus.Emit(ctx, event.Event{Type: name, Subject: subject, Data: data, Actor: auth.Username(ctx), RequestID: telemetry.RequestID(ctx)})
}

// refreshed waits until the document is searchable; what goes wrong is a
// notice, for the document is stored.
func (s *Service) refreshed(ctx context.Context, o *Outcome) {
	if s.refresh == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.RefreshTimeout)
	defer cancel()
	if err := s.refresh.Refresh(ctx, []port.Key{{Type: o.Type, OUUID: o.OUUID}}); err != nil {
		s.log.WarnContext(ctx, "refresh did not finish", "type", o.Type, "ouuid", o.OUUID, "error", err)
		o.Warnings = append(o.Warnings, problem.FieldError{Message: "the document is stored, but not searchable yet"})
	}
}
