package toolkit

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A fact stands in one place of a result, and so does bulk output. Which place
// that is depends on what a client shows its model: some show nothing but the
// structured content where there is some, others never look at it.

// A clientKind is what of a result a client shows its model.
type clientKind int

const (
	unknownClient    clientKind = iota
	textClient                  // the text alone
	structuredClient            // the structured content alone, where there is some
)

// withStructured is the first version of the protocol with structured content
// (MCP 2025-06-18, Tools).
const withStructured = "2025-06-18"

// knownClients are the kinds of clients, by how the names begin that they give
// themselves.
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

// kindOfClient is the kind of an agent's client, which speaks a version of the
// protocol; "" for one that is not known.
func kindOfClient(actor, version string) clientKind {
	if version != "" && version < withStructured {
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

// Shaped is a result as an agent's client can show it, speaking a version of the
// protocol.
func (f *Agent) Shaped(r Result, version string) Result {
	if r.Structured == nil {
		return r
	}
	texts, only := textsOf(r.Content)
	facts, err := Encode(r.Structured)
	if r.Failed || !only || err != nil || len(facts) < len("{}") || facts[len(facts)-1] != '}' {
		r.Structured = nil // a failure or a picture would not be seen beside it
		return r
	}
	kind := kindOfClient(f.Actor, version)
	switch {
	case kind == structuredClient && r.Told:
		r.Content = nil
	case kind == structuredClient:
		r.Structured, r.Content = FactsWithText{facts, texts}, nil
	case r.Told:
		r.Structured = nil
	case kind == textClient:
		r.Structured = nil
		if len(facts) > len("{}") {
			r.Content = append(slices.Clone(r.Content), &sdk.TextContent{Text: string(facts)})
		}
	}
	return r
}

// textsOf is the text of each of a result's blocks; only is false if there are
// others.
func textsOf(content []sdk.Content) (texts []string, only bool) {
	for _, c := range content {
		t, ok := c.(*sdk.TextContent)
		if !ok {
			return nil, false
		}
		texts = append(texts, t.Text)
	}
	return texts, true
}

// FactsWithText are a JSON object to which the member "text" is added: texts on
// lines of their own.
type FactsWithText struct {
	Facts []byte
	Text  []string
}

// MarshalJSON implements json.Marshaler.
func (s FactsWithText) MarshalJSON() ([]byte, error) { return encoded(s.pieces()), nil }

func (s FactsWithText) pieces() []Piece {
	pieces := []Piece{{JSON: reopened(s.Facts)}, {JSON: []byte(`"text":"`)}}
	for i, t := range s.Text {
		if i > 0 {
			pieces = append(pieces, Piece{JSON: []byte(`\n`)})
		}
		pieces = append(pieces, Piece{text: t})
	}
	return append(pieces, Piece{JSON: []byte(`"}`)})
}

// Encode is JSON without the escapes that only HTML needs.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
