package content

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/event"
	"github.com/quoin-cms/quoin/core/module"
	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/web"
	"github.com/quoin-cms/quoin/core/work"
	"github.com/quoin-cms/quoin/modules/content/schema"
)

// Kit is the module put together for tests.
type Kit struct {
	Service    *Service
	Source     *source
	Indexes    port.Indexes
	Operations []web.Operation
	Start      func(context.Context) error
}

// KitOptions are what tests choose.
type KitOptions struct {
	DB      *db.DB
	Bus     *event.Bus
	Log     *slog.Logger
	Now     func() time.Time
	Refresh port.Refresher
	Config  *Config
}

// NewKit does what module.go does, without fx and with a clock of the test.
func NewKit(o KitOptions) (*Kit, error) {
	types := newCatalogs(o.DB, o.Log, module.Instance{ID: "test_"})
	s := newService(serviceNeeds{Config: o.Config, DB: o.DB, Types: types, Bus: o.Bus, Log: o.Log, Refresh: o.Refresh})
	s.now = o.Now
	admin, err := newAdmin(s, entities(s))
	if err != nil {
		return nil, err
	}
	b := newBootstrap(s, o.Config, module.Samples{}, &module.Welcome{})
	names := newIndexes(o.DB, types, o.Bus)
	names.now = o.Now
	return &Kit{Service: s, Source: newSource(o.DB, types), Indexes: names, Operations: moduleOperations(s, admin, module.Instance{Version: "test"}), Start: b.start}, nil
}

// Bulk runs a bulk request.
func (k *Kit) Bulk(ctx context.Context, typeName string, r io.Reader, w io.Writer) {
	(&bulk{s: k.Service, typeName: typeName}).run(ctx, r, w, func() {})
}

// Editor is the service as other modules work with it.
func (k *Kit) Editor() port.Editor { return editor{k.Service} }

// Run runs a command of the module, with the given flags and the defaults of
// the others, and gives what it printed.
func (k *Kit) Run(ctx context.Context, run func(context.Context, *Service, *module.Call) error, flags map[string]any, args ...string) (string, error) {
	var out bytes.Buffer
	err := k.RunTo(ctx, &out, run, flags, args...)
	return out.String(), err
}

// RunTo is Run that prints to out.
func (k *Kit) RunTo(ctx context.Context, out io.Writer, run func(context.Context, *Service, *module.Call) error, flags map[string]any, args ...string) error {
	return run(ctx, k.Service, &module.Call{Args: args, Out: out, Flags: func(name string) any { return flags[name] }})
}

// The commands that tests run.
var (
	RunRecompute = runRecompute
	RunArchive   = runArchive
	RunImport    = runImport
	RunUnlock    = runUnlock
	RunDiscard   = runDiscard
	RunDelete    = runDelete
	RunExport    = runExport
)

// Sources are the tables that the kit needs.
func Sources() []db.Source {
	return []db.Source{work.Migrations(), event.Migrations(), {Module: "content", Files: os.DirFS("migrations")}}
}

// Defaults are the defaults of the configuration.
func Defaults() *Config { return defaults() }

// ParseBulkLine gives whether a line of a bulk request is one.
func ParseBulkLine(text []byte) error {
	_, err := parseBulkLine(text, 64)
	return err
}

// CheckExport gives the name that an export of the kind carries.
func CheckExport(kind string, export []byte) (string, error) {
	for _, k := range kinds() {
		if k.kind == kind {
			e := configEntity{kindInfo: k}
			name, err := e.check(export)
			if err == nil {
				err = e.compiles(&catalog{forms: map[string]*schema.Field{}}, name, export)
			}
			return name, err
		}
	}
	panic("no such kind: " + kind)
}

// Kinds are the kinds of configuration entities.
func Kinds() []string {
	var names []string
	for _, k := range kinds() {
		names = append(names, k.kind)
	}
	return names
}

// Seal seals a document of a content type.
func (k *Kit) Seal(ctx context.Context, dst []byte, typeName string, clean []byte) ([]byte, error) {
	ct, err := k.Service.types.contentType(ctx, typeName)
	if err != nil {
		return nil, err
	}
	return ct.seal(dst, clean, "author", k.Service.now()), nil
}

// Answer is the answer to a read.
func (d *Document) Answer() []byte { return d.answer() }

// Compose is what an update makes of a stored document and a body.
func (k *Kit) Compose(ctx context.Context, typeName string, stored, body []byte) ([]byte, error) {
	ct, err := k.Service.types.contentType(ctx, typeName)
	if err != nil {
		return nil, err
	}
	clean, err := k.Service.body(body, true)
	if err != nil {
		return nil, err
	}
	return k.Service.compose(ctx, ct, &revision{Raw: stored}, true, ct.compiled.Stored(clean))
}
