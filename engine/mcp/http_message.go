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

// lastBatchVersion is the last protocol version allowing several messages in one request.
const lastBatchVersion = "2025-03-26"

// A post holds the messages of a request, re-encoded for the SDK.
type post struct {
	body        []byte
	id          json.RawMessage // of the only call; nil without one or with several
	sessionless bool            // permitted without a session
}

// readPost reads the messages of a request. wrong describes a violation of JSON-RPC, if there is
// one.
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
		p.inspectMessage(m)
		if changed {
			p.body, _ = jsonrpc.EncodeMessage(m) // a decoded message can be encoded
		}
		return p, nil
	case version > lastBatchVersion:
		return p, &badMessage{code: jsonrpc.CodeInvalidRequest, text: "batches are for version " + lastBatchVersion + " only; send one message per request"}
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
		p.inspectMessage(m)
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

// inspectMessage updates id and sessionless for one message.
func (p *post) inspectMessage(m jsonrpc.Message) {
	r, ok := m.(*jsonrpc.Request)
	if !ok {
		return
	}
	if r.IsCall() {
		p.id, _ = json.Marshal(r.ID.Raw())
	}
	p.sessionless = p.sessionless || r.Method == "initialize" || r.Method == "ping"
}

// checkPost reads the messages of a request before the SDK does, in order to report mistakes
// clearly and as JSON-RPC. It returns nil if it has answered the request.
func checkPost(rw http.ResponseWriter, r *http.Request) (*jsonErrorWriter, *http.Request) {
	s := &jsonErrorWriter{ResponseWriter: rw}
	if r.Method != http.MethodPost {
		return s, r
	}
	body, err := io.ReadAll(http.MaxBytesReader(rw, r.Body, maxBody))
	if err != nil {
		status, e := httpError(err)
		writeError(rw, status, e)
		return nil, nil
	}
	version := r.Header.Get("MCP-Protocol-Version")
	p, wrong := readPost(body, version)
	if wrong == nil && !p.sessionless && version < toolkit.WithoutSessions && r.Header.Get("Mcp-Session-Id") == "" {
		wrong = &badMessage{p.id, jsonrpc.CodeInvalidRequest,
			"the request has no session; call initialize first, and send the Mcp-Session-Id that it returns"}
	}
	if wrong != nil {
		writeBadMessage(rw, http.StatusBadRequest, wrong)
		return nil, nil
	}
	s.id = p.id
	// The body was read above; the SDK gets a fresh reader with the checked messages.
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(p.body)), int64(len(p.body))
	return s, r
}

func writeBadMessage(rw http.ResponseWriter, status int, wrong *badMessage) {
	rw.Header().Set("Content-Type", "application/json")
	rw.Header().Del("X-Content-Type-Options")
	rw.WriteHeader(status)
	_ = json.NewEncoder(rw).Encode(wrong.reply()) // the client may have disconnected
}

// A jsonErrorWriter turns the SDK's plain-text errors into JSON-RPC errors for the call with this
// id.
type jsonErrorWriter struct {
	http.ResponseWriter
	id     json.RawMessage
	status int // of a plain-text error being translated; 0 passes output through
}

// WriteHeader implements http.ResponseWriter.
func (s *jsonErrorWriter) WriteHeader(status int) {
	if status >= http.StatusBadRequest && strings.HasPrefix(s.Header().Get("Content-Type"), "text/plain") {
		// Hold the header back: Write sends it with the translated text.
		s.status = status
		return
	}
	s.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (s *jsonErrorWriter) Write(b []byte) (int, error) {
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
	writeBadMessage(s.ResponseWriter, s.status, wrong)
	s.status = 0
	return len(b), nil
}

// Unwrap lets streams flush.
func (s *jsonErrorWriter) Unwrap() http.ResponseWriter { return s.ResponseWriter }
