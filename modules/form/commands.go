package form

import (
	"context"
	"strconv"

	"github.com/quoin-cms/quoin/core/module"
)

// commands are those of the command line.
func commands() []module.Command {
	filter := []module.Flag{
		{Name: "form", Default: "", Doc: "only of the form with this name"},
		{Name: "instance", Default: "", Doc: "only of this instance"},
	}
	one := [2]int{1, 1}
	return []module.Command{
		module.Cmd(module.Command{
			Use: "forms expire", Short: "Remove the submissions and codes that have expired", Aliases: []string{"ems:submissions:remove-expired"},
			Long: "Removes what has expired, rows and files, and says how many. The server does so by itself, every hour unless configured (form.expire_every).",
		}, runExpire),
		module.Cmd(module.Command{
			Use: "forms list", Short: "List submissions", Long: "The oldest first, without what people wrote.",
			Flags: append([]module.Flag{{Name: "limit", Default: 50, Doc: "how many"}, {Name: "after", Default: 0, Doc: "go on after the last number of a list"}}, filter...),
		}, runFormsList),
		module.Cmd(module.Command{
			Use: "forms export", Local: true, Short: "Write submissions as a table to standard output", Flags: append([]module.Flag{{Name: "format", Default: "csv", Doc: "csv or xlsx"}}, filter...),
		}, runExport),
		module.Cmd(module.Command{Use: "forms access SUBMISSION", Short: "List who read a submission", Args: one}, runAccess),
		module.Cmd(module.Command{
			Use: "forms subject export VALUE", Local: true, Short: "Write every submission that holds a value, as JSON lines", Args: one,
			Long: "VALUE is an e-mail address, a name or a number: whatever somebody wrote into a field, as a whole, in any case.",
		}, runSubjectExport),
		module.Cmd(module.Command{
			Use: "forms subject erase VALUE", Short: "Remove every submission that holds a value, with its files and codes", Args: one,
			Flags: []module.Flag{{Name: "dry-run", Default: false, Doc: "only tell what would be removed"}},
		}, runSubjectErase),
	}
}

func runExpire(ctx context.Context, s *Service, call *module.Call) error {
	out, err := s.Expire(module.Operator(ctx))
	if err != nil {
		return module.Advise(err, nil)
	}
	return call.Say(out, "Removed %d submissions with %d files, and %d codes.", out.Submissions, out.Files, out.Codes)
}

// listedView is a submission in a list for people: nothing that they wrote.
type listedView struct {
	Seq       int64  `json:"number"`
	ID        string `json:"id"`
	Name      string `json:"form_name"`
	Instance  string `json:"instance"`
	Locale    string `json:"locale"`
	Created   string `json:"created"`
	Processed bool   `json:"processed"`
}

func flagFilter(call *module.Call) Filter {
	return Filter{Name: call.String("form"), Instance: call.String("instance")}
}

func runFormsList(ctx context.Context, s *Service, call *module.Call) error {
	limit, _ := call.Flags("limit").(int)
	after, _ := call.Flags("after").(int)
	page, err := s.List(module.Operator(ctx), flagFilter(call), int64(after), limit)
	if err != nil {
		return module.Advise(err, nil)
	}
	views, rows := []listedView{}, [][]string{}
	for _, sub := range page {
		v := listedView{sub.Seq, sub.ID, sub.Name, sub.Instance, sub.Locale, date(sub.CreatedAt), !sub.Processed.IsZero()}
		views = append(views, v)
		rows = append(rows, []string{strconv.FormatInt(v.Seq, 10), v.ID, v.Name, v.Instance, v.Locale, v.Created, strconv.FormatBool(v.Processed)})
	}
	return call.Table(views, []string{"NUMBER", "ID", "FORM", "INSTANCE", "LOCALE", "CREATED", "PROCESSED"}, rows)
}

func runExport(ctx context.Context, s *Service, call *module.Call) error {
	out, _, err := newSheet(call.String("format"), call.Out)
	if err != nil {
		return module.Advise(err, nil)
	}
	_, err = s.Export(module.Operator(ctx), flagFilter(call), out)
	return module.Advise(err, nil)
}

func runAccess(ctx context.Context, s *Service, call *module.Call) error {
	list, err := s.Accesses(module.Operator(ctx), call.Args[0])
	if err != nil {
		return module.Advise(err, nil)
	}
	rows := [][]string{}
	for _, a := range list {
		rows = append(rows, []string{a.At, a.Username, a.What, a.Address})
	}
	return call.Table(list, []string{"AT", "USER", "WHAT", "ADDRESS"}, rows)
}

func runSubjectExport(ctx context.Context, s *Service, call *module.Call) error {
	_, err := s.ExportSubject(module.Operator(ctx), call.Args[0], call.Out)
	return module.Advise(err, nil)
}

func runSubjectErase(ctx context.Context, s *Service, call *module.Call) error {
	out, err := s.EraseSubject(module.Operator(ctx), call.Args[0], call.Bool("dry-run"))
	if err != nil {
		return module.Advise(err, nil)
	}
	verb := "Removed"
	if out.DryRun {
		verb = "Would remove"
	}
	return call.Say(out, "%s %d submissions with %d files, and %d codes.", verb, len(out.Submissions), out.Files, out.Codes)
}
