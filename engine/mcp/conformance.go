package mcp

import sdk "github.com/modelcontextprotocol/go-sdk/mcp"

// fixtures are the resources that the conformance suite reads.
func (s *server) fixtures() []*sdk.Resource { return []*sdk.Resource{} }
