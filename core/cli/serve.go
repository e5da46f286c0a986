package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/quoin-cms/quoin/core/app"
	"github.com/quoin-cms/quoin/core/conf"
	"github.com/quoin-cms/quoin/core/telemetry"
)

func (e *env) serveCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "serve", Short: "Run the server", Args: cobra.NoArgs,
		Long: "Run the server until it gets SIGINT or SIGTERM. Without settings it stores in ./quoin-data and listens on 127.0.0.1:8080.",
	}
	var listen string
	var samples bool
	c.Flags().StringVar(&listen, "listen", "", "address to listen on (QUOIN_LISTEN)")
	c.Flags().BoolVar(&samples, "samples", false, "create the sample content types when there is none")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		if listen != "" {
			e.overrides = append(e.overrides, conf.Flag{Name: "--listen", Path: "server.listen", Value: listen})
		}
		if samples {
			e.overrides = append(e.overrides, conf.Flag{Name: "--samples", Path: "content.samples", Value: "true"})
		}
		config, err := e.load()
		if err != nil {
			return err
		}
		log := telemetry.New(e.err, telemetry.Config{Level: config.Log.Level, Format: config.Log.Format})
		return app.Serve(cmd.Context(), config, app.Options{Log: log, Samples: e.Samples, Version: e.Version}, func(a *app.App, addr string) {
			e.greet(a, addr)
			log.Info("ready", "listen", addr, "storage", config.StorageSummary(), "version", e.Version)
		})
	}
	return c
}

// greet tells a person, at the first start only, where the server is and what
// to try.
func (e *env) greet(a *app.App, addr string) {
	lines := a.Welcome.Lines()
	if len(lines) == 0 {
		return
	}
	base := "http://" + addr
	_, _ = fmt.Fprintf(e.out, `
Quoin listens on %s and stores in %s.

%s

Try next, in another terminal:
  curl -s %s/readyz
  curl -s %s/auth-token -d '{"username":"admin","password":"…"}'     # gives the token for the next one
  curl -s %s/api/user-profile -H 'X-Auth-Token: …'

`, base, a.Config.StorageSummary(), strings.Join(lines, "\n"), base, base, base)
}
