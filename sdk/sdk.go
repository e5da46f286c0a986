// Package sdk holds the source of the kit for authors of plugins, so that the
// server's binary can hand it out. Plugins import sdk/plugin.
package sdk

import "embed"

//go:generate go run -modfile=../.proto.mod proto/generate/main.go

// Source is what a plugin is built from: the packages below this folder.
//
//go:embed plugin manifest plugintest proto client webhook README.md
var Source embed.FS
