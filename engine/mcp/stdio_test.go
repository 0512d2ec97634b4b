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

	"tandem/engine/api"
	"tandem/engine/api/client"
	"tandem/engine/mcp/toolkit"
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

const (
	noRPC = "the message is not JSON-RPC 2.0: "
	noID  = `"id" must be a string or a whole number`
)

func TestInvalidLineGetsErrorAndServerContinues(t *testing.T) {
	t.Parallel()
	long := `{"jsonrpc":"2.0","id":9,"method":"ping","params":{"x":"` + strings.Repeat("x", maxLine) + `"}}`
	for _, tc := range []struct {
		name, line string
		want       replySummary
	}{
		{"no JSON", `{"jsonrpc":`, replySummary{nil, -32700, "the message is not JSON"}},
		{"two values", `{} {}`, replySummary{nil, -32700, "the message is not JSON"}},
		{"control characters", "\x00\x1b[2J", replySummary{nil, -32700, "the message is not JSON"}},
		{"a number", `7`, replySummary{nil, -32600, "the message is not a JSON object"}},
		{"null", ` null `, replySummary{nil, -32600, "the message is not a JSON object"}},
		{"another version", `{"jsonrpc":"1.0","id":5,"method":"ping"}`, replySummary{5.0, -32600, noRPC + `"jsonrpc" must be "2.0"`}},
		{"neither call nor answer", `{"jsonrpc":"2.0"}`, replySummary{nil, -32600, noRPC + `it has no "method"`}},
		{"an id that is none", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, replySummary{nil, -32600, noRPC + noID}},
		{"an id of null", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, replySummary{nil, -32600, noRPC + noID}},
		{"an id that is no whole number", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, replySummary{nil, -32600, noRPC + noID}},
		{"an id that is too large", `{"jsonrpc":"2.0","id":99999999999999999999,"method":"ping"}`, replySummary{nil, -32600, noRPC + noID}},
		{"a method that is none", `{"jsonrpc":"2.0","id":"a","method":7}`, replySummary{"a", -32600, noRPC + `"method" must be a string`}},
		{"an error that is none", `{"jsonrpc":"2.0","id":4,"error":{"code":"x"}}`, replySummary{4.0, -32600, noRPC + `"error" must be {"code": …, "message": "…"}`}},
		{"too deep", `{"jsonrpc":"2.0","id":4,"method":"ping","params":` + strings.Repeat("[", 1001) + strings.Repeat("]", 1001) + "}",
			replySummary{4.0, -32600, noRPC + "it is nested too deeply"}},
		{"too long", long, replySummary{nil, -32600, "the message is longer than 16 MiB"}},
		{"an empty batch", `[]`, replySummary{nil, -32600, "the batch is empty"}},
		{"unknown method", `{"jsonrpc":"2.0","id":3,"method":"no/such"}`, replySummary{3.0, -32601, ""}},
		{"unknown tool", `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"nope"}}`, replySummary{4.0, -32602, `tools/call: no tool is named "nope"; tools/list lists them`}},
		{"params of a wrong type", `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":[]}}`, replySummary{4.0, -32602, "tools/call: params.name must be a string, not an array"}},
		{"no params", `{"jsonrpc":"2.0","id":4,"method":"tools/call"}`, replySummary{4.0, -32600, `invalid request: missing required "params"`}},
		{"a cursor that is none", `{"jsonrpc":"2.0","id":4,"method":"tools/list","params":{"cursor":"x"}}`, replySummary{4.0, -32602, "tools/list: unknown cursor; leave it out to start from the beginning"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			k := newLineClient(t)
			k.sendLine(hello)
			k.readReply()
			k.sendLine(tc.line)
			got := k.readReply()
			if tc.want.Code == -32601 {
				got.Error = ""
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			k.sendLine(`{"jsonrpc":"2.0","id":"still","method":"ping"}`)
			if got := k.readReply(); got.ID != "still" || got.Code != 0 {
				t.Errorf("the server does not go on: %+v", got)
			}
		})
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
