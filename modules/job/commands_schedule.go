package job

import (
	"context"
	"errors"
	"fmt"

	"github.com/quoin-cms/quoin/core/module"
)

func scheduleCommands() []module.Command {
	one := [2]int{1, 1}
	return []module.Command{
		module.Cmd(module.Command{Use: "schedule list", Short: "List the schedules with their next runs"}, runSchedules),
		module.Cmd(module.Command{Use: "schedule run NAME", Short: "Make a job of a schedule now", Args: one}, runScheduleNow),
		module.Cmd(module.Command{
			Use: "schedule put NAME CRON COMMAND", Short: "Create or change a schedule", Args: [2]int{3, 3}, Local: true,
			Long: "CRON has five fields, as in '0 3 * * 1'. A run that is due while an earlier one is not over is left out; --overlap queue runs it afterwards, --overlap allow at the same time.",
			Flags: []module.Flag{
				{Name: "user", Default: "", Doc: "the account that its jobs belong to, and with whose rights they run"},
				{Name: "tag", Default: "", Doc: "the tag that workers outside ask for"},
				{Name: "timezone", Default: "UTC", Doc: "time zone of the cron expression, such as Europe/Brussels"},
				{Name: "overlap", Default: overlapSkip, Doc: "skip, queue or allow"},
			},
		}, runSchedulePut),
		module.Cmd(module.Command{Use: "schedule remove NAME", Short: "Remove a schedule", Args: one, Local: true}, runScheduleRemove),
	}
}

func runSchedules(ctx context.Context, s *Service, call *module.Call) error {
	views, err := s.scheduleViews(ctx)
	if err != nil {
		return err
	}
	rows := [][]string{}
	for _, v := range views {
		previous := "never"
		if v.Previous != nil {
			previous = *v.Previous
		}
		next := v.Next
		if v.Problem != "" {
			next = "none: " + v.Problem
		}
		rows = append(rows, []string{v.Name, v.Cron, v.Zone, next, previous, v.Overlap, v.Tag, v.User, short(v.Command)})
	}
	return call.Table(views, []string{"name", "cron", "time zone", "next run", "previous run", "overlap", "tag", "user", "command"}, rows)
}

func runScheduleNow(ctx context.Context, s *Service, call *module.Call) error {
	j, err := s.RunSchedule(ctx, call.Args[0])
	if err != nil {
		return advise(err)
	}
	if call.JSON {
		return call.Table(j.view(nil), nil, nil)
	}
	_, err = fmt.Fprintf(call.Out, "Created the job %d.\n", j.ID)
	return err
}

func runSchedulePut(ctx context.Context, s *Service, call *module.Call) error {
	user := call.String("user")
	if user == "" || s.people == nil {
		return errors.New("whose jobs are they? Name an account with --user")
	}
	who, err := s.people.Identity(ctx, user)
	if err != nil {
		return advise(err)
	}
	if _, err := s.draft(Order{Command: call.Args[2], Tag: call.String("tag")}, who); err != nil {
		return advise(err)
	}
	export, err := exportOf(call.Args[0], call.Args[1], call.String("timezone"), call.Args[2], call.String("tag"), call.String("overlap"))
	if err != nil {
		return err
	}
	x, err := parseSchedule(export)
	if err != nil {
		return advise(err)
	}
	if err := s.SaveSchedule(module.Operator(ctx), x, who); err != nil {
		return advise(err)
	}
	if call.JSON {
		return call.Table(x.view(), nil, nil)
	}
	_, err = fmt.Fprintf(call.Out, "The schedule %s runs next at %s.\n", x.Name, atom(x.Next))
	return err
}

func runScheduleRemove(ctx context.Context, s *Service, call *module.Call) error {
	if _, err := s.RemoveSchedule(module.Operator(ctx), call.Args[0]); err != nil {
		return advise(err)
	}
	_, err := fmt.Fprintf(call.Out, "Removed the schedule %s.\n", call.Args[0])
	return err
}
