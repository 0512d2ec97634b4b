package mcp

import (
	"context"
	"encoding/json"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// permit asks whether an agent may make a call; nil if it may, else what it is
// told instead.
func (s *server) permit(_ context.Context, _ *face, _ tool, _ json.RawMessage, _ *sdk.CallToolRequest) *result {
	return nil
}

// record adds a call to the audit log.
func (s *server) record(_ context.Context, _ *face, _ tool, _ json.RawMessage, _ result, _ error, _ time.Duration) {
}
