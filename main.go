// Command quoin is a content administration back office over HTTP.
package main

import (
	"context"
	"os"

	"github.com/quoin-cms/quoin/config"
	"github.com/quoin-cms/quoin/core/cli"
	"github.com/quoin-cms/quoin/modules"
)

// version is for builds that do not see the repository, such as that of an
// image: -ldflags "-X main.version=v1.2.3". Otherwise the build knows it.
var version string

func main() {
	program := cli.Program{Version: version, Modules: modules.All(), Defaults: config.Defaults, Samples: config.Samples, Examples: config.Examples}
	os.Exit(cli.Main(context.Background(), program, os.Args[1:], os.Environ()))
}
