package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/engine/mcp/toolkit"
)

// A badMessage is the error reply to a text that violates JSON-RPC 2.0.
type badMessage struct {
	id   json.RawMessage // nil if unknown
	code int64
	text string
}

var errNeither = errors.New("neither a call nor an answer")

// readMessage reads a JSON-RPC 2.0 message. It flags calls with invalid parameters, and reports
// that as changed.
func readMessage(text []byte) (m jsonrpc.Message, changed bool, wrong *badMessage) {
	m, err := jsonrpc.DecodeMessage(text)
	if r, ok := m.(*jsonrpc.Response); ok && err == nil && r.Error == nil && len(r.Result) == 0 {
		err = errNeither
	}
	if wrong = checkMessage(text, err); wrong != nil {
		return nil, false, wrong
	}
	if r, ok := m.(*jsonrpc.Request); ok {
		changed = toolkit.FlagInvalid(r)
	}
	return m, changed, nil
}

// checkMessage reports violations of JSON-RPC. err is the SDK's error; the SDK alone accepts some
// numbers that are not valid ids.
func checkMessage(text []byte, err error) *badMessage {
	object := bytes.TrimSpace(text)
	if !json.Valid(object) { // the SDK ignores text after the first value
		return &badMessage{code: jsonrpc.CodeParseError, text: "the message is not JSON"}
	}
	if object[0] != '{' {
		return &badMessage{code: jsonrpc.CodeInvalidRequest, text: "the message is not a JSON object"}
	}
	id, hasID := toolkit.Member(object, "id")
	refuse := func(why string) *badMessage {
		return &badMessage{id, jsonrpc.CodeInvalidRequest, "the message is not JSON-RPC 2.0: " + why}
	}
	if hasID && !isMessageID(id) {
		id = nil
		return refuse(`"id" must be a string or a whole number`)
	}
	if err != nil {
		return refuse(describeFlaw(object))
	}
	return nil
}

// describeFlaw returns the reason a JSON object is not a message.
func describeFlaw(object []byte) string {
	version, _ := toolkit.Member(object, "jsonrpc")
	method, hasMethod := toolkit.Member(object, "method")
	_, answers := toolkit.Member(object, "result")
	_, fails := toolkit.Member(object, "error")
	switch {
	case string(version) != `"2.0"`:
		return `"jsonrpc" must be "2.0"`
	case !hasMethod && !answers && !fails:
		return `it has no "method"`
	case hasMethod && method[0] != '"':
		return `"method" must be a string`
	case toolkit.NestingDepth(object) > toolkit.MaxNesting:
		return "it is nested too deeply"
	case fails:
		return `"error" must be {"code": …, "message": "…"}`
	}
	return "it is neither a call nor an answer"
}

// isMessageID reports whether a JSON value is a valid message id (MCP 2025-11-25, Base Protocol,
// Requests: a string or an integer).
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

// An errorReply is the reply to a failed call.
type errorReply struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Error   jsonrpc.Error   `json:"error"`
}

func (m *badMessage) reply() errorReply {
	id := m.id
	if id == nil {
		id = json.RawMessage("null")
	}
	return errorReply{"2.0", id, jsonrpc.Error{Code: m.code, Message: m.text}}
}

// receiveMiddleware runs before the SDK's handlers: it rejects calls with invalid parameters,
// cancels open calls when the server closes, and rewords errors for agents.
func (s *server) receiveMiddleware(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if err := toolkit.MistakeError(req); err != nil {
			return nil, err
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		stop := context.AfterFunc(s.ctx, cancel)
		defer stop()
		answer, err := s.handleRequest(ctx, method, req, next)
		if err != nil && ctx.Err() == nil {
			return nil, toolkit.WordError(method, req, err)
		}
		return answer, err
	}
}
