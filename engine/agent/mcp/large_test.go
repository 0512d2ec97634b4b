package mcp

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
	"tandem/tests/needs"
	"tandem/tests/wait"
)

// encodeLarge returns a result's encoding by our transport, or the SDK's if the result is not large.
func encodeLarge(t *testing.T, r *sdk.CallToolResult) (encoding string, large bool) {
	t.Helper()
	kept := &toolkit.ResultStore{}
	b, err := toolkit.Encode(toolkit.EncodeLarge(r, kept))
	if err != nil {
		t.Fatal(err)
	}
	l := kept.Take(b)
	if l == nil {
		return string(b), false
	}
	var out strings.Builder
	w := bufio.NewWriter(&out)
	l.WriteJSON(w)
	w.Flush()
	return out.String(), true
}

func TestLargeResultEqualsPlainEncoding(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("<&> \"quoted\" \x00\x1b é 😀 \xff\n", toolkit.LargeResultSize/16)
	for name, r := range map[string]*sdk.CallToolResult{
		"text":    {Content: []sdk.Content{&sdk.TextContent{Text: text}}},
		"blocks":  {Content: []sdk.Content{&sdk.TextContent{Text: text}, &sdk.TextContent{Text: "end"}}, IsError: true},
		"facts":   {Content: []sdk.Content{&sdk.TextContent{Text: text}}, StructuredContent: map[string]any{"code": 1.0}},
		"spoken":  {Content: []sdk.Content{}, StructuredContent: toolkit.FactsWithText{Facts: []byte(`{"code":1}`), Text: []string{text, "", text}}},
		"alone":   {Content: []sdk.Content{}, StructuredContent: toolkit.FactsWithText{Facts: []byte(`{}`), Text: []string{text}}, IsError: true},
		"meta":    {Meta: sdk.Meta{"k": "v"}, Content: []sdk.Content{&sdk.TextContent{Text: text}}},
		"small":   {Content: []sdk.Content{&sdk.TextContent{Text: "x"}}},
		"picture": {Content: []sdk.Content{&sdk.TextContent{Text: text}, &sdk.ImageContent{Data: onePixelPNG(), MIMEType: "image/png"}}},
	} {
		want, err := toolkit.Encode(r)
		if err != nil {
			t.Fatal(err)
		}
		got, large := encodeLarge(t, r)
		if large != (name != "small" && name != "picture") || canonicalJSON(t, got) != canonicalJSON(t, string(want)) {
			t.Errorf("%s, large %v: %.200s, want %.200s", name, large, got, want)
		}
	}
}

// The transport must write exactly the SDK's bytes.
func TestTransportWritesLargeResultAsEncoded(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	kept := &toolkit.ResultStore{}
	for i, text := range []string{
		strings.Repeat("é", toolkit.PieceSize),
		strings.Repeat("x", toolkit.LargeResultSize) + strings.Repeat("\xe2\x82", toolkit.PieceSize) + "\xf0\x9f",
		"x" + strings.Repeat("😀\u2028<\"\\\n", toolkit.PieceSize),
		strings.Repeat("\xbf", 2*toolkit.PieceSize+1),
	} {
		r := &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}, &sdk.TextContent{}}}
		want, err := toolkit.Encode(r)
		if err != nil {
			t.Fatal(err)
		}
		ticket, err := toolkit.Encode(toolkit.EncodeLarge(r, kept))
		if err != nil || len(ticket) > 100 {
			t.Fatalf("text %d: a ticket of %d bytes, %v", i, len(ticket), err)
		}
		var out strings.Builder
		c := &lineConn{lineTransport: lineTransport{out: &out, store: kept}}
		id, _ := jsonrpc.MakeID(7.0)
		if err := c.Write(t.Context(), &jsonrpc.Response{ID: id, Result: ticket}); err != nil {
			t.Fatal(err)
		}
		if canonicalJSON(t, out.String()) != canonicalJSON(t, `{"jsonrpc":"2.0","id":7,"result":`+string(want)+`}`) || !strings.HasSuffix(out.String(), "}\n") {
			t.Errorf("text %d: %.100s…, want a result of %.100s…", i, out.String(), want)
		}
		if kept.Take(ticket) != nil {
			t.Errorf("text %d is still kept", i)
		}
	}
}

func TestResultTicketIsValidOnce(t *testing.T) {
	t.Parallel()
	kept := &toolkit.ResultStore{}
	r := &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: strings.Repeat("x", toolkit.LargeResultSize)}}}
	one, other := toolkit.EncodeLarge(r, kept), toolkit.EncodeLarge(r, kept)
	first, err := toolkit.Encode(one)
	second, err2 := toolkit.Encode(other)
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	for _, tc := range []struct {
		ticket string
		want   sdk.Result
	}{{string(second), other}, {string(second), nil}, {string(first), one}, {`{"ticket":9}`, nil}, {`{}`, nil}} {
		if got := kept.Take([]byte(tc.ticket)); tc.want == nil && got != nil || tc.want != nil && got != tc.want {
			t.Errorf("%s is for %p, want %p", tc.ticket, got, tc.want)
		}
	}
	if got := (*toolkit.ResultStore)(nil).Take(first); got != nil {
		t.Error("there is a result where none are kept")
	}
}

func BenchmarkLargeResultInLines(b *testing.B) {
	r := &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: strings.Repeat("0123456789abcdef\n", 600_000)}}}
	c := &lineConn{lineTransport: lineTransport{out: io.Discard, store: &toolkit.ResultStore{}}}
	for b.Loop() {
		ticket, err := toolkit.Encode(toolkit.EncodeLarge(r, c.store))
		if err == nil {
			err = c.Write(b.Context(), &jsonrpc.Response{Result: ticket})
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

func TestEngineReturnsMemoryAfterLargeOutputs(t *testing.T) {
	needs.FullRun(t)
	r := newRig(t, toolkit.Native)
	info, err := api.EngineInfo.Call(t.Context(), r.agent.Engine, api.Empty{})
	if err != nil {
		t.Fatal(err)
	}
	r.call("exec", object{"command": "true"})
	idle := anonymousMB(t, info.EnginePID)
	for range 3 {
		answer := r.call("exec", object{"command": "head -c 10000000 /dev/zero | tr '\\0' x", "maxOutput": toolkit.MaxSize})
		if size := len(resultText(answer)); size < 10_000_000 {
			t.Fatalf("exec gives %d bytes", size)
		}
	}
	wait.Poll(r, fmt.Sprintf("the idle engine to shrink to %d MB as before", idle), func() (mb int, done bool) {
		mb = anonymousMB(t, info.EnginePID)
		return mb, mb <= idle+5
	})
}

// anonymousMB returns the memory of a process not backed by files, in MB.
func anonymousMB(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "RssAnon:")
	kb, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return kb >> 10
}
