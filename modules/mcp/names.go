package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/quoin-cms/quoin/core/port"
)

// perType is a kind of tool that there is for each content type: its names in
// both forms (spec.md 4.2), and the tool for all content types that it leads to.
type perType struct {
	document, short string // prefixes
	to              string
}

// The tools per content type.
var (
	reading = perType{"get_document_", "get_", "get_document"}
	saving  = perType{"create_document_", "save_", "save_document"}
)

// longestName is what clients take as the name of a tool.
const longestName = 64

// toolName makes the name of a tool of a content type. One that is too long is
// cut, and told apart by a hash.
func toolName(prefix, contentType string) string {
	name := prefix + contentType
	if len(name) <= longestName {
		return name
	}
	sum := sha256.Sum256([]byte(contentType))
	tail := "_" + hex.EncodeToString(sum[:4])
	return name[:longestName-len(tail)] + tail
}

// listedName is the name under which a tool of a content type is listed. A short
// one that a tool of the server itself has is not used.
func (s *Service) listedName(k perType, contentType string) string {
	if s.cfg.ToolNames == namesShort {
		if name := toolName(k.short, contentType); s.tools.byName[name] == nil {
			return name
		}
	}
	return toolName(k.document, contentType)
}

// perTypeName finds the tool for all content types and the one content type
// that a name stands for, in the form that is listed first; empty for none.
func perTypeName(name string, types []port.DocumentType, listed string) (to, contentType string) {
	prefixes := []func(perType) string{func(k perType) string { return k.document }, func(k perType) string { return k.short }}
	if listed == namesShort {
		slices.Reverse(prefixes)
	}
	for _, prefix := range prefixes {
		for _, k := range []perType{reading, saving} {
			if !strings.HasPrefix(name, prefix(k)) {
				continue
			}
			for _, t := range types {
				if toolName(prefix(k), t.Name) == name {
					return k.to, t.Name
				}
			}
		}
	}
	return "", ""
}
