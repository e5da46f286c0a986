package form

import (
	"context"
	"io"
	"strings"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
)

// mentions tells whether a value stands in a JSON text, as a whole string
// wherever, in any case, or as a number that is written like it.
func mentions(raw []byte, value string) bool {
	switch rawjson.KindOf(raw) {
	case rawjson.Text:
		text, _ := rawjson.String(raw)
		return strings.EqualFold(strings.TrimSpace(text), value)
	case rawjson.Number:
		return string(raw) == value
	case rawjson.Map, rawjson.Array:
		for it := rawjson.Iterate(raw); it.Next(); {
			if mentions(it.Value(), value) {
				return true
			}
		}
	}
	return false
}

// about calls fn for every submission that holds a value: an address, a name, a
// number that somebody wrote into any field.
func (s *Service) about(ctx context.Context, value string, fn func(*Submission) error) error {
	if value = strings.TrimSpace(value); value == "" || len(value) > maxValue {
		return problem.Field(problem.Invalid, "value", "is missing, or longer than %d bytes", maxValue)
	}
	return s.each(ctx, Filter{}, func(sub *Submission) error {
		if strings.EqualFold(sub.Label, value) || mentions(sub.Data, value) {
			return fn(sub)
		}
		return nil
	})
}

// each calls fn for every submission that passes, the oldest first.
func (s *Service) each(ctx context.Context, f Filter, fn func(*Submission) error) error {
	for after := int64(0); ; {
		ctx, err := auth.Again(ctx) // an export takes as long as its reader
		if err != nil {
			return err
		}
		page, err := s.store.page(ctx, f, after, s.now(), maxPage)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, sub := range page {
			if err := fn(sub); err != nil {
				return err
			}
		}
		after = page[len(page)-1].Seq
	}
}

// ExportSubject writes every submission that holds a value, as JSON, one a
// line, and tells how many there were.
func (s *Service) ExportSubject(ctx context.Context, value string, w io.Writer) (n int, err error) {
	if err := crm(ctx); err != nil {
		return 0, err
	}
	who, _ := auth.Require(ctx)
	err = s.about(ctx, value, func(sub *Submission) error {
		if err := s.store.files(ctx, sub); err != nil {
			return err
		}
		if err := s.note(ctx, who, sub.ID, "export of a subject"); err != nil {
			return err
		}
		n++
		_, err := w.Write(append(sub.json(nil), '\n'))
		return err
	})
	return n, err
}

// Erased is what an erasure removed, or would.
type Erased struct {
	DryRun      bool     `json:"dry_run"`
	Submissions []string `json:"submissions"` // ids
	Files       int64    `json:"files"`
	Codes       int64    `json:"codes"`
}

// EraseSubject removes every submission that holds a value, with its files, and
// the verification code of the value. A dry run only reports.
func (s *Service) EraseSubject(ctx context.Context, value string, dry bool) (*Erased, error) {
	if err := crm(ctx); err != nil {
		return nil, err
	}
	who, _ := auth.Require(ctx)
	out := &Erased{DryRun: dry, Submissions: []string{}}
	err := s.about(ctx, value, func(sub *Submission) error {
		if err := s.store.files(ctx, sub); err != nil {
			return err
		}
		out.Submissions = append(out.Submissions, sub.ID)
		out.Files += int64(len(sub.Files))
		if dry {
			return nil
		}
		if err := s.note(ctx, who, sub.ID, "erase"); err != nil {
			return err
		}
		_, err := s.remove(ctx, []string{sub.ID})
		return err
	})
	if err != nil || dry {
		return out, err
	}
	if out.Codes, err = s.store.db.Exec(ctx, dropCode, hash(strings.TrimSpace(value))); err != nil {
		return out, err
	}
	return out, s.Trash(ctx)
}
