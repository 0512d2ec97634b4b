package toolkit

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Facts and bulk output each appear in one place of a result. The right place depends on the
// client: some show their model only the structured content if there is any, others never look at
// it.

// A clientKind tells how a client shows results to its model.
type clientKind int

const (
	unknownClient    clientKind = iota
	textClient                  // shows only the text
	structuredClient            // shows only the structured content, if there is any
)

// firstStructuredVersion is the first protocol version with structured content (MCP 2025-06-18,
// Tools).
const firstStructuredVersion = "2025-06-18"

// knownClients maps the beginnings of client names to kinds.
func knownClients() map[string]clientKind {
	return map[string]clientKind{
		"claude-code": structuredClient,
		"codex":       structuredClient,
		"opencode":    structuredClient,
		"claude-ai":   textClient, // Claude Desktop and claude.ai
		"cursor":      textClient,
		"gemini-cli":  textClient,
	}
}

// clientKindOf returns the kind of an agent's client for a protocol version.
func clientKindOf(actor, version string) clientKind {
	if version != "" && version < firstStructuredVersion {
		return textClient
	}
	name := strings.ToLower(strings.TrimPrefix(actor, "agent:"))
	for known, kind := range knownClients() {
		if strings.HasPrefix(name, known) {
			return kind
		}
	}
	return unknownClient
}

// Brief is structured content that repeats facts of the text. Clients known to show their model all
// of a result get only the remaining facts.
type Brief interface {
	// Unsaid returns the facts missing from the text. Without any, its JSON is {}.
	Unsaid() any
}

// FitToClient returns a result in the form shown by the agent's client, without empty blocks of
// text, which services of models reject.
func (f *Agent) FitToClient(r Result, version string) Result {
	r.Content = slices.DeleteFunc(slices.Clone(r.Content), func(c sdk.Content) bool {
		text, ok := c.(*sdk.TextContent)
		return ok && text.Text == ""
	})
	if r.Structured == nil {
		return r
	}
	kind := clientKindOf(f.Actor, version)
	if brief, ok := r.Structured.(Brief); ok && kind != unknownClient && !r.SameAsText {
		r.Structured = brief.Unsaid()
	}
	texts, only := textBlocks(r.Content)
	facts, err := Encode(r.Structured)
	if r.Failed || !only || err != nil || len(facts) < len("{}") || facts[len(facts)-1] != '}' {
		r.Structured = nil // its presence could hide a failure or an image
		return r
	}
	switch {
	case kind == structuredClient && r.SameAsText:
		r.Content = nil
	case kind == structuredClient && string(facts) == "{}":
		r.Structured = nil
	case kind == structuredClient:
		r.Structured, r.Content = FactsWithText{facts, texts}, nil
	case r.SameAsText:
		r.Structured = nil
	case kind == textClient:
		r.Structured = nil
		if len(facts) > len("{}") {
			r.Content = append(slices.Clone(r.Content), &sdk.TextContent{Text: string(facts)})
		}
	}
	return r
}

// textBlocks returns the text of each block. complete is false if there are blocks of other kinds.
func textBlocks(content []sdk.Content) (texts []string, complete bool) {
	for _, c := range content {
		t, ok := c.(*sdk.TextContent)
		if !ok {
			return nil, false
		}
		texts = append(texts, t.Text)
	}
	return texts, true
}

// FactsWithText is a JSON object with an added member "text" holding the texts on separate lines.
type FactsWithText struct {
	Facts []byte
	Text  []string
}

// MarshalJSON implements json.Marshaler.
func (s FactsWithText) MarshalJSON() ([]byte, error) {
	text, err := Encode(strings.Join(s.Text, "\n"))
	return slices.Concat(openObject(s.Facts), []byte(`"text":`), text, []byte("}")), err
}

// Encode encodes v without HTML escapes.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
