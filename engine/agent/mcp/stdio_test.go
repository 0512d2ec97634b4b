package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
	"tandem/engine/api/client"
)

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// A lineClient talks to a server in lines.
type lineClient struct {
	testing.TB
	in  *io.PipeWriter
	out *bufio.Reader
	end chan error
}

func newLineClient(t testing.TB) *lineClient {
	t.Helper()
	return newLineClientWith(t, toolkit.Options{CWD: "/", Connect: func(context.Context, string, string, *api.Bounds) (*client.Client, error) {
		return nil, api.Errorf(api.CodeUnavailable, "no engine")
	}})
}

func newLineClientWith(t testing.TB, o toolkit.Options) *lineClient {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	k := &lineClient{TB: t, in: inW, out: bufio.NewReader(outR), end: make(chan error, 1)}
	go func() {
		k.end <- Serve(context.Background(), o, inR, outW)
		outW.Close()
	}()
	t.Cleanup(func() {
		inW.Close()
		_, _ = io.Copy(io.Discard, outR)
	})
	return k
}

func (k *lineClient) sendLine(line string) {
	k.Helper()
	if _, err := io.WriteString(k.in, line+"\n"); err != nil {
		k.Fatal(err)
	}
}

// A replySummary holds the parts of a reply checked by these tests.
type replySummary struct {
	ID    any
	Code  int
	Error string
}

// readReply reads the next reply.
func (k *lineClient) readReply() replySummary {
	k.Helper()
	line, err := k.out.ReadBytes('\n')
	if err != nil {
		k.Fatal(err)
	}
	return summarizeReply(k, string(line))
}

// summarizeReply parses a reply, or the one in an event stream.
func summarizeReply(t testing.TB, answer string) replySummary {
	t.Helper()
	if i := strings.LastIndex(answer, "data: "); i >= 0 {
		answer = answer[i+len("data: "):]
	}
	var m struct {
		Version string `json:"jsonrpc"`
		ID      any    `json:"id"`
		Error   struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.Unmarshal([]byte(answer), &m); err != nil || m.Version != "2.0" {
		t.Fatalf("no message: %s: %v", answer, err)
	}
	return replySummary{m.ID, m.Error.Code, m.Error.Message}
}

func callMessage(method, params string) string {
	return `{"jsonrpc":"2.0","id":7,"method":"` + method + `","params":` + params + `}`
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

func TestInvalidLineGetsErrorAndServerContinues(t *testing.T) {
	t.Parallel()
	k := newLineClient(t)
	k.sendLine(hello)
	k.readReply()
	for _, tc := range []struct {
		name, line string
		id         any
		code       int
	}{
		{"no JSON", `{"jsonrpc":`, nil, -32700},
		{"control characters", "\x00\x1b[2J", nil, -32700},
		{"too long", callMessage("ping", `{"x":"`+strings.Repeat("x", maxLine)+`"}`), nil, -32700},
		{"two values", `{} {}`, nil, -32700},
		{"a number", `7`, nil, -32600},
		{"null", ` null `, nil, -32600},
		{"another version", `{"jsonrpc":"1.0","id":5,"method":"ping"}`, 5.0, -32600},
		{"neither call nor answer", `{"jsonrpc":"2.0"}`, nil, -32600},
		{"an id that is none", `{"jsonrpc":"2.0","id":[],"method":"ping"}`, []any{}, -32600},
		{"a method that is none", `{"jsonrpc":"2.0","id":"a","method":7}`, "a", -32600},
		{"an error that is none", `{"jsonrpc":"2.0","id":4,"error":{"code":"x"}}`, 4.0, -32600},
		{"too deep", callMessage("ping", strings.Repeat("[", 1001)+strings.Repeat("]", 1001)), 7.0, -32600},
		{"an empty batch", `[]`, nil, -32600},
		{"unknown method", callMessage("no/such", "{}"), 7.0, -32601},
		{"unknown tool", callMessage("tools/call", `{"name":"nope"}`), 7.0, -32602},
		{"unknown prompt", callMessage("prompts/get", `{"name":"nope"}`), 7.0, -32602},
		{"unknown resource", callMessage("resources/read", `{"uri":"file:///etc/passwd"}`), 7.0, -32602},
		{"unknown cursor", callMessage("prompts/list", `{"cursor":"x"}`), 7.0, -32602},
		{"missing argument of a prompt", callMessage("prompts/get", `{"name":"debug-process"}`), 7.0, -32602},
		{"params of a wrong type", callMessage("tools/call", `{"name":[]}`), 7.0, -32602},
		{"no params", `{"jsonrpc":"2.0","id":7,"method":"tools/call"}`, 7.0, -32600},
		{"another initialize", callMessage("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`), 7.0, -32603},
	} {
		k.sendLine(tc.line)
		got := k.readReply()
		if diff := cmp.Diff(replySummary{tc.id, tc.code, got.Error}, got); diff != "" || got.Error == "" {
			t.Errorf("%s: answer (-want +got):\n%s", tc.name, diff)
		}
		k.sendLine(`{"jsonrpc":"2.0","id":"still","method":"ping"}`)
		if got := k.readReply(); got.ID != "still" || got.Code != 0 {
			t.Errorf("%s: the server does not go on: %+v", tc.name, got)
		}
	}
}

func TestSecondCallWithTheIDOfAnOpenOneIsRefused(t *testing.T) {
	t.Parallel()
	reach := make(chan struct{})
	k := newLineClientWith(t, toolkit.Options{CWD: "/", Connect: unreachableUntil(reach)})
	k.sendLine(hello)
	k.readReply()
	k.sendLine(busy)
	k.sendLine(busy)
	if got := k.readReply(); got.ID != 2.0 || got.Code != -32600 {
		t.Errorf("answer %+v", got)
	}
	close(reach)
	if got := k.readReply(); got.ID != 2.0 || got.Code != 0 {
		t.Errorf("answer %+v", got)
	}
	k.sendLine(busy)
	if got := k.readReply(); got.ID != 2.0 || got.Code != 0 {
		t.Errorf("once it is answered: %+v", got)
	}
}

func TestStdioBatchIsAnsweredOneByOne(t *testing.T) {
	t.Parallel()
	k := newLineClient(t)
	k.sendLine(hello)
	k.readReply()
	k.sendLine(`[{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","id":"b","method":"ping"}]`)
	got := map[any]bool{k.readReply().ID: true, k.readReply().ID: true}
	if !got["a"] || !got["b"] {
		t.Errorf("answers to %v", got)
	}
}

func TestEndOfInputStopsServerAfterReplies(t *testing.T) {
	t.Parallel()
	k := newLineClient(t)
	k.sendLine(hello)
	k.sendLine(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	k.in.Close()
	if a, b := k.readReply(), k.readReply(); a.Code != 0 || b.Code != 0 {
		t.Errorf("answers %+v and %+v", a, b)
	}
	if err := <-k.end; err != nil {
		t.Errorf("Serve = %v", err)
	}
	if rest, err := io.ReadAll(k.out); err != nil || len(rest) > 0 {
		t.Errorf("more output: %q, %v", rest, err)
	}
}

func TestEndOfInputInsideMessageStopsServer(t *testing.T) {
	t.Parallel()
	k := newLineClient(t)
	if _, err := io.WriteString(k.in, hello[:40]); err != nil {
		t.Fatal(err)
	}
	k.in.Close()
	if got := k.readReply(); got.Code != -32700 {
		t.Errorf("answer %+v", got)
	}
	if err := <-k.end; err != nil {
		t.Errorf("Serve = %v", err)
	}
}

// FuzzStdioLines sends arbitrary input up to its end.
func FuzzStdioLines(f *testing.F) {
	f.Add([]byte(hello + "\n" + `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"session_list"}}`))
	f.Add([]byte("[{},[],\n\n\x00{\"id\":1}\n[{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"id\":1}]"))
	f.Fuzz(func(t *testing.T, input []byte) {
		conn, err := (&lineTransport{in: io.NopCloser(strings.NewReader(string(input))), out: io.Discard}).Connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		for {
			m, err := conn.Read(t.Context())
			if err != nil {
				return
			}
			if r, ok := m.(*jsonrpc.Request); ok && r.IsCall() {
				if err := conn.Write(t.Context(), &jsonrpc.Response{ID: r.ID, Result: json.RawMessage(`{}`)}); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}
