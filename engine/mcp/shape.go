package mcp

import (
	"bytes"
	"encoding/json"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Bulk output stands in exactly one place of a result. By default that is the
// text, with facts such as exit code and cursors as structured content. Some
// clients show their model nothing but the structured content where there is
// some; for them the text goes into it, under "text".

// structuredOnly reports whether an agent's client is one of those.
func structuredOnly(actor string) bool {
	name := strings.ToLower(strings.TrimPrefix(actor, "agent:"))
	for _, known := range []string{"claude-code", "codex", "opencode"} {
		if strings.HasPrefix(name, known) {
			return true
		}
	}
	return false
}

// shaped is a result as an agent's client can show it.
func (f *face) shaped(r result) result {
	if r.structured == nil || r.failed || !structuredOnly(f.actor) {
		return r
	}
	text, only := textOf(r.content)
	if !only {
		r.structured = nil // a picture would not be seen
		return r
	}
	if facts, ok := withText(r.structured, text); ok {
		r.structured, r.content = facts, nil
	}
	return r
}

// textOf is the text of a result's blocks; only is false if there are others.
func textOf(content []sdk.Content) (text string, only bool) {
	var parts []string
	for _, c := range content {
		t, ok := c.(*sdk.TextContent)
		if !ok {
			return "", false
		}
		parts = append(parts, t.Text)
	}
	return strings.Join(parts, "\n"), true
}

// withText adds the member "text" to what becomes a JSON object; false if it
// becomes none.
func withText(structured any, text string) (facts json.RawMessage, ok bool) {
	facts, err := encode(structured)
	if err != nil || len(facts) < 2 || facts[len(facts)-1] != '}' {
		return nil, false
	}
	said, err := encode(text)
	if err != nil {
		return nil, false
	}
	head := facts[:len(facts)-1]
	if len(head) > 1 {
		head = append(head, ',')
	}
	return append(append(append(head, `"text":`...), said...), '}'), true
}

// encode is JSON without the escapes that only HTML needs.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
