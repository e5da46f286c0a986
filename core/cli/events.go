package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/quoin-cms/quoin/core/app"
	"github.com/quoin-cms/quoin/core/event"
)

// eventsCommand is for the night when a subscriber could not do its work.
func (e *env) eventsCommand() *cobra.Command {
	c := group("events", "Look at the event bus, and try again what was given up")
	c.AddCommand(
		&cobra.Command{Use: "status", Short: "List who waits for events, and how many", Args: cobra.NoArgs, RunE: e.onBus(e.eventStatus)},
		&cobra.Command{Use: "buried SUBSCRIBER", Short: "List the oldest hundred events that a subscriber could not handle", Args: cobra.ExactArgs(1), RunE: e.onBus(e.eventBuried)},
		&cobra.Command{Use: "retry SUBSCRIBER", Short: "Let a subscriber try again what was given up", Args: cobra.ExactArgs(1), RunE: e.onBus(e.eventRetry)},
		&cobra.Command{
			Use: "drop SUBSCRIBER", Short: "Forget a subscriber that nobody serves any more, with the events that wait for it", Args: cobra.ExactArgs(1), RunE: e.onBus(e.eventDrop),
			Long: "Forgets a subscriber, and drops the events that wait for it or were given up. It is refused for one that some process served within the last day.",
		},
	)
	return c
}

func (e *env) onBus(run func(cmd *cobra.Command, a *app.App, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) (err error) {
		a, err := e.open(cmd.Context())
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, a.Close()) }()
		if err := a.Migrate(cmd.Context()); err != nil { // as the commands of modules do
			return err
		}
		return run(cmd, a, args)
	}
}

func (e *env) eventStatus(cmd *cobra.Command, a *app.App, _ []string) error {
	all, err := a.Bus.Stats(cmd.Context())
	if err != nil {
		return err
	}
	rows := [][]string{}
	for _, s := range all {
		rows = append(rows, []string{s.Name, fmt.Sprint(s.Pending), fmt.Sprint(s.Leased), fmt.Sprint(s.Buried), s.Lag.Round(time.Millisecond).String()})
	}
	return e.table(all, []string{"subscriber", "pending", "running", "given up", "lag"}, rows)
}

func (e *env) eventBuried(cmd *cobra.Command, a *app.App, args []string) error {
	const shown = 100
	all, err := a.Bus.Buried(cmd.Context(), args[0], 0, shown)
	if err != nil {
		return err
	}
	if all == nil {
		all = []event.Buried{}
	}
	rows := [][]string{}
	for _, b := range all {
		rows = append(rows, []string{fmt.Sprint(b.ID), b.At.Format(time.RFC3339), b.Event.Type, b.Event.Subject, fmt.Sprint(b.Attempt), b.Error})
	}
	return e.table(all, []string{"id", "given up", "event", "subject", "attempts", "error"}, rows)
}

// subscriber gives the state of the subscriber of a name; an error when there
// is none.
func subscriber(ctx context.Context, a *app.App, name string) (event.Stats, error) {
	all, err := a.Bus.Stats(ctx)
	if err != nil {
		return event.Stats{}, err
	}
	i := slices.IndexFunc(all, func(s event.Stats) bool { return s.Name == name })
	if i < 0 {
		return event.Stats{}, fmt.Errorf("there is no subscriber %q: `quoin events status` lists those there are", name)
	}
	return all[i], nil
}

func (e *env) eventDrop(cmd *cobra.Command, a *app.App, args []string) error {
	s, err := subscriber(cmd.Context(), a, args[0])
	if err != nil {
		return err
	}
	if !s.Silent {
		return fmt.Errorf("some process serves %s, or did within the last day: its events wait for that one. Try again when nobody has served it for a day", s.Name)
	}
	if err := a.Bus.DropSubscriber(cmd.Context(), s.Name); err != nil {
		return err
	}
	n := s.Pending + s.Leased + s.Buried
	return e.table(map[string]int64{"dropped": n}, nil, [][]string{{fmt.Sprintf("Forgot %s and dropped %d events that waited for it.", s.Name, n)}})
}

func (e *env) eventRetry(cmd *cobra.Command, a *app.App, args []string) error {
	if _, err := subscriber(cmd.Context(), a, args[0]); err != nil {
		return err
	}
	n, err := a.Bus.RetryBuried(cmd.Context(), args[0])
	if err != nil {
		return err
	}
	return e.table(map[string]int{"retried": n}, nil, [][]string{{fmt.Sprintf("%d events that %s had given up are tried again.", n, args[0])}})
}
