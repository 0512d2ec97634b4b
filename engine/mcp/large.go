package mcp

import (
	"bytes"
	"encoding/json"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// muchText is the size of a result that is worth encoding by ourselves.
const muchText = 64 << 10

// A largeResult is a tool's result whose encoding goes over the text once; the
// SDK's goes over it four times.
type largeResult struct {
	sdk.ResultBase
	of         *sdk.CallToolResult
	resultType string // of protocol versions that have it
}

// light gives a large result its own encoding; others stay.
func light(r *sdk.CallToolResult, version string) sdk.Result {
	size := 0
	for _, c := range r.Content {
		t, ok := c.(*sdk.TextContent)
		if !ok || t.Annotations != nil || t.Meta != nil {
			return r
		}
		size += len(t.Text)
	}
	if size < muchText || r.InputRequests != nil {
		return r
	}
	l := &largeResult{of: r}
	l.Meta = r.Meta
	if version >= withoutSessions {
		l.resultType = "complete"
	}
	return l
}

// MarshalJSON implements json.Marshaler.
func (l *largeResult) MarshalJSON() ([]byte, error) {
	head := struct {
		Meta       sdk.Meta `json:"_meta,omitempty"`
		ResultType string   `json:"resultType,omitempty"`
		Structured any      `json:"structuredContent,omitempty"`
		IsError    bool     `json:"isError,omitempty"`
	}{l.Meta, l.resultType, l.of.StructuredContent, l.of.IsError}
	size := 1 << 10
	for _, c := range l.of.Content {
		text := c.(*sdk.TextContent).Text
		size += len(text) + len(text)/8
	}
	var b bytes.Buffer
	b.Grow(size)
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(head); err != nil {
		return nil, err
	}
	reopen(&b) // an object ends with a brace and the encoder's newline
	if b.Len() > 1 {
		b.WriteByte(',')
	}
	b.WriteString(`"content":[`)
	for i, c := range l.of.Content {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`{"type":"text","text":`)
		if err := e.Encode(c.(*sdk.TextContent).Text); err != nil {
			return nil, err
		}
		b.Truncate(b.Len() - 1)
		b.WriteByte('}')
	}
	b.WriteString("]}")
	return b.Bytes(), nil
}

// reopen takes the end off an encoded object, so that members can follow.
func reopen(b *bytes.Buffer) { b.Truncate(b.Len() - 2) }
