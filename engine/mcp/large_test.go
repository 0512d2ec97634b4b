package mcp

import (
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestALargeResultSaysWhatItsOrdinaryEncodingSays(t *testing.T) {
	text := strings.Repeat("<&> \"quoted\" \x00\x1b é 😀 \xff\n", muchText/16)
	for name, r := range map[string]*sdk.CallToolResult{
		"text":    {Content: []sdk.Content{&sdk.TextContent{Text: text}}},
		"blocks":  {Content: []sdk.Content{&sdk.TextContent{Text: text}, &sdk.TextContent{Text: "end"}}, IsError: true},
		"facts":   {Content: []sdk.Content{&sdk.TextContent{Text: text}}, StructuredContent: map[string]any{"code": 1.0}},
		"meta":    {Meta: sdk.Meta{"k": "v"}, Content: []sdk.Content{&sdk.TextContent{Text: text}}},
		"small":   {Content: []sdk.Content{&sdk.TextContent{Text: "x"}}},
		"picture": {Content: []sdk.Content{&sdk.TextContent{Text: text}, &sdk.ImageContent{Data: dot(), MIMEType: "image/png"}}},
	} {
		want, err := encode(r)
		if err != nil {
			t.Fatal(err)
		}
		l := light(r, withHandshake)
		if _, large := l.(*largeResult); large != (name != "small" && name != "picture") {
			t.Errorf("%s is encoded as %T", name, l)
		}
		got, err := encode(l)
		if err != nil || canonicalJSON(t, string(got)) != canonicalJSON(t, string(want)) {
			t.Errorf("%s: %.200s, want %.200s, %v", name, got, want, err)
		}
	}
	got, err := encode(light(&sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, withoutSessions))
	if err != nil || !strings.HasPrefix(string(got), `{"resultType":"complete",`) {
		t.Errorf("%.100s, %v", got, err)
	}
}

func BenchmarkLargeResult(b *testing.B) {
	r := &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: strings.Repeat("0123456789abcdef\n", 600_000)}}}
	for b.Loop() {
		if _, err := encode(light(r, withHandshake)); err != nil {
			b.Fatal(err)
		}
	}
}
