package mcp

import (
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// codeNoResource is how revisions with sessions say that there is no such
// resource.
const codeNoResource = -32002

// unknownResource is the error for an address that leads to nothing.
func (s *Service) unknownResource(req sdk.Request, uri string) error {
	code := int64(codeNoResource)
	if s.versionOf(req) >= stateless {
		code = codeInvalidParams
	}
	data, _ := json.Marshal(map[string]string{"uri": uri}) // strings always marshal
	return &jsonrpc.Error{Code: code, Message: "resource not found", Data: data}
}
