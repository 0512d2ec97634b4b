package mcp

import (
	"encoding/json"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
)

// A toolList is the result of tools/list (MCP 2026-07-28, Tools). It replaces the SDK's type, which
// sorts by name and writes hints that are false: 12,412 bytes for the native tools instead of
// 11,755.
type toolList struct {
	sdk.ResultBase
	ResultType string       `json:"resultType,omitempty"`
	TTLMS      int          `json:"ttlMs"`
	CacheScope string       `json:"cacheScope"`
	Tools      []listedTool `json:"tools"`
}

// A listedTool is a tool's entry in tools/list. It has no output schema: whether structured content
// is sent depends on the client, and the values explain themselves.
type listedTool struct {
	Name  string          `json:"name"`
	Doc   string          `json:"description"`
	In    json.RawMessage `json:"inputSchema"`
	Hints hints           `json:"annotations,omitzero"`
	Meta  map[string]int  `json:"_meta,omitempty"`
}

// Claude Code replaces long results with a file name, unless the tool declares a larger limit under
// maxSizeKey, up to maxResultSize characters (code.claude.com/docs/en/mcp, "Raise the limit
// for a specific tool").
const (
	maxSizeKey    = "anthropic/maxResultSizeChars"
	maxResultSize = 500_000
)

// hints are a tool's annotations. Omitted ones have the protocol's default: destructiveHint is true
// unless readOnlyHint is.
type hints struct {
	ReadOnly    bool  `json:"readOnlyHint,omitempty"`
	Destructive *bool `json:"destructiveHint,omitempty"`
}

func describeTool(prefix string, t toolkit.Tool) listedTool {
	l := listedTool{Name: prefix + t.Name, Doc: t.Doc, In: t.Schema()}
	switch t.Effect {
	case api.Read:
		l.Hints.ReadOnly = true
	case api.Write:
		l.Hints.Destructive = new(bool)
	}
	if t.Large {
		l.Meta = map[string]int{maxSizeKey: maxResultSize}
	}
	return l
}

// listTools returns the whole list; there is one page.
func (s *server) listTools(req *sdk.ListToolsRequest) sdk.Result {
	list := &toolList{CacheScope: "private", Tools: s.list}
	if req.ProtocolVersion() >= toolkit.WithoutSessions {
		list.ResultType = "complete"
	}
	return list
}
