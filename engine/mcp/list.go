package mcp

import (
	"encoding/json"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/engine/api"
	"tandem/engine/mcp/toolkit"
)

// A toolList is the result of tools/list (MCP 2026-07-28, Tools). It is ours
// and not the SDK's, which writes out every hint and sorts by name.
type toolList struct {
	sdk.ResultBase
	ResultType string       `json:"resultType,omitempty"`
	TTLMS      int          `json:"ttlMs"`
	CacheScope string       `json:"cacheScope"`
	Tools      []listedTool `json:"tools"`
}

// A listedTool is how a tool stands in tools/list. It has no output schema: which
// clients are given structured content depends on the client, and who has the
// value sees what is in it.
type listedTool struct {
	Name  string          `json:"name"`
	Doc   string          `json:"description"`
	In    json.RawMessage `json:"inputSchema"`
	Hints hints           `json:"annotations,omitzero"`
	Meta  map[string]int  `json:"_meta,omitempty"`
}

// Of a result with more characters than this Claude Code shows its model a file's name,
// unless the tool declares more; it takes no more than resultMost
// (code.claude.com/docs/en/mcp, "Raise the limit for a specific tool").
const (
	resultSize = "anthropic/maxResultSizeChars"
	resultMost = 500_000
)

// hints are a tool's annotations. Those left out have the protocol's default: destructiveHint is
// true unless readOnlyHint is.
type hints struct {
	ReadOnly    bool  `json:"readOnlyHint,omitempty"`
	Destructive *bool `json:"destructiveHint,omitempty"`
}

func listed(prefix string, t toolkit.Tool) listedTool {
	l := listedTool{Name: prefix + t.Name, Doc: t.Doc, In: t.Schema()}
	switch t.Effect {
	case api.Read:
		l.Hints.ReadOnly = true
	case api.Write:
		l.Hints.Destructive = new(bool)
	}
	if t.Large {
		l.Meta = map[string]int{resultSize: resultMost}
	}
	return l
}

// listTools answers with the whole list: there is one page.
func (s *server) listTools(req *sdk.ListToolsRequest) (sdk.Result, error) {
	if req.Params != nil && req.Params.Cursor != "" {
		return nil, toolkit.NoCursor("tools/list")
	}
	list := &toolList{CacheScope: "private", Tools: s.list}
	if req.ProtocolVersion() >= toolkit.WithoutSessions {
		list.ResultType = "complete"
	}
	return list, nil
}
