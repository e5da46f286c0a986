package cli

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/spf13/cobra"

	"github.com/quoin-cms/quoin/core/app"
	"github.com/quoin-cms/quoin/core/conf"
	"github.com/quoin-cms/quoin/core/rawjson"
	"github.com/quoin-cms/quoin/core/telemetry"
)

func (e *env) serveCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "serve", Short: "Run the server", Args: cobra.NoArgs,
		Long: "Run the server until it gets SIGINT or SIGTERM. Without settings it stores in ./quoin-data and listens on 127.0.0.1:8080.",
	}
	var listen string
	var samples, fixtures bool
	c.Flags().StringVar(&listen, "listen", "", "`address` to listen on (QUOIN_LISTEN)")
	c.Flags().BoolVar(&samples, "samples", false, "create the sample content types when there is none")
	c.Flags().BoolVar(&fixtures, "mcp-conformance-fixtures", false, "offer what the conformance suite of MCP calls; for tests only")
	c.RunE = func(cmd *cobra.Command, _ []string) (err error) {
		if listen != "" {
			e.overrides = append(e.overrides, conf.Flag{Name: "--listen", Path: "server.listen", Value: listen})
		}
		if samples {
			e.overrides = append(e.overrides, conf.Flag{Name: "--samples", Path: "content.samples", Value: "true"})
		}
		if fixtures {
			e.overrides = append(e.overrides, conf.Flag{Name: "--mcp-conformance-fixtures", Path: "mcp.conformance_fixtures", Value: "true"})
		}
		defer holdBallast(e.vars)()
		config, err := e.load()
		if err != nil {
			return err
		}
		lines := telemetry.NewBuffer(e.err)
		defer func() { err = errors.Join(err, lines.Flush()) }()
		log := telemetry.New(lines, telemetry.Config{Level: config.Log.Level, Format: config.Log.Format})
		return app.Serve(cmd.Context(), config, app.Options{Log: log, Samples: e.Samples, Examples: e.Examples, Version: e.Version}, func(a *app.App, addr string) {
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
	base := "http://" + reachable(addr)
	if a.Config.Server.TLS.On() {
		base = "https://" + reachable(addr)
	}
	_, _ = fmt.Fprintf(e.out, "\nQuoin listens on %s and stores in %s.\n\n%s\n\n", base, a.Config.StorageSummary(), strings.Join(lines, "\n"))
	if username, password := a.Welcome.Account(); username != "" {
		_, _ = io.WriteString(e.out, nextCommands(base, username, password))
	}
}

// nextCommands are three commands that work as they are when they are pasted
// into a shell. A password that the operator chose is not repeated.
func nextCommands(base, username, password string) string {
	note := ""
	secret := quoteJSON(password)
	if password == "" {
		note = " (with your password in QUOIN_ADMIN_PASSWORD)"
		secret = `"'"$QUOIN_ADMIN_PASSWORD"'"`
	}
	return fmt.Sprintf(`Try next, in another terminal%s:
  curl -s %s/readyz
  TOKEN=$(curl -s %s/auth-token -d '{"username":%s,"password":%s}' | sed 's/.*"authToken":"\([^"]*\)".*/\1/')
  curl -s %s/api/user-profile -H "X-Auth-Token: $TOKEN"

`, note, base, base, quoteJSON(username), secret, base)
}

// quoteJSON is a JSON string that may stand between single quotes of a shell.
func quoteJSON(s string) string {
	return strings.ReplaceAll(string(rawjson.AppendString(nil, s)), "'", `\u0027`)
}

// reachable is an address that a client on this machine can use: a server that
// listens everywhere is not found under 0.0.0.0.
func reachable(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsUnspecified() {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return addr
}
