package mcp

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"tandem/engine/mcp/toolkit"
)

// withBatches is the last version of the protocol in which a request may hold
// several messages.
const withBatches = "2025-03-26"

// A post is what a request brings: its messages as they go on to the SDK.
type post struct {
	body []byte
	id   json.RawMessage // of the only call; nil without one or with several
	// begins says that it may come without a session.
	begins bool
}

// readPost reads the messages of a request. Wrong is what is wrong with them as
// JSON-RPC.
func readPost(body []byte, version string) (p post, wrong *badMessage) {
	p.body = body
	trimmed := bytes.TrimSpace(body)
	switch {
	case len(trimmed) == 0:
		return p, &badMessage{code: jsonrpc.CodeInvalidRequest, text: "the request has no body; it must be a JSON-RPC 2.0 message"}
	case trimmed[0] != '[':
		m, changed, wrong := readMessage(trimmed)
		if wrong != nil {
			return p, wrong
		}
		p.inspect(m)
		if changed {
			p.body, _ = jsonrpc.EncodeMessage(m) // what was decoded can be encoded
		}
		return p, nil
	case version > withBatches:
		return p, &badMessage{code: jsonrpc.CodeInvalidRequest, text: "batches are for version " + withBatches + " only; send one message per request"}
	}
	return readBatch(trimmed)
}

// readBatch reads several messages (JSON-RPC 2.0, section 6).
func readBatch(body []byte) (p post, wrong *badMessage) {
	var batch []json.RawMessage
	if json.Unmarshal(body, &batch) != nil {
		return p, &badMessage{code: jsonrpc.CodeParseError, text: "the message is not JSON"}
	}
	if len(batch) == 0 {
		return p, &badMessage{code: jsonrpc.CodeInvalidRequest, text: "the batch is empty"}
	}
	for i, one := range batch {
		m, changed, wrong := readMessage(one)
		if wrong != nil {
			return p, wrong
		}
		p.inspect(m)
		if changed {
			batch[i], _ = jsonrpc.EncodeMessage(m)
		}
	}
	if len(batch) > 1 {
		p.id = nil
	}
	p.body, _ = json.Marshal(batch)
	return p, nil
}

// inspect looks at one message.
func (p *post) inspect(m jsonrpc.Message) {
	r, ok := m.(*jsonrpc.Request)
	if !ok {
		return
	}
	if r.IsCall() {
		p.id, _ = json.Marshal(r.ID.Raw())
	}
	p.begins = p.begins || r.Method == "initialize" || r.Method == "ping"
}

// examined reads what a request brings before the SDK does, so that what is
// wrong with it is told in words and as JSON-RPC says; nil if that was done.
func examined(rw http.ResponseWriter, r *http.Request) (*spoken, *http.Request) {
	s := &spoken{ResponseWriter: rw}
	if r.Method != http.MethodPost {
		return s, r
	}
	body, err := io.ReadAll(http.MaxBytesReader(rw, r.Body, bodyMost))
	if err != nil {
		status, e := refusal(err)
		refuse(rw, status, e)
		return nil, nil
	}
	version := r.Header.Get("MCP-Protocol-Version")
	p, wrong := readPost(body, version)
	if wrong == nil && !p.begins && version < toolkit.WithoutSessions && r.Header.Get("Mcp-Session-Id") == "" {
		wrong = &badMessage{p.id, jsonrpc.CodeInvalidRequest,
			"the request has no session; call initialize first, and send the Mcp-Session-Id that it answers with"}
	}
	if wrong != nil {
		answerWrong(rw, http.StatusBadRequest, wrong)
		return nil, nil
	}
	s.id = p.id
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(p.body)), int64(len(p.body))
	return s, r
}

func answerWrong(rw http.ResponseWriter, status int, wrong *badMessage) {
	rw.Header().Set("Content-Type", "application/json")
	rw.Header().Del("X-Content-Type-Options")
	rw.WriteHeader(status)
	_ = json.NewEncoder(rw).Encode(wrong.answer()) // a client that has gone need not know
}

// A spoken response is one in which the SDK's errors of plain text become those
// of JSON-RPC, of the call with this id.
type spoken struct {
	http.ResponseWriter
	id     json.RawMessage
	status int // of the error whose text comes next; 0 for what goes on as it is
}

// WriteHeader implements http.ResponseWriter.
func (s *spoken) WriteHeader(status int) {
	if status >= http.StatusBadRequest && strings.HasPrefix(s.Header().Get("Content-Type"), "text/plain") {
		s.status = status
		return
	}
	s.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (s *spoken) Write(b []byte) (int, error) {
	if s.status == 0 {
		return s.ResponseWriter.Write(b)
	}
	wrong := &badMessage{s.id, jsonrpc.CodeInvalidRequest, strings.TrimPrefix(strings.TrimSpace(string(b)), "Bad Request: ")}
	if _, name, ok := strings.Cut(wrong.text, "not handled: "); ok {
		wrong.code, wrong.text = jsonrpc.CodeMethodNotFound, "method not found: "+strings.TrimSuffix(name, " unsupported")
	}
	if s.status == http.StatusNotFound && wrong.text == "session not found" {
		wrong.text += "; call initialize to start another"
	}
	answerWrong(s.ResponseWriter, s.status, wrong)
	s.status = 0
	return len(b), nil
}

// Unwrap lets streams flush.
func (s *spoken) Unwrap() http.ResponseWriter { return s.ResponseWriter }
