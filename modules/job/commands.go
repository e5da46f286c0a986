package job

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/quoin-cms/quoin/core/auth"
	"github.com/quoin-cms/quoin/core/module"
	"github.com/quoin-cms/quoin/core/work"
)

// commands are the commands that manage jobs; those of schedules are in
// commands_schedule.go, those of the server in commands_server.go.
func commands() []module.Command {
	one := [2]int{1, 1}
	list := []module.Command{
		module.Cmd(module.Command{
			Use: "job list", Short: "List the newest jobs", Local: true,
			Flags: []module.Flag{
				{Name: "state", Default: "", Doc: "only those that are waiting, running, done, failed or cancelled"},
				{Name: "tag", Default: "", Doc: "only those with the tag"},
				{Name: "limit", Default: 50, Doc: "how many"},
			},
		}, runList),
		module.Cmd(module.Command{Use: "job show JOB", Short: "Show a job", Args: one, Local: true}, runShow),
		module.Cmd(module.Command{
			Use: "job output JOB", Short: "Print what a job wrote", Args: one, Local: true,
			Flags: []module.Flag{{Name: "follow", Default: false, Doc: "go on until the job is over"}},
		}, runOutput),
		module.Cmd(module.Command{
			Use: "job create COMMAND", Short: "Create a job", Args: one, Local: true,
			Long: "COMMAND is one argument: put it in quotes, as in quoin job create --user admin 'environment rebuild live'. It begins at once, in a running server or worker. " +
				"With --tag it is for workers outside, and means nothing here.",
			Flags: []module.Flag{
				{Name: "user", Default: "", Doc: "the account that it belongs to, and with whose rights it runs"},
				{Name: "tag", Default: "", Doc: "the tag that workers outside ask for"},
				{Name: "retries", Default: 0, Doc: "how often it is tried again after it failed"},
				{Name: "lost", Default: "", Doc: "requeue or fail: what becomes of it when its worker falls silent; the configured one when empty"},
			},
		}, runCreate),
		module.Cmd(module.Command{Use: "job cancel JOB", Short: "Cancel a job", Args: one, Local: true}, runChange("cancelled", (*Service).Cancel)),
		module.Cmd(module.Command{Use: "job retry JOB", Short: "Begin a job anew that is over", Args: one, Local: true}, runChange("waiting again", (*Service).Retry)),
	}
	return append(append(list, scheduleCommands()...), serverCommands()...)
}

// advise says an error as people read it, with what to do next.
func advise(err error) error {
	err = module.Advise(err, map[string]string{"unknown_job": "`quoin job list` shows those there are"})
	if rest, found := strings.CutPrefix(err.Error(), "command: "); found {
		return errors.New(rest)
	}
	return err
}

func runList(ctx context.Context, s *Service, call *module.Call) error {
	limit, _ := call.Flags("limit").(int)
	jobs, err := s.store.list(ctx, call.String("state"), call.String("tag"), max(1, limit))
	if err != nil {
		return err
	}
	views, rows := []jobView{}, [][]string{}
	for _, j := range jobs {
		views = append(views, j.view(nil))
		rows = append(rows, []string{strconv.FormatInt(j.ID, 10), string(j.State), j.Tag, j.User, atom(j.Created), fmt.Sprint(j.Attempt), short(j.Command)})
	}
	return call.Table(views, []string{"job", "state", "tag", "user", "created", "attempt", "command"}, rows)
}

// short cuts a command for a table.
func short(s string) string {
	const most = 80
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

func runShow(ctx context.Context, s *Service, call *module.Call) error {
	j, err := s.named(ctx, call.Args[0])
	if err != nil {
		return advise(err)
	}
	exit := "unknown"
	if j.ExitCode != nil {
		exit = strconv.FormatInt(*j.ExitCode, 10)
	}
	return call.Table(j.view(nil), []string{"field", "value"}, [][]string{
		{"job", call.Args[0]}, {"command", j.Command}, {"tag", j.Tag}, {"user", j.User}, {"schedule", j.Schedule}, {"state", string(j.State)}, {"status", j.Status},
		{"attempt", fmt.Sprint(j.Attempt)}, {"created", atom(j.Created)}, {"begun", orNever(j.Started)}, {"over", orNever(j.Finished)}, {"exit code", exit},
		{"output", fmt.Sprintf("%d bytes", j.Size)},
	})
}

func orNever(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return atom(t)
}

// named gives the job with a number that somebody wrote.
func (s *Service) named(ctx context.Context, text string) (*Job, error) {
	id, err := parseID(text)
	if err != nil {
		return nil, err
	}
	return s.store.job(ctx, id)
}

func runOutput(ctx context.Context, s *Service, call *module.Call) error {
	id, err := parseID(call.Args[0])
	if err != nil {
		return advise(err)
	}
	ctx = module.Operator(ctx)
	for from := int64(0); ; {
		p, err := s.piece(ctx, id, from)
		if err != nil {
			return advise(err)
		}
		if _, err := io.WriteString(call.Out, p.Output); err != nil {
			return err
		}
		switch from = p.Next; {
		case p.Over || p.Output == "" && !call.Bool("follow"):
			return nil
		case p.Output == "":
			work.Pause(ctx, time.Second)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

func runCreate(ctx context.Context, s *Service, call *module.Call) error {
	user := call.String("user")
	if user == "" || s.people == nil {
		return errors.New("whose job is it? Name an account with --user")
	}
	who, err := s.people.Identity(ctx, user)
	if err != nil {
		return advise(err)
	}
	retries, _ := call.Flags("retries").(int)
	j, err := s.Create(auth.With(ctx, who), Order{Command: call.Args[0], Tag: call.String("tag"), Retries: retries, Lost: call.String("lost")})
	if err == nil && j.Tag == "" {
		_, _, err = s.begun(auth.With(ctx, who), j.ID)
	}
	if err != nil {
		return advise(err)
	}
	if call.JSON {
		return call.Table(j.view(nil), nil, nil)
	}
	next := "It begins at once where a server or `quoin worker` runs, and else waits for one"
	if j.Tag != "" {
		next = "It waits for a worker outside that asks for the tag " + j.Tag
	}
	_, err = fmt.Fprintf(call.Out, "Created the job %d. %s; `quoin job show %d` tells how it stands.\n", j.ID, next, j.ID)
	return err
}

func runChange(said string, change func(*Service, context.Context, int64) (*Job, error)) func(context.Context, *Service, *module.Call) error {
	return func(ctx context.Context, s *Service, call *module.Call) error {
		id, err := parseID(call.Args[0])
		if err != nil {
			return advise(err)
		}
		j, err := change(s, module.Operator(ctx), id)
		if err != nil {
			return advise(err)
		}
		if call.JSON {
			return call.Table(j.view(nil), nil, nil)
		}
		what := said
		if j.State == Running {
			what = "told to end"
		}
		_, err = fmt.Fprintf(call.Out, "The job %d is %s.\n", id, what)
		return err
	}
}
