package content

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/module"
	"github.com/quoin-cms/quoin/core/problem"
	"github.com/quoin-cms/quoin/core/rawjson"
)

// typeCommands treat content types with all their documents.
func typeCommands() []module.Command {
	ignored := func(names ...string) (flags []module.Flag) {
		for _, name := range names {
			flags = append(flags, module.Ignored(name, false))
		}
		return flags
	}
	ouuid := module.Flag{Name: "ouuid", Default: []string{}, Doc: "only this document; may be repeated"}
	return []module.Command{
		module.Cmd(module.Command{
			Use: "content-type recompute TYPE", Short: "Write documents anew, as their content type is now", Args: [2]int{1, 1}, Aliases: []string{"ems:contenttype:recompute"},
			Long:  "Stores and finalizes every document again: defaults are filled in and the data is checked against the content type as it is now. What does not fit is reported and stays as it was. Documents with a draft are left alone.",
			Flags: append([]module.Flag{ouuid, {Name: "query", Default: "", Doc: "only documents that match this query (JSON, as in a search)"}}, ignored("changed", "force", "missing", "continue", "no-align", "cron", "deep")...),
		}, runRecompute),
		module.Cmd(module.Command{
			Use: "content-type list", Short: "List the content types",
			Flags: []module.Flag{{Name: "all", Default: false, Doc: "also those that were deleted"}},
		}, runListTypes),
		module.Cmd(module.Command{
			Use: "content-type export TYPE [FORMAT] [QUERY]", Short: "Print the published documents of a content type, one JSON object per line", Args: [2]int{1, 3}, Aliases: []string{"emsco:contenttype:export"},
			Long: "Each line is an object with ouuid and data: the revision that is published in the default environment of the type, whatever draft there is behind it. FORMAT is json, the only one. QUERY is JSON, as in a search.",
			Flags: append([]module.Flag{
				{Name: "environment", Default: "", Doc: "what is published in another environment"},
				{Name: "drafts", Default: false, Doc: "the newest revision of every document instead, published or not, drafts too"},
			}, ignored("withBusinessId")...),
		}, runExport),
		module.Cmd(module.Command{
			Use: "content-type import TYPE ARCHIVE", Short: "Import documents from a zip of JSON files", Args: [2]int{2, 2}, Local: true, Aliases: []string{"ems:contenttype:import"},
			Long:  "Each file NAME.json in the archive becomes the document NAME, or replaces it.",
			Flags: append([]module.Flag{module.Ignored("bulk-size", 0)}, ignored("raw", "force")...),
		}, runImport),
		module.Cmd(module.Command{
			Use: "content-type activate [NAME...]", Short: "Activate content types", Args: [2]int{0, -1}, Aliases: []string{"ems:contenttype:activate"},
			Flags: append([]module.Flag{{Name: "all", Default: false, Doc: "every content type"}, {Name: "deactivate", Default: false, Doc: "deactivate them: their documents are kept, but cannot be read"}}, ignored("force")...),
		}, runActivate),
	}
}

func runRecompute(ctx context.Context, s *Service, call *module.Call) error {
	ctx = module.Operator(ctx)
	types, err := s.typesNamed(ctx, call.Args)
	if err != nil {
		return advise(err)
	}
	t := &tally{}
	for _, ct := range types {
		one := func(ouuid string) error {
			there, err := s.recompute(ctx, ct, ouuid)
			if !there {
				t.Skipped++
				return err
			}
			if t.count(ct.Name+":"+ouuid, err); t.Changed%1000 == 0 {
				call.Tell("%d documents so far", t.Changed)
			}
			return nil
		}
		if ouuids := call.Strings("ouuid"); len(ouuids) > 0 {
			for _, ouuid := range ouuids {
				err = errors.Join(err, one(ouuid))
			}
		} else {
			err = s.documents(ctx, ct, ct.env, call.String("query"), one)
		}
		if err != nil {
			return advise(err)
		}
	}
	return t.report(call, "documents written anew")
}

// recompute writes a document anew, as it is at the moment of writing: what
// somebody else writes meanwhile must not be undone. there is false for one
// without a finalized newest revision, and when the database cannot tell.
func (s *Service) recompute(ctx context.Context, ct *contentType, ouuid string) (there bool, err error) {
	for range attempts {
		head, err := s.store.newest(ctx, ct.id, ouuid)
		if err != nil || head == nil || head.Deleted || head.Draft {
			return false, err
		}
		_, err = s.Index(ctx, Write{Type: ct.Name, OUUID: ouuid, Raw: withoutSystem(head.Raw), IfMatch: head.etag(), strict: true})
		if !problem.Is(err, problem.PreconditionFailed) {
			return true, err
		}
	}
	return true, errChanged
}

func runImport(ctx context.Context, s *Service, call *module.Call) (err error) {
	ctx = module.Operator(ctx)
	archive, err := zip.OpenReader(call.Args[1])
	if err != nil {
		return fmt.Errorf("read the archive: %w", err)
	}
	defer func() { err = errors.Join(err, archive.Close()) }()
	t := &tally{}
	for _, f := range archive.File {
		name, yes := strings.CutSuffix(path.Base(f.Name), ".json")
		if !yes || name == "" || f.FileInfo().IsDir() {
			t.Skipped++
			continue
		}
		raw, err := s.entry(f)
		if err == nil && len(raw) == 0 { // {} is a document, no text at all is a damaged file
			err = errors.New("the file is empty")
		}
		if err == nil {
			_, err = s.Index(ctx, Write{Type: call.Args[0], OUUID: name, Raw: raw, strict: true})
		}
		t.count(f.Name, err)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return t.report(call, "documents imported")
}

// entry reads one file of an archive, as far as a document may be long.
func (s *Service) entry(f *zip.File) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(r, int64(s.cfg.MaxDocument)+1))
	return raw, errors.Join(err, r.Close())
}

func runActivate(ctx context.Context, s *Service, call *module.Call) error {
	ctx = module.Operator(ctx)
	if !auth.From(ctx).Has(auth.RoleAdmin) {
		return errors.New("content types are changed by administrators")
	}
	names := call.Args
	if call.Bool("all") {
		var err error
		if names, err = s.store.entityNames(ctx, kindContentType); err != nil {
			return err
		}
	}
	if len(names) == 0 {
		return errors.New("which content types? Name them, or give --all")
	}
	active, done := []byte("true"), "content types activated"
	if call.Bool("deactivate") {
		active, done = []byte("false"), "content types deactivated"
	}
	t := &tally{}
	for _, name := range names {
		x, err := s.store.entity(ctx, kindContentType, name)
		if err != nil {
			return err
		}
		if x == nil {
			t.count(name, errors.New("there is no such content type"))
			continue
		}
		p, _ := rawjson.Get(x.Export, "properties")
		if old, _ := rawjson.Get(p, "active"); string(old) == string(active) {
			t.Skipped++
			continue
		}
		t.count(name, s.put(ctx, kindContentType, rawjson.Set(nil, x.Export, "properties", rawjson.Set(nil, p, "active", active))))
	}
	return t.report(call, done)
}
