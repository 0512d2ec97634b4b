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
	text, only := textsOf(r.content)
	if !only {
		r.structured = nil // a picture would not be seen
		return r
	}
	facts, err := encode(r.structured)
	if err == nil && len(facts) >= 2 && facts[len(facts)-1] == '}' {
		r.structured, r.content = spokenFacts{facts, text}, nil
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

// spokenFacts are a JSON object to which the member "text" is added: texts on
// lines of their own.
type spokenFacts struct {
	facts []byte
	text  []string
}

// MarshalJSON implements json.Marshaler.
func (s spokenFacts) MarshalJSON() ([]byte, error) { return encoded(s.pieces()), nil }

func (s spokenFacts) pieces() []piece {
	pieces := []piece{{json: reopened(s.facts)}, {json: []byte(`"text":"`)}}
	for i, t := range s.text {
		if i > 0 {
			pieces = append(pieces, piece{json: []byte(`\n`)})
		}
		pieces = append(pieces, piece{text: t})
	}
	return append(pieces, piece{json: []byte(`"}`)})
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
