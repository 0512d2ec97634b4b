package toolkit

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

// StructuredOnly reports whether an agent's client is one of those.
func StructuredOnly(actor string) bool {
	name := strings.ToLower(strings.TrimPrefix(actor, "agent:"))
	for _, known := range []string{"claude-code", "codex", "opencode"} {
		if strings.HasPrefix(name, known) {
			return true
		}
	}
	return false
}

// Shaped is a result as an agent's client can show it.
func (f *Agent) Shaped(r Result) Result {
	if r.Structured == nil || r.Failed || !StructuredOnly(f.Actor) {
		return r
	}
	text, only := textsOf(r.Content)
	if !only {
		r.Structured = nil // a picture would not be seen
		return r
	}
	facts, err := Encode(r.Structured)
	if err == nil && len(facts) >= 2 && facts[len(facts)-1] == '}' {
		r.Structured, r.Content = FactsWithText{facts, text}, nil
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
