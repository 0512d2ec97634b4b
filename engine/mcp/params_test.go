package mcp

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/mcp/toolkit"
)

// invalidParams returns calls with invalid parameters and the expected replies.
func invalidParams() []struct {
	method, params string
	code           int
	want           string
} {
	const noCursor = ": unknown cursor; leave it out to start from the beginning"
	return []struct {
		method, params string
		code           int
		want           string
	}{
		{"tools/call", `[]`, -32602, "tools/call: params must be an object, not an array"},
		{"tools/call", `{}`, -32602, `tools/call: no tool is named ""; tools/list lists them`},
		{"tools/call", `{"name":null}`, -32602, `tools/call: no tool is named ""; tools/list lists them`},
		{"tools/call", `{"name":7}`, -32602, "tools/call: params.name must be a string, not a number"},
		{"tools/call", `{"name":"x","_meta":7}`, -32602, "tools/call: params._meta must be an object, not a number"},
		{"tools/call", `{"name":"` + strings.Repeat("x", 1000) + `"}`, -32602,
			`tools/call: no tool is named "` + strings.Repeat("x", 80) + `…"; tools/list lists them`},
		{"resources/read", `{}`, -32002, `resources/read: nothing at ""; resources/list lists the resources`},
		{"resources/read", `{"uri":7}`, -32602, "resources/read: params.uri must be a string, not a number"},
		{"resources/read", `{"uri":"file:///etc/passwd"}`, -32002,
			`resources/read: nothing at "file:///etc/passwd"; resources/list lists the resources`},
		{"resources/subscribe", `{"uri":"file:///etc/passwd"}`, -32002,
			`resources/subscribe: nothing at "file:///etc/passwd"; resources/list lists the resources`},
		{"prompts/get", `{"name":[]}`, -32602, "prompts/get: params.name must be a string, not an array"},
		{"prompts/get", `{"name":"nope"}`, -32602, `prompts/get: no prompt is named "nope"; prompts/list lists them`},
		{"prompts/get", `{"name":"debug-process"}`, -32602,
			`prompts/get: argument "process" of debug-process is missing: id or name of the process`},
		{"prompts/get", `{"name":"debug-process","arguments":{"id":"x"}}`, -32602,
			`prompts/get: debug-process has no argument "id"; it takes process: id or name of the process`},
		{"prompts/get", `{"name":"debug-process","arguments":{"process":5}}`, -32602,
			"prompts/get: what is in params.arguments must be a string, not a number"},
		{"prompts/list", `{"cursor":5}`, -32602, "prompts/list: params.cursor must be a string, not a number"},
		{"prompts/list", `{"cursor":"x"}`, -32602, "prompts/list" + noCursor},
		{"resources/list", `{"cursor":"x"}`, -32602, "resources/list" + noCursor},
		{"resources/templates/list", `{"cursor":"x"}`, -32602, "resources/templates/list" + noCursor},
		{"ping", `"x"`, -32602, "ping: params must be an object, not a string"},
		{"initialize", `{"protocolVersion":5}`, -32602, "initialize: params.protocolVersion must be a string, not a number"},
		{"initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`, -32600,
			"initialize: this connection is already initialized"},
	}
}

func callMessage(method, params string) string {
	return `{"jsonrpc":"2.0","id":7,"method":"` + method + `","params":` + params + `}`
}

func TestInvalidParamsAreExplained(t *testing.T) {
	t.Parallel()
	k := newLineClient(t)
	k.sendLine(hello)
	k.readReply()
	for _, tc := range invalidParams() {
		k.sendLine(callMessage(tc.method, tc.params))
		if diff := cmp.Diff(replySummary{7.0, tc.code, tc.want}, k.readReply()); diff != "" {
			t.Errorf("%s %.60s (-want +got):\n%s", tc.method, tc.params, diff)
		}
	}
}

func TestInvalidParamsAreExplainedOverHTTP(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	session := s.initializeSession()
	for _, tc := range invalidParams() {
		status, answer, _ := s.sendRequest("POST", "/mcp", callMessage(tc.method, tc.params), session...)
		if diff := cmp.Diff(replySummary{7.0, tc.code, tc.want}, summarizeReply(t, answer)); diff != "" || status != 200 {
			t.Errorf("%s %.60s: status %d (-want +got):\n%s", tc.method, tc.params, status, diff)
		}
	}
}

func TestCallBeforeHandshakeNamesInitialize(t *testing.T) {
	t.Parallel()
	k := newLineClient(t)
	k.sendLine(callMessage("tools/list", `{}`))
	if diff := cmp.Diff(replySummary{7.0, -32600, "tools/list: call initialize first"}, k.readReply()); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
}

func TestInvalidParamsKeepHandshake(t *testing.T) {
	t.Parallel()
	k := newLineClient(t)
	k.sendLine(callMessage("initialize", `{"protocolVersion":[]}`))
	if got := k.readReply(); got.Code != -32602 {
		t.Errorf("answer %+v", got)
	}
	k.sendLine(hello)
	if got := k.readReply(); got.Code != 0 {
		t.Errorf("answer %+v", got)
	}
}

// FuzzParams sends arbitrary parameters. No reply may mention Go types.
func FuzzParams(f *testing.F) {
	for _, tc := range invalidParams() {
		f.Add(tc.method, tc.params)
	}
	f.Add("completion/complete", `{"ref":5}`)
	f.Add("tools/call", `{"name":"x","arguments":`+strings.Repeat("[", 995)+strings.Repeat("]", 995)+`}`)
	f.Add("subscriptions/listen", `{"notifications":7}`)
	f.Fuzz(func(t *testing.T, method, params string) {
		call := callMessage(method, params)
		m, _, wrong := readMessage([]byte(call))
		if wrong != nil {
			if strings.Contains(wrong.text, "unmarshal") {
				t.Errorf("%s: %s", call, wrong.text)
			}
			return
		}
		if known := toolkit.NewParams(method); known == nil || m.(*jsonrpc.Request).Method == "subscriptions/listen" {
			return
		}
		k := newLineClient(t)
		k.sendLine(hello)
		k.readReply()
		b, err := json.Marshal(json.RawMessage(call))
		if err != nil {
			t.Fatal(err)
		}
		k.sendLine(string(b))
		if got := k.readReply(); strings.Contains(got.Error, "unmarshal") || strings.Contains(got.Error, "mcp.") {
			t.Errorf("%s: %s", call, got.Error)
		}
	})
}

// unreachableUntil returns a connect function for an engine unreachable until the channel is
// closed.
func unreachableUntil(until <-chan struct{}) func(context.Context, string, string, *api.Bounds) (*client.Client, error) {
	return func(ctx context.Context, _, _ string, _ *api.Bounds) (*client.Client, error) {
		select {
		case <-until:
		case <-ctx.Done():
		}
		return nil, api.Errorf(api.CodeUnavailable, "no engine")
	}
}
