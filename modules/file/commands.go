package file

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/quoin-cms/quoin/core/blob/place"
	"github.com/quoin-cms/quoin/core/conf"
	"github.com/quoin-cms/quoin/core/module"
)

// commands are the module's commands of the command line. They work beside a
// running server.
func commands() []module.Command {
	dry := module.Flag{Name: "dry-run", Default: false, Doc: "only report what would be done"}
	return []module.Command{
		module.Cmd(module.Command{
			Use: "files list", Short: "List the files",
		}, runList),
		module.Cmd(module.Command{
			Use: "files gc", Aliases: []string{"ems:asset:clean"}, Short: "Remove files that nothing names any more",
			Long: "Reads everything that may name a file (all revisions of all documents, drafts, the trash, the configuration) and removes the files whose hash stands nowhere, unless they were uploaded or asked for within the grace.",
			Flags: []module.Flag{
				{Name: "grace", Default: 7 * 24 * time.Hour, Doc: "how long a file is kept after it was last uploaded or asked for; longer than a client takes from its upload to the document"}, dry,
			},
		}, runCollect),
		module.Cmd(module.Command{
			Use: "files verify", Short: "Read every file and compare it with its hash",
		}, runVerify),
		module.Cmd(module.Command{
			Use: "files sync", Local: true, Short: "Copy the files to another storage, or from it",
			Long: "Copies what the other storage lacks (--to), or what this one lacks (--from), and checks every hash on the way. A folder of elasticms can be read with --from file:///folder. Run it again to go on.",
			Flags: []module.Flag{
				{Name: "to", Default: "", Doc: "address of the storage to copy to: s3://key:secret@host:9000/bucket or file:///folder"},
				{Name: "from", Default: "", Doc: "address of the storage to copy from"},
				{Name: "parallel", Default: 4, Doc: "files copied at the same time"}, dry,
			},
		}, runSync),
		module.Cmd(module.Command{
			Use: "files hide HASH", Short: "Serve a file to signed-in users only", Args: [2]int{1, 1},
			Flags: []module.Flag{{Name: "undo", Default: false, Doc: "serve it to the public again"}},
		}, runHide),
	}
}

// size writes a number of bytes for people.
func size(n int64) string {
	for _, u := range []struct {
		name string
		size conf.Bytes
	}{{"GiB", conf.GiB}, {"MiB", conf.MiB}, {"KiB", conf.KiB}} {
		if n >= int64(u.size) {
			return strconv.FormatFloat(float64(n)/float64(u.size), 'f', 1, 64) + " " + u.name
		}
	}
	return strconv.FormatInt(n, 10) + " B"
}

func runList(ctx context.Context, s *Service, call *module.Call) error {
	list, rows := []*Info{}, [][]string{}
	err := s.store.every(ctx, func(o *object) error {
		list = append(list, o.info())
		rows = append(rows, []string{o.Hash, size(o.Size), o.Type, o.Name, strconv.FormatInt(o.Uploads, 10), date(o.LastSeen).Date[:19], map[bool]string{true: "hidden"}[o.Hidden]})
		return nil
	})
	if err != nil {
		return err
	}
	return call.Table(list, []string{"HASH", "SIZE", "TYPE", "NAME", "UPLOADS", "LAST SEEN", ""}, rows)
}

func runCollect(ctx context.Context, s *Service, call *module.Call) error {
	grace, _ := call.Flags("grace").(time.Duration)
	if grace < 0 {
		return errors.New("--grace must not be negative")
	}
	dry := call.Bool("dry-run")
	r, err := s.Collect(ctx, grace, dry)
	if err != nil {
		return module.Advise(err, nil)
	}
	verb := map[bool]string{true: "would be removed", false: "removed"}[dry]
	if !call.JSON {
		for _, h := range r.Hashes {
			if _, err := fmt.Fprintln(call.Out, h); err != nil {
				return err
			}
		}
	}
	return call.Say(r, "%d files: %d are named somewhere, %d are too young, %d %s (%s). %d leftovers of crashes %s (%s).",
		r.Files, r.Referred, r.Young, r.Removed, verb, size(r.RemovedBytes), r.Orphans, verb, size(r.OrphanBytes))
}

// every calls fn at most once in a while.
func every(d time.Duration, fn func()) func() {
	last := time.Now()
	return func() {
		if now := time.Now(); now.Sub(last) >= d {
			last = now
			fn()
		}
	}
}

func runVerify(ctx context.Context, s *Service, call *module.Call) error {
	total, bytes, err := s.store.count(ctx)
	if err != nil {
		return err
	}
	var now *Verified
	tell := every(2*time.Second, func() {
		if !call.JSON {
			_, _ = fmt.Fprintf(call.Out, "%d of %d files, %s of %s, %d faults\n", now.Files, total, size(now.Bytes), size(bytes), len(now.Faults))
		}
	})
	v, err := s.Verify(ctx, func(v *Verified) { now = v; tell() })
	if err != nil {
		return err
	}
	if err := faults(call, v.Faults); err != nil {
		return err
	}
	if err := call.Say(v, "%d files, %s: %d faults.", v.Files, size(v.Bytes), len(v.Faults)); err != nil {
		return err
	}
	if len(v.Faults) > 0 {
		return fmt.Errorf("%d files are damaged: upload them again with POST /api/file/upload, or copy them from a backup with `quoin files sync --from`; remove the bytes of those that have other bytes from the storage before", len(v.Faults))
	}
	return nil
}

func faults(call *module.Call, list []Fault) error {
	if call.JSON {
		return nil
	}
	for _, f := range list {
		if _, err := fmt.Fprintf(call.Out, "%s %s %s\n", f.Hash, f.What, f.Name); err != nil {
			return err
		}
	}
	return nil
}

func runSync(ctx context.Context, s *Service, call *module.Call) error {
	from, to := call.String("from"), call.String("to")
	if (from == "") == (to == "") {
		return errors.New("give either --to or --from")
	}
	other, err := place.Open(from+to, 0)
	if err != nil {
		return err
	}
	parallel, _ := call.Flags("parallel").(int)
	var now *Synced
	tell := every(2*time.Second, func() {
		if !call.JSON {
			_, _ = fmt.Fprintf(call.Out, "%d files copied, %s; %d were there\n", now.Copied, size(now.Bytes), now.There)
		}
	})
	r, err := s.Sync(ctx, Syncing{Other: other, From: from != "", DryRun: call.Bool("dry-run"), Parallel: min(parallel, 64), Progress: func(r *Synced) { now = r; tell() }})
	if err != nil {
		return err
	}
	if err := faults(call, r.Faults); err != nil {
		return err
	}
	if err := call.Say(r, "%d files copied, %s; %d were there, %d are new here, %d faults.", r.Copied, size(r.Bytes), r.There, r.Added, len(r.Faults)); err != nil {
		return err
	}
	if len(r.Faults) > 0 {
		return fmt.Errorf("%d files were not copied: they are damaged", len(r.Faults))
	}
	return nil
}

func runHide(ctx context.Context, s *Service, call *module.Call) error {
	hash, err := canonical(call.Args[0])
	if err != nil {
		return err
	}
	hidden := !call.Bool("undo")
	there, err := s.store.hide(ctx, hash, hidden)
	if err != nil {
		return err
	}
	if !there {
		return fmt.Errorf("there is no file %s: `quoin files list` shows the files there are", hash)
	}
	return call.Say(map[string]any{"hash": hash, "hidden": hidden}, "%s is %s the public. Caches may hold it for some time.", hash, map[bool]string{true: "hidden from", false: "served to"}[hidden])
}
