// Package config embeds the defaults and the samples into the binary.
package config

import "embed"

// Defaults is the configuration under every other.
//
//go:embed embedded.yaml
var Defaults []byte

// Samples are the sample content types of `quoin serve --samples`.
//
//go:embed content-types
var Samples embed.FS

// Examples are calls that were made and what came back, for the API document.
//
//go:embed examples.json
var Examples []byte
