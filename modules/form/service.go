package form

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/blob"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
)

// Service keeps submissions and verification codes. Whoever knows the id of a
// submission may read it; listing, processing, exporting and erasing needs
// ROLE_FORM_CRM. Every reading is noted.
type Service struct {
	cfg       *Config
	store     *store
	blobs     blob.Store
	bus       *event.Bus
	log       *slog.Logger
	now       func() time.Time
	values    *auth.Throttle
	addresses *auth.Throttle
}

// Options are what New needs.
type Options struct {
	DB     *db.DB
	Blobs  blob.Store
	Bus    *event.Bus
	Config *Config
	Log    *slog.Logger
	Now    func() time.Time // nil is time.Now
}

// New makes the service.
func New(o Options) *Service {
	if o.Now == nil {
		o.Now = time.Now
	}
	throttle := func(burst int, every time.Duration) *auth.Throttle {
		return auth.NewThrottle(auth.ThrottleOptions{Burst: burst, Every: every, Now: o.Now})
	}
	return &Service{
		cfg: o.Config, store: &store{o.DB}, blobs: o.Blobs, bus: o.Bus, log: o.Log, now: o.Now,
		values: throttle(o.Config.CodeRequests, time.Minute), addresses: throttle(o.Config.AddressRequests, time.Second),
	}
}

// eventSubmitted is emitted with every submission; it holds no personal data.
const eventSubmitted = "form.submitted"

// Submit stores a submission. Its files are written first; a submission that is
// not stored leaves nothing behind.
func (s *Service) Submit(ctx context.Context, body []byte) (*Submission, error) {
	id, err := auth.Require(ctx)
	if err != nil {
		return nil, err
	}
	sub, err := s.parse(body)
	if err != nil {
		return nil, err
	}
	now := s.now()
	sub.ID, sub.CreatedAt, sub.Modified = uuid.Must(uuid.NewV7()).String(), now, now
	if sub.ExpiresAt.IsZero() && s.cfg.Retention > 0 {
		sub.ExpiresAt = now.Add(s.cfg.Retention)
	}
	if err := s.keep(ctx, sub); err != nil {
		return nil, err
	}
	data, err := json.Marshal(struct {
		ID       string `json:"submission"`
		Name     string `json:"form_name"`
		Instance string `json:"instance"`
		Locale   string `json:"locale"`
		Files    int    `json:"files"`
	}{sub.ID, sub.Name, sub.Instance, sub.Locale, len(sub.Files)})
	if err != nil {
		return nil, err
	}
	err = s.store.db.InTx(ctx, func(ctx context.Context) error {
		if err := s.store.insert(ctx, sub); err != nil {
			return err
		}
		return s.bus.Emit(ctx, event.Event{Type: eventSubmitted, Subject: "form:" + sub.ID, Data: data, Actor: id.Username})
	})
	if err != nil {
		return nil, err
	}
	return sub, nil
}

// keep writes the files of a submission that is going to be stored. They are
// noted as trash before, so that a crash leaves nothing: the transaction of the
// submission takes the note back.
func (s *Service) keep(ctx context.Context, sub *Submission) error {
	if len(sub.Files) == 0 {
		return nil
	}
	err := s.store.db.InTx(ctx, func(ctx context.Context) error {
		for _, f := range sub.Files {
			if _, err := s.store.db.Exec(ctx, trashKey, f.key(), -db.Micros(s.now())); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, f := range sub.Files {
		if err := s.blobs.Put(ctx, f.key(), bytes.NewReader(f.content), f.Size); err != nil {
			return told(err)
		}
		f.content = nil
	}
	return nil
}

// told makes of an error of the blob store what clients are told.
func told(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, blob.ErrFull):
		return problem.Wrap(err, problem.Full, "there is no room left for the files")
	case errors.Is(err, blob.ErrUnavailable):
		p := problem.Wrap(err, problem.Unavailable, "the storage of files cannot be reached")
		p.RetryAfter = 5 * time.Second
		return p
	}
	return err
}

func unknown() error {
	return problem.New(problem.NotFound, "Submission not found").WithCode("submission_unknown")
}

// get reads a submission and notes who did, and why.
func (s *Service) get(ctx context.Context, id, what string) (*Submission, error) {
	who, err := auth.Require(ctx)
	if err != nil {
		return nil, err
	}
	sub, err := s.store.one(ctx, id, s.now())
	if err == nil && sub == nil {
		err = unknown()
	}
	if err != nil {
		return nil, err
	}
	return sub, s.note(ctx, who, sub.ID, what)
}

// note writes down who read a submission.
func (s *Service) note(ctx context.Context, who *auth.Identity, id, what string) error {
	return s.store.db.InTx(ctx, func(ctx context.Context) error {
		if _, err := s.store.db.Exec(ctx, insertAccess, id, who.Username, what, remote(ctx), db.Micros(s.now())); err != nil {
			return err
		}
		return s.bus.EmitAdmin(ctx, "form.access", "form:"+id, map[string]any{"submission": id, "what": what, "actor": who.Username})
	})
}

// Get answers a submission as JSON. template is the address of a file, in which
// {SUBMISSION_ID} and {FILE_ID} are replaced; empty leaves the addresses out.
// property is the path of the one value that is asked for; empty asks for all.
func (s *Service) Get(ctx context.Context, id, property, template string) ([]byte, error) {
	var steps []string
	if property != "" {
		var err error
		if steps, err = parsePath(property); err != nil {
			return nil, err
		}
	}
	if len(template) > maxParam {
		return nil, problem.Field(problem.Invalid, "fileUrl", "must have at most %d bytes", maxParam)
	}
	what := "read"
	if property != "" {
		what = "read " + clip(property, maxName)
	}
	sub, err := s.get(ctx, id, what)
	if err != nil {
		return nil, err
	}
	var urls []string
	if template != "" {
		for _, f := range sub.Files {
			urls = append(urls, strings.NewReplacer("{SUBMISSION_ID}", sub.ID, "{FILE_ID}", f.ID).Replace(template))
		}
	}
	whole := sub.json(urls)
	if property == "" {
		return whole, nil
	}
	out := append(rawjson.AppendString([]byte{'{'}, property), ':')
	return append(append(out, lookUp(whole, steps)...), '}'), nil
}

func clip(s string, n int) string {
	if len(s) > n {
		return strings.ToValidUTF8(s[:n], "")
	}
	return s
}

// Open gives a file of a submission; the caller closes the reader.
func (s *Service) Open(ctx context.Context, id, file string) (*File, io.ReadCloser, error) {
	sub, err := s.get(ctx, id, "file "+clip(file, maxName))
	if err != nil {
		return nil, nil, err
	}
	for _, f := range sub.Files {
		if f.ID != file {
			continue
		}
		r, err := s.blobs.Get(ctx, f.key(), 0, -1)
		if errors.Is(err, blob.ErrNotFound) {
			s.log.ErrorContext(ctx, "a file of a submission is missing in the storage", "submission", id, "file", file)
			return nil, nil, unknown()
		}
		return f, r, told(err)
	}
	return nil, nil, unknown()
}

// Access is one reading of a submission.
type Access struct {
	Username string `json:"username"`
	What     string `json:"what"`
	Address  string `json:"address"`
	At       string `json:"at"`
}

// Accesses lists who read a submission, also one that is no more.
func (s *Service) Accesses(ctx context.Context, id string) ([]Access, error) {
	if err := crm(ctx); err != nil {
		return nil, err
	}
	rows, err := s.store.db.Query(ctx, accessOf, id)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := []Access{}
	for rows.Next() {
		var a Access
		var at int64
		if err := rows.Scan(&a.Username, &a.What, &a.Address, &at); err != nil {
			return nil, err
		}
		a.At = date(db.Time(at))
		all = append(all, a)
	}
	return all, rows.Err()
}

// crm demands ROLE_FORM_CRM, or ROLE_ADMIN.
func crm(ctx context.Context) error {
	who, err := auth.Require(ctx)
	if err == nil && !who.HasAny(auth.RoleFormCRM, auth.RoleAdmin) {
		err = problem.New(problem.Forbidden, "this needs %s", auth.RoleFormCRM)
	}
	return err
}
