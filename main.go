// Command quoin is a content administration back office over HTTP.
package main

import (
	"context"
	"os"

	"github.com/quoin-cms/quoin/config"
	"github.com/quoin-cms/quoin/core/cli"
	"github.com/quoin-cms/quoin/modules"
)

func main() {
	program := cli.Program{Modules: modules.All(), Defaults: config.Defaults, Samples: config.Samples, Examples: config.Examples}
	os.Exit(cli.Main(context.Background(), program, os.Args[1:], os.Environ()))
}
