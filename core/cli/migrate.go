package cli

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/quoin-cms/quoin/core/app"
	"github.com/quoin-cms/quoin/core/db"
)

func (e *env) migrateCommand() *cobra.Command {
	c := group("migrate", "Bring the database up to date")
	sub := func(use, short string, run func(context.Context, *app.App) ([]db.MigrationState, error)) *cobra.Command {
		return &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) (err error) {
			a, err := e.open(cmd.Context())
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, a.Close()) }()
			list, err := run(cmd.Context(), a)
			if err != nil {
				return err
			}
			return e.migrations(list)
		}}
	}
	c.AddCommand(
		sub("plan", "List what `up` would run", func(ctx context.Context, a *app.App) ([]db.MigrationState, error) {
			if err := a.DB.Compatible(ctx, a.Sources()); err != nil {
				return nil, err
			}
			return a.DB.Pending(ctx, a.Sources())
		}),
		sub("up", "Run what has not run yet", func(ctx context.Context, a *app.App) ([]db.MigrationState, error) {
			ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
			defer cancel()
			return a.DB.Migrate(ctx, a.Sources())
		}),
		sub("status", "List every migration", func(ctx context.Context, a *app.App) ([]db.MigrationState, error) {
			return a.MigrationStatus(ctx)
		}),
	)
	return c
}

func (e *env) migrations(list []db.MigrationState) error {
	var rows [][]string
	for _, m := range list {
		state := "pending"
		if m.Applied {
			state = "applied"
			if !m.AppliedAt.IsZero() {
				state += " " + m.AppliedAt.Format(time.RFC3339)
			}
		}
		rows = append(rows, []string{m.Module, m.Name, m.Kind, state})
	}
	if list == nil {
		list = []db.MigrationState{}
	}
	return e.table(list, []string{"module", "migration", "kind", "state"}, rows)
}
