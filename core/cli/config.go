package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/quoin-cms/quoin/core/app"
	"github.com/quoin-cms/quoin/core/conf"
	"github.com/quoin-cms/quoin/core/module"
)

func (e *env) modulesCommand() *cobra.Command {
	return &cobra.Command{
		Use: "modules", Short: "List the modules and whether they are enabled", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			c, err := e.load()
			if err != nil {
				return err
			}
			type row struct {
				Name    string   `json:"name"`
				Enabled bool     `json:"enabled"`
				Needs   []string `json:"needs"`
				Summary string   `json:"summary"`
			}
			var list []row
			var rows [][]string
			for _, m := range c.Modules() {
				r := row{m.Name, c.Enabled(m.Name), append([]string{}, m.Needs...), m.Summary}
				list = append(list, r)
				rows = append(rows, []string{r.Name, map[bool]string{true: "on", false: "off"}[r.Enabled], strings.Join(r.Needs, ","), r.Summary})
			}
			if err := e.table(list, []string{"module", "state", "needs", "summary"}, rows); err != nil {
				return err
			}
			_, err = module.Resolve(c.Modules(), c.Enabled)
			return err
		},
	}
}

func (e *env) configCommand() *cobra.Command {
	c := group("config", "Look at the configuration")
	show := func(render func(*app.Config) []byte) func(*cobra.Command, []string) error {
		return func(*cobra.Command, []string) error {
			config, err := e.load()
			if err != nil {
				return err
			}
			text := render(config)
			if e.json {
				if text, err = conf.JSON("configuration", text); err != nil {
					return err
				}
				return e.printJSON(json.RawMessage(text))
			}
			_, err = e.out.Write(text)
			return err
		}
	}
	c.AddCommand(
		&cobra.Command{Use: "check", Short: "Tell everything that is wrong with the configuration", Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error {
			config, err := e.load()
			if err != nil {
				return err
			}
			if _, err := module.Resolve(config.Modules(), config.Enabled); err != nil {
				return err
			}
			if e.json {
				return e.printJSON(map[string]bool{"valid": true})
			}
			_, err = fmt.Fprintln(e.out, "The configuration is valid.")
			return err
		}},
		&cobra.Command{Use: "print", Short: "Print the configuration in force and where each value comes from; secrets are hidden", Args: cobra.NoArgs, RunE: show((*app.Config).Print)},
		&cobra.Command{Use: "schema", Short: "Print the JSON Schema of the configuration file", Args: cobra.NoArgs, RunE: show((*app.Config).Schema)},
		&cobra.Command{Use: "defaults", Short: "Print a commented file with all defaults", Args: cobra.NoArgs, RunE: show((*app.Config).DefaultFile)},
	)
	return c
}
