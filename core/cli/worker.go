package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/quoin-cms/quoin/core/app"
	"github.com/quoin-cms/quoin/core/telemetry"
)

func (e *env) workerCommand() *cobra.Command {
	return &cobra.Command{
		Use: "worker", Short: "Run commands of jobs, without a server", Args: cobra.NoArgs,
		Long: "Run the commands of jobs and the schedules until it gets SIGINT or SIGTERM, beside servers on the same PostgreSQL. " +
			"A server runs commands as well, unless job.workers is 0 there.",
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			config, err := e.load()
			if err != nil {
				return err
			}
			lines := telemetry.NewBuffer(e.err)
			defer func() { err = errors.Join(err, lines.Flush()) }()
			log := telemetry.New(lines, telemetry.Config{Level: config.Log.Level, Format: config.Log.Format})
			return app.Work(cmd.Context(), config, app.Options{Log: log, Version: e.Version}, func(*app.App) {
				log.Info("ready", "version", e.Version, "what", "worker")
			})
		},
	}
}
