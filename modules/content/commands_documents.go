package content

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/module"
	"github.com/quoin-cms/quoin/core/port"
	"github.com/quoin-cms/quoin/core/problem"
)

// documentCommands treat documents and drafts; those of content types are in
// commands_types.go.
func documentCommands() []module.Command {
	query := module.Flag{Name: "query", Default: "", Doc: "only documents that match this query in the default environment (JSON, as in a search)"}
	dry := module.Flag{Name: "dry-run", Default: false, Doc: "only say what would be done"}
	return []module.Command{
		module.Cmd(module.Command{
			Use: "revision delete TYPE...", Short: "Put documents into the trash, or remove their old revisions", Args: [2]int{1, -1}, Aliases: []string{"emsco:revision:delete"},
			Long: "Every document of the content types (all for every type), or those of --ouuid or --query. With --mode oldest the documents stay, and of their history only what is final, newest or published.",
			Flags: []module.Flag{
				{Name: "mode", Default: "all", Doc: "all, by-query or oldest"}, query, dry,
				{Name: "ouuid", Default: []string{}, Doc: "only this document; may be repeated"},
			},
		}, runDelete),
		module.Cmd(module.Command{
			Use: "revision archive TYPE", Short: "Put documents into the trash that have not been modified for long", Args: [2]int{1, 1}, Aliases: []string{"emsco:revision:archive"},
			Flags: []module.Flag{
				{Name: "modified-before", Default: "", Doc: "a day or time such as 2026-05-04 or 2026-05-04T10:00:00Z; needed"}, dry,
				{Name: "search-query", Default: "", Doc: query.Doc},
			},
		}, runArchive),
		module.Cmd(module.Command{
			Use: "revision discard-drafts [TYPE...]", Short: "Throw drafts away that nobody works on", Args: [2]int{0, -1}, Aliases: []string{"emsco:revision:discard-draft"},
			Flags: []module.Flag{
				{Name: "older", Default: 5 * time.Minute, Doc: "only those that were not written for so long"}, dry,
				{Name: "force", Default: false, Doc: "also those that are locked by somebody"},
			},
		}, runDiscard),
		module.Cmd(module.Command{
			Use: "revision unlock [USER] [TYPE]", Short: "Take the locks of drafts away", Args: [2]int{0, 2}, Aliases: []string{"ems:revisions:unlock"},
			Flags: []module.Flag{
				{Name: "all", Default: false, Doc: "those of every user"},
				{Name: "strict", Default: false, Doc: "fail when there is no lock"},
			},
		}, runUnlock),
	}
}

// typesNamed gives the content types of the names; "all" is every one.
func (s *Service) typesNamed(ctx context.Context, names []string) ([]*contentType, error) {
	cat, err := s.types.get(ctx)
	if err != nil {
		return nil, err
	}
	var list []*contentType
	for _, ct := range cat.sortedTypes {
		if ct.usable() && (slices.Contains(names, ct.Name) || slices.Contains(names, "all")) {
			list = append(list, ct)
		}
	}
	for _, name := range names {
		if name != "all" && !slices.ContainsFunc(list, func(ct *contentType) bool { return ct.Name == name }) {
			return nil, problem.New(problem.NotFound, "there is no content type %q", name).WithCode("unknown_content_type")
		}
	}
	return list, nil
}

// documents hands out the ouuids of a content type: all of them, or those that
// match a query in an environment.
func (s *Service) documents(ctx context.Context, ct *contentType, in *environment, query string, fn func(ouuid string) error) error {
	if query == "" {
		for after := ""; ; {
			page, err := s.store.ouuids(ctx, ct.id, after)
			if err != nil || len(page) == 0 {
				return err
			}
			for _, ouuid := range page {
				if err := errors.Join(ctx.Err(), fn(ouuid)); err != nil {
					return err
				}
			}
			after = page[len(page)-1]
		}
	}
	if s.find == nil {
		return problem.New(problem.Invalid, "documents cannot be chosen by a query: the module search is switched off")
	}
	if !json.Valid([]byte(query)) {
		return errors.New("the query is not JSON: give one such as '{\"term\":{\"category\":\"a\"}}'")
	}
	var found []string
	err := s.find.Find(ctx, in.name, []byte(query), func(k port.Key) {
		if k.Type == ct.Name {
			found = append(found, k.OUUID)
		}
	})
	for _, ouuid := range found {
		if err != nil {
			break
		}
		err = errors.Join(ctx.Err(), fn(ouuid))
	}
	return err
}

// tally counts what became of documents; what fails does not hold up the rest.
type tally struct {
	Changed  int      `json:"changed"`
	Skipped  int      `json:"skipped"`
	Failed   int      `json:"failed"`
	Failures []string `json:"failures,omitempty"` // the first of them
}

func (t *tally) count(what string, err error) {
	if err == nil {
		t.Changed++
		return
	}
	if t.Failed++; len(t.Failures) < toldFailures {
		t.Failures = append(t.Failures, fmt.Sprintf("%s: %v", what, advise(err)))
	}
}

func (t *tally) report(call *module.Call, done string) error {
	if call.Bool("dry-run") {
		done = "would be " + done
	}
	if call.JSON {
		if err := call.Table(t, nil, nil); err != nil {
			return err
		}
	} else {
		_, _ = fmt.Fprintf(call.Out, "%d %s, %d left alone.\n", t.Changed, done, t.Skipped)
		for _, f := range t.Failures {
			_, _ = fmt.Fprintf(call.Out, "failed: %s\n", f)
		}
	}
	if t.Failed > 0 {
		return fmt.Errorf("%d failed", t.Failed)
	}
	return nil
}

func runDelete(ctx context.Context, s *Service, call *module.Call) error {
	ctx = module.Operator(ctx)
	mode, query, ouuids := call.String("mode"), call.String("query"), call.Strings("ouuid")
	switch {
	case mode != "all" && mode != "by-query" && mode != "oldest":
		return errors.New("--mode must be all, by-query or oldest")
	case mode == "by-query" && query == "":
		return errors.New("--mode by-query needs --query")
	}
	types, err := s.typesNamed(ctx, call.Args)
	if err != nil {
		return advise(err)
	}
	t, done := &tally{}, "documents put into the trash"
	if mode == "oldest" {
		done = "documents rid of old revisions"
	}
	for _, ct := range types {
		one := func(ouuid string) error {
			switch {
			case call.Bool("dry-run"):
				t.Changed++
			case mode == "oldest":
				if err := ct.rights.Check(ctx, auth.Delete); err != nil {
					return err
				}
				n, err := s.store.prune(ctx, ct.id, ouuid)
				if n == 0 && err == nil {
					t.Skipped++
					return nil
				}
				t.count(ouuid, err)
			default:
				_, err := s.Delete(ctx, ct.Name, ouuid, "", false)
				t.count(ct.Name+":"+ouuid, err)
			}
			return nil
		}
		if len(ouuids) == 0 {
			err = s.documents(ctx, ct, ct.env, query, one)
		}
		for _, ouuid := range ouuids {
			err = errors.Join(err, one(ouuid))
		}
		if err != nil {
			return advise(err)
		}
	}
	return t.report(call, done)
}

func runArchive(ctx context.Context, s *Service, call *module.Call) error {
	ctx = module.Operator(ctx)
	before, err := time.Parse(time.RFC3339, call.String("modified-before"))
	if err != nil {
		if before, err = time.Parse(time.DateOnly, call.String("modified-before")); err != nil {
			return errors.New("--modified-before needs a day such as 2026-05-04 or a time such as 2026-05-04T10:00:00Z")
		}
	}
	types, err := s.typesNamed(ctx, call.Args)
	if err != nil {
		return advise(err)
	}
	t := &tally{}
	for _, ct := range types {
		err := s.documents(ctx, ct, ct.env, call.String("search-query"), func(ouuid string) error {
			head, err := s.store.newest(ctx, ct.id, ouuid)
			switch {
			case err != nil:
				return err
			case head == nil || head.Deleted || max(head.CreatedAt, head.FinalizedAt) >= before.UnixMicro():
				t.Skipped++
				return nil
			case !call.Bool("dry-run"):
				_, err = s.Delete(ctx, ct.Name, ouuid, head.etag(), false)
			}
			if problem.Is(err, problem.PreconditionFailed) { // it has just been modified
				t.Skipped++
				return nil
			}
			t.count(ct.Name+":"+ouuid, err)
			return nil
		})
		if err != nil {
			return advise(err)
		}
	}
	return t.report(call, "documents put into the trash")
}

func runDiscard(ctx context.Context, s *Service, call *module.Call) error {
	ctx = module.Operator(ctx)
	names := call.Args
	if len(names) == 0 {
		names = []string{"all"}
	}
	types, err := s.typesNamed(ctx, names)
	if err != nil {
		return advise(err)
	}
	older, _ := call.Flags("older").(time.Duration)
	drafts, err := s.store.list(ctx, listDrafts)
	if err != nil {
		return err
	}
	t := &tally{}
	for _, r := range drafts {
		i := slices.IndexFunc(types, func(ct *contentType) bool { return ct.id == r.TypeID })
		if i < 0 || r.CreatedAt > s.now().Add(-max(older, -older)).UnixMicro() || r.LockUntil > s.now().UnixMicro() && r.LockBy != "" && !call.Bool("force") {
			t.Skipped++
			continue
		}
		if !call.Bool("dry-run") {
			if call.Bool("force") {
				if _, err := s.store.unlock(ctx, r.LockBy, r.TypeID, r.ID); err != nil {
					return err
				}
			}
			_, err = s.discard(ctx, types[i].Name, r.ID, r.etag())
		}
		if problem.Is(err, problem.PreconditionFailed) || problem.Is(err, problem.NotFound) { // somebody works on it, or did away with it
			t.Skipped++
			continue
		}
		t.count(types[i].Name+":"+r.OUUID, err)
	}
	return t.report(call, "drafts thrown away")
}

func runUnlock(ctx context.Context, s *Service, call *module.Call) error {
	ctx = module.Operator(ctx)
	args, user := call.Args, ""
	if !call.Bool("all") {
		if len(args) == 0 || args[0] == "" {
			return errors.New("whose locks? Name a user, or give --all")
		}
		user, args = args[0], args[1:]
	}
	var typeID int64
	if len(args) > 0 {
		types, err := s.typesNamed(ctx, args[:1])
		if err != nil {
			return advise(err)
		}
		if args[0] != "all" {
			typeID = types[0].id
		}
	}
	n, err := s.store.unlock(ctx, user, typeID, 0)
	if err != nil {
		return err
	}
	if err := (&tally{Changed: int(n)}).report(call, "drafts unlocked"); err != nil {
		return err
	}
	if n == 0 && call.Bool("strict") {
		return errors.New("there was no lock")
	}
	return nil
}
