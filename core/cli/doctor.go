package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/quoin-cms/quoin/core/app"
	"github.com/quoin-cms/quoin/core/module"
	"github.com/quoin-cms/quoin/core/telemetry"
)

func (e *env) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Look for what is wrong with the installation, and what to do about it", Args: cobra.NoArgs,
		Long: "Look at the configuration, the data folder and who may write there, the database, its migrations and the versions of the processes that share it (PostgreSQL), clocks, files, work that is stuck, and whether the index has what the database has. It changes nothing, and the server may run. It fails when something is wrong; warnings are not failures.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			found := []module.Finding{{Check: "configuration", Level: module.Fine, Says: "valid"}}
			c, err := e.load()
			if err == nil {
				_, err = module.Resolve(c.Modules(), c.Enabled)
			}
			if err != nil {
				found[0] = module.Finding{Check: "configuration", Level: module.Fail, Says: err.Error(), Do: "quoin config print tells where each value comes from"}
			} else {
				found = append(found, app.Doctor(cmd.Context(), c, app.Options{Log: telemetry.Discard(), Samples: e.Samples, Version: e.Version})...)
			}
			return e.tellFindings(found)
		},
	}
}

func (e *env) tellFindings(found []module.Finding) error {
	var rows [][]string
	failures := 0
	for _, f := range found {
		rows = append(rows, []string{string(f.Level), f.Check, f.Says, f.Do})
		if f.Level == module.Fail {
			failures++
		}
	}
	if err := e.table(found, []string{"", "check", "finding", "what to do"}, rows); err != nil {
		return err
	}
	if failures == 1 {
		return errors.New("one check failed")
	}
	if failures > 0 {
		return fmt.Errorf("%d checks failed", failures)
	}
	return nil
}
