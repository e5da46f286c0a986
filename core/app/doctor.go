package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"go.uber.org/fx"

	"github.com/quoin-cms/quoin/core/blob"
	"github.com/quoin-cms/quoin/core/blob/place"
	"github.com/quoin-cms/quoin/core/db"
	"github.com/quoin-cms/quoin/core/module"
)

const (
	// late is when work that is due has waited for too long.
	late = 5 * time.Minute
	// apart is how far the clocks of this machine and of the database may be
	// from each other: leases last some seconds.
	apart = 2 * time.Second
	// sampled is how many files of each module are looked for.
	sampled = 200
)

// Doctor looks at an installation whose configuration is right and tells what
// it finds. It changes nothing; the server may run meanwhile.
func Doctor(ctx context.Context, c *Config, o Options) []module.Finding {
	d := &doctor{config: c}
	d.say("version", module.Fine, "quoin "+o.Version, "")
	d.folder()
	if c.Unborn() { // opening it would make it
		d.say("database", module.Fail, "there is no database in "+c.Server.Data, "quoin serve makes it; if there should be one, is server.data right?")
		return d.found
	}
	a, err := Open(ctx, c, o)
	if err != nil {
		d.say("database", module.Fail, err.Error(), "see the section database of the configuration, and whether the server of the database runs")
		return d.found
	}
	defer func() { d.failed("database", a.Close()) }()
	d.database(ctx, a)
	d.replicas(ctx, a)
	if d.migrations(ctx, a) {
		d.work(ctx, a)
		d.blobs(ctx, a)
		d.modules(ctx, a)
	}
	return d.found
}

// doctor collects findings.
type doctor struct {
	config *Config
	found  []module.Finding
}

func (d *doctor) say(check string, level module.Level, says, do string) {
	d.found = append(d.found, module.Finding{Check: check, Level: level, Says: says, Do: do})
}

// failed tells that a check itself did not work, and whether that is so.
func (d *doctor) failed(check string, err error) bool {
	if err != nil {
		d.say(check, module.Fail, err.Error(), "")
	}
	return err != nil
}

// folder looks at the data folder: who may read it, whether it can be written
// to, and how much room there is.
func (d *doctor) folder() {
	const check = "data folder"
	path := d.config.Server.Data
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		d.say(check, module.Warn, path+" does not exist", "the server makes it at its first start; is server.data right?")
		return
	case err != nil:
		d.say(check, module.Fail, err.Error(), "is server.data right, and may this user look into it?")
		return
	case !info.IsDir():
		d.say(check, module.Fail, path+" is not a folder", "set server.data to a folder")
		return
	}
	if info.Mode().Perm()&0o007 != 0 {
		d.say(check, module.Warn, path+" can be read or written by everybody on this machine", "chmod o-rwx "+path)
	}
	f, err := os.CreateTemp(path, ".doctor-*")
	if err != nil {
		d.say(check, module.Fail, err.Error(), giveBack(path))
		return
	}
	d.failed(check, errors.Join(f.Close(), os.Remove(f.Name())))
	d.permissions(check, path)
	var room syscall.Statfs_t
	if d.failed(check, syscall.Statfs(path, &room)) {
		return
	}
	free := room.Bavail * uint64(room.Bsize) //nolint:gosec // both are positive
	says := fmt.Sprintf("%s, %d MiB free", path, free>>20)
	switch least := uint64(max(0, d.config.Blob.MinFree)); { //nolint:gosec // not negative
	case free < least:
		d.say(check, module.Fail, says, fmt.Sprintf("make room: below %d MiB (blob.min_free) uploads are refused", least>>20))
	case free < 4*least:
		d.say(check, module.Warn, says, "make room soon, or move files to a bucket (blob.url)")
	default:
		d.say(check, module.Fine, says, "")
	}
}

var clockOf = db.Dual(`SELECT CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)`, `SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint`)

func (d *doctor) database(ctx context.Context, a *App) {
	begin := time.Now()
	var at int64
	if d.failed("database", a.DB.Row(ctx, clockOf).Scan(&at)) {
		return
	}
	took := time.Since(begin)
	d.say("database", module.Fine, fmt.Sprintf("%s answers in %s", a.Config.StorageSummary(), took.Round(10*time.Microsecond)), "")
	if off := begin.Add(took / 2).Sub(db.Time(at)).Abs(); off > apart+took {
		d.say("clock", module.Fail, fmt.Sprintf("the clocks of this machine and of the database are %s apart", off.Round(time.Millisecond)), "run an NTP client on both machines")
		return
	}
	d.say("clock", module.Fine, "the clocks of this machine and of the database agree", "")
}

// migrations reports whether the database can be looked into.
func (d *doctor) migrations(ctx context.Context, a *App) bool {
	const check = "migrations"
	pending, err := a.DB.Pending(ctx, a.Sources())
	if d.failed(check, err) {
		return false
	}
	newer, err := a.DB.Newer(ctx, a.Sources())
	if d.failed(check, err) {
		return false
	}
	if err := a.DB.Compatible(ctx, a.Sources()); err != nil {
		d.say(check, module.Fail, err.Error(), "run the newer version: this one does not start any more")
		return false
	}
	if len(newer) > 0 {
		d.say(check, module.Warn, fmt.Sprintf("a newer version has added to the database: %s %s", newer[0].Module, newer[0].Name), "finish the upgrade: run the newer version everywhere. This one works meanwhile, but makes no backups")
	}
	if len(pending) > 0 {
		d.say(check, module.Fail, fmt.Sprintf("%d migrations are pending, the first one is %s %s", len(pending), pending[0].Module, pending[0].Name), "quoin migrate up, or start the server with database.auto_migrate")
		return false
	}
	d.say(check, module.Fine, "none is pending", "")
	return true
}

// retry says how what was given up is tried again.
func retry(table, queue string) string {
	switch table {
	case "event_delivery":
		return "quoin events buried " + queue + " tells why; after a repair, quoin events retry " + queue
	case "webhook_delivery":
		return "quoin webhook deliveries " + queue + " tells why; quoin webhook replay " + queue + " sends them again"
	}
	return "the log tells why"
}

func (d *doctor) work(ctx context.Context, a *App) {
	const check = "work"
	all, err := d.config.queues(ctx, a.DB)
	if d.failed(check, err) {
		return
	}
	bad := false
	for _, t := range all {
		for _, q := range t.Queues {
			if q.Buried > 0 {
				bad = true
				d.say(check, module.Warn, fmt.Sprintf("%s %s: %d were given up after all their attempts", t.Table, q.Queue, q.Buried), retry(t.Table, q.Queue))
			}
			if q.Lag > late {
				bad = true
				d.say(check, module.Warn, fmt.Sprintf("%s %s: the oldest of %d has been due for %s", t.Table, q.Queue, q.Pending, q.Lag.Round(time.Second)), "does the server run, and does its log tell of errors?")
			}
		}
	}
	subscribers, err := a.Bus.Stats(ctx)
	if d.failed(check, err) {
		return
	}
	for _, s := range subscribers {
		if s.Silent && s.Pending > 0 {
			bad = true
			d.say(check, module.Warn, fmt.Sprintf("nobody has served the subscriber %s for a day, and %d events wait for it", s.Name, s.Pending), "run what serves it, or give it up with its events: quoin events drop "+s.Name)
		}
	}
	if !bad {
		d.say(check, module.Fine, fmt.Sprintf("nothing is stuck in %d queues", len(all)), "")
	}
}

// blobs looks for a sample of the files that rows name.
func (d *doctor) blobs(ctx context.Context, a *App) {
	const check = "files"
	store, err := a.Blobs()
	if err != nil {
		d.say(check, module.Fail, err.Error(), "see the section blob of the configuration, and whether this user may write there")
		return
	}
	if folder := place.Folder(a.Config.Blob.URL.Reveal()); folder != "" { // server.data has been looked at
		d.permissions(check, folder)
	}
	if err := store.Check(ctx); err != nil {
		d.say(check, module.Fail, fmt.Sprintf("%s cannot be used: %v", store, err), "see the section blob of the configuration, and whether the storage runs")
		return
	}
	if !d.writable(ctx, check, store) {
		return
	}
	looked, missing, example := 0, 0, ""
	for _, s := range a.Modules {
		for _, query := range s.Blobs {
			keys, err := a.sample(ctx, query)
			if d.failed(check, err) {
				return
			}
			for _, key := range keys {
				looked++
				_, err := store.Stat(ctx, key)
				if errors.Is(err, blob.ErrNotFound) {
					missing++
					example = key
				} else if d.failed(check, err) {
					return
				}
			}
		}
	}
	if missing > 0 {
		d.say(check, module.Fail, fmt.Sprintf("%d of %d files that were looked for are not in %s, such as %s", missing, looked, store, example),
			"is blob.url right? quoin files verify names every one; a backup holds them")
		return
	}
	d.say(check, module.Fine, fmt.Sprintf("%s has the %d files that were looked for", store, looked), "")
}

func (a *App) sample(ctx context.Context, query string) ([]string, error) {
	rows, err := a.DB.Query(ctx, db.SQL("SELECT * FROM ("+query+") AS named LIMIT ?"), sampled)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var keys []string
	for rows.Next() {
		var key string
		if err := rows.Scan(&key); err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return keys, rows.Err()
}

// modules asks the modules what they find.
func (d *doctor) modules(ctx context.Context, a *App) {
	var list []module.Diagnosis
	err := fx.New(a.options, fx.Invoke(func(in module.DiagnosisList) { list = in.Diagnoses })).Err()
	if err != nil {
		d.failed("modules", rootFirst(err))
		return
	}
	slices.SortFunc(list, func(x, y module.Diagnosis) int { return cmp.Compare(x.Name, y.Name) })
	for _, x := range list {
		found, err := x.Run(ctx)
		if !d.failed(x.Name, err) {
			d.found = append(d.found, found...)
		}
	}
}
