package file

import (
	"context"
	"time"

	"github.com/quoin-cms/quoin/core/blob"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/problem"
)

// Collected is the report of a garbage collection. Sizes are in bytes.
type Collected struct {
	DryRun       bool     `json:"dry_run"`
	Files        int64    `json:"files"`
	Referred     int64    `json:"referred"`
	Young        int64    `json:"young"` // not referred to, but seen within the grace
	Removed      int64    `json:"removed"`
	RemovedBytes int64    `json:"removed_bytes"`
	Orphans      int64    `json:"orphans"` // blobs that no row knows
	OrphanBytes  int64    `json:"orphan_bytes"`
	Hashes       []string `json:"hashes"` // what was, or would be, removed
}

// Collect removes the files that nothing names and nobody asked for within the
// grace: first everything that names files is read, then what was not found is
// removed. A dry run only reports. It is a Conflict when no module that names
// files is switched on: the files of what such a module has stored stay.
func (s *Service) Collect(ctx context.Context, grace time.Duration, dry bool) (*Collected, error) {
	if len(s.holders) == 0 {
		return nil, problem.New(problem.Conflict, "no module whose data names files is switched on (modules.content.enabled), so that every file would be removed").WithCode("no_holders")
	}
	report := &Collected{DryRun: dry, Hashes: []string{}}
	since := s.now().Add(-grace)
	known := map[string]bool{} // → whether something names it
	if err := s.store.every(ctx, func(o *object) error { known[o.Hash] = false; return nil }); err != nil {
		return nil, err
	}
	for _, h := range s.holders {
		if err := h.FileTexts(ctx, func(text []byte) error { mark(text, known); return nil }); err != nil {
			return nil, err
		}
	}
	err := s.store.every(ctx, func(o *object) error {
		report.Files++
		switch named, listed := known[o.Hash]; {
		case named:
			report.Referred++
		case !listed || o.LastSeen >= db.Micros(since):
			report.Young++
		default:
			return s.collect(ctx, o, since, report)
		}
		return nil
	})
	if err != nil {
		return report, err
	}
	return report, s.collectOrphans(ctx, since, report)
}

// collect removes one file. Its row is marked before the bytes go: whoever
// uploads the file at this moment waits for the end of it.
func (s *Service) collect(ctx context.Context, o *object, since time.Time, report *Collected) error {
	if !report.DryRun {
		now := s.now()
		marked, err := s.store.mark(ctx, o.Hash, since, now)
		if err != nil {
			return err
		}
		if !marked {
			report.Young++
			return nil
		}
		if err := s.blobs.Delete(ctx, o.Hash); err != nil {
			return told(err)
		}
		if err := s.store.dropMarked(ctx, o.Hash, now); err != nil {
			return err
		}
	}
	report.Removed++
	report.RemovedBytes += o.Size
	report.Hashes = append(report.Hashes, o.Hash)
	return nil
}

// collectOrphans removes bytes that no row knows: a crash between storing the
// bytes and the row leaves them.
func (s *Service) collectOrphans(ctx context.Context, since time.Time, report *Collected) error {
	var orphans []blob.Info
	err := s.blobs.List(ctx, func(i blob.Info) error {
		if !isHash(i.Key) || !i.Modified.Before(since) {
			return nil
		}
		o, err := s.store.object(ctx, i.Key)
		if err == nil && o == nil {
			orphans = append(orphans, i)
		}
		return err
	})
	if err != nil {
		return told(err)
	}
	for _, i := range orphans {
		if !report.DryRun {
			removed, err := s.removeOrphan(ctx, i)
			if err != nil {
				return err
			}
			if !removed {
				continue
			}
		}
		report.Orphans++
		report.OrphanBytes += i.Size
		report.Hashes = append(report.Hashes, i.Key)
	}
	return nil
}

// removeOrphan removes bytes that no row knew when they were listed, as collect
// does: somebody may have uploaded the file since, or be doing so. It tells
// whether it did.
func (s *Service) removeOrphan(ctx context.Context, i blob.Info) (bool, error) {
	now := s.now()
	marked, err := s.store.markOrphan(ctx, i.Key, i.Size, now)
	if err != nil || !marked {
		return false, err
	}
	if err := s.blobs.Delete(ctx, i.Key); err != nil {
		return false, told(err)
	}
	return true, s.store.dropMarked(ctx, i.Key, now)
}

// mark notes which of the known hashes stand in a text, wherever and in
// whatever case: one too many costs room, one too few a file. Letters before a
// hash may look like part of it (\u0022 is a quote), so every place counts.
func mark(text []byte, known map[string]bool) {
	var hash [64]byte
	for i := 0; i < len(text); i++ {
		if !hexDigit(text[i]) {
			continue
		}
		end := i
		for end < len(text) && hexDigit(text[end]) {
			end++
		}
		for _, n := range []int{40, 64} {
			for at := i; at+n <= end; at++ {
				for j, c := range text[at : at+n] {
					if c >= 'A' && c <= 'F' {
						c += 'a' - 'A'
					}
					hash[j] = c
				}
				if _, is := known[string(hash[:n])]; is {
					known[string(hash[:n])] = true
				}
			}
		}
		i = end
	}
}

func hexDigit(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}
