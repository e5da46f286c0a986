// Command quoin is a content administration back office over HTTP.
package main

import (
	"github.com/quoin-cms/quoin/config"
	"github.com/quoin-cms/quoin/core/cli"
	"github.com/quoin-cms/quoin/modules"
)

func main() {
	cli.Main(cli.Program{Modules: modules.All(), Defaults: config.Defaults, Samples: config.Samples})
}
