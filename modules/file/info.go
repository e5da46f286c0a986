package file

import (
	"context"

	"github.com/quoin-cms/quoin/core/db"
)

// Info is what is known about a file (spec.md 2.5).
type Info struct {
	Hash       string `json:"hash"`
	Algo       string `json:"algo"`
	Name       string `json:"name" doc:"of the last upload"`
	Type       string `json:"type" doc:"of the last upload"`
	FileObject Fields `json:"file-object" doc:"what a document holds in a field for files"`
	FirstSeen  *Date  `json:"first-seen" doc:"null with first-seen=false"`
	LastSeen   *Date  `json:"last-seen" doc:"when it was uploaded or asked for with HEAD or heads"`
	UploadedBy string `json:"uploaded-by" doc:"user of the first upload"`
	Hidden     bool   `json:"hidden" doc:"it is not served at /data/file"`
	Size       int64  `json:"size" doc:"bytes"`
	Uploads    int64  `json:"uploads" doc:"how often it was uploaded"`
	Heads      int64  `json:"head-counter" doc:"how often HEAD and heads asked for it"`
}

// Date is a time as PHP writes its objects.
type Date struct {
	Date     string `json:"date" doc:"2026-05-04 10:00:00.000000"`
	Kind     int    `json:"timezone_type" doc:"3: timezone is a name"`
	Timezone string `json:"timezone"`
}

func date(us int64) *Date {
	return &Date{db.Time(us).Format("2006-01-02 15:04:05.000000"), 3, "UTC"}
}

// Info tells what is known about a file.
func (s *Service) Info(ctx context.Context, hash string, firstSeen bool) (*Info, error) {
	if err := s.seen.flush(ctx); err != nil {
		return nil, err
	}
	o, err := s.find(ctx, hash)
	if err != nil {
		return nil, err
	}
	i := o.info()
	if firstSeen {
		i.FirstSeen = date(o.FirstSeen)
	}
	return i, nil
}

func (o *object) info() *Info {
	return &Info{
		Hash: o.Hash, Algo: o.Algo, Name: o.Name, Type: o.Type, FileObject: o.fields(), LastSeen: date(o.LastSeen),
		UploadedBy: o.UploadedBy, Hidden: o.Hidden, Size: o.Size, Uploads: o.Uploads, Heads: o.Heads,
	}
}
