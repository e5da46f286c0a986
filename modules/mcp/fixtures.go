package mcp

import sdk "github.com/modelcontextprotocol/go-sdk/mcp"

func addFixtures(*sdk.Server) {}

func completeFixture(bool, *sdk.CompleteRequest) *sdk.CompleteResult { return nil }
