package mcp

import (
	"bytes"
	"encoding/json"
	"math"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// A misfit is a text that is no JSON-RPC 2.0 message, and how it is answered.
type misfit struct {
	id   json.RawMessage // null where it has none that can be told
	code int64
	text string
}

// readMessage reads a JSON-RPC 2.0 message. Calls with mistakes in their params
// are flagged.
func readMessage(text []byte) (m jsonrpc.Message, changed bool, wrong *misfit) {
	m, err := jsonrpc.DecodeMessage(text)
	if wrong = misfitIn(text, err); wrong != nil {
		return nil, false, wrong
	}
	if r, ok := m.(*jsonrpc.Request); ok {
		changed = flag(r)
	}
	return m, changed, nil
}

// A sketch is a message of which nothing has been understood yet.
type sketch struct {
	Version json.RawMessage `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  json.RawMessage `json:"method"`
	Result  json.RawMessage `json:"result"`
	Error   json.RawMessage `json:"error"`
}

// misfitIn says what is wrong with a text as a message. Err is what the SDK
// says, which also takes numbers for ids that are none.
func misfitIn(text []byte, err error) *misfit {
	null := json.RawMessage("null")
	var s sketch
	if json.Unmarshal(text, &s) != nil || nothing(text) {
		if !json.Valid(text) {
			return &misfit{null, jsonrpc.CodeParseError, "the message is no JSON"}
		}
		return &misfit{null, jsonrpc.CodeInvalidRequest, "the message is no JSON object"}
	}
	id := null
	if isMessageID(s.ID) {
		id = s.ID
	}
	refuse := func(why string) *misfit {
		return &misfit{id, jsonrpc.CodeInvalidRequest, "the message is no JSON-RPC 2.0: " + why}
	}
	switch {
	case string(s.Version) != `"2.0"`:
		return refuse(`"jsonrpc" has to be "2.0"`)
	case len(s.ID) > 0 && !isMessageID(s.ID):
		return refuse(`"id" has to be a string or a whole number`)
	case len(s.Method) == 0 && len(s.Result) == 0 && len(s.Error) == 0:
		return refuse(`it has no "method"`)
	case len(s.Method) > 0 && s.Method[0] != '"':
		return refuse(`"method" has to be a string`)
	case err == nil:
		return nil
	case nested(text) > nestedMost:
		return refuse("it is nested too deeply")
	case len(s.Error) > 0:
		return refuse(`"error" has to be {"code": …, "message": "…"}`)
	}
	return refuse("it is neither a call nor an answer")
}

// nothing reports whether a JSON text is null.
func nothing(text []byte) bool { return string(bytes.TrimSpace(text)) == "null" }

// isMessageID reports whether a JSON value can be a message's id (MCP
// 2025-11-25, Base Protocol, Requests: a string or integer).
func isMessageID(id json.RawMessage) bool {
	if len(id) == 0 {
		return false
	}
	if id[0] == '"' {
		return true
	}
	var n float64
	return id[0] != 'n' && json.Unmarshal(id, &n) == nil && n == math.Trunc(n) && math.Abs(n) <= 1<<53
}

// nested is how deep arrays and objects lie in each other.
func nested(text []byte) int {
	deepest, depth, quoted := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}

// An errorAnswer is the answer to a call that failed.
type errorAnswer struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Error   jsonrpc.Error   `json:"error"`
}

func (m *misfit) answer() errorAnswer {
	id := m.id
	if id == nil {
		id = json.RawMessage("null")
	}
	return errorAnswer{"2.0", id, jsonrpc.Error{Code: m.code, Message: m.text}}
}
