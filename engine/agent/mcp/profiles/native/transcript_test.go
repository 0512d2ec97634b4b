package native

import (
	"testing"

	"tandem/engine/api"
)

func TestLastAnswerIsFoundInTranscript(t *testing.T) {
	how := api.AgentTranscript{Text: "payload.content", Answer: map[string]string{
		"type": "response_item", "payload.type": "message", "payload.role": "assistant"}}
	const answer = `{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"one"},{"type":"output_text","text":"two"}]}}` + "\n"
	for name, tc := range map[string]struct {
		lines, want string
		ok          bool
	}{
		"empty file":                 {"", "", false},
		"no answer":                  {`{"type":"session_meta","payload":{"id":"x"}}` + "\n", "", false},
		"parts":                      {answer, "one\ntwo", true},
		"before a user message":      {answer + `{"type":"response_item","payload":{"type":"message","role":"user","content":[{"text":"no"}]}}` + "\n", "one\ntwo", true},
		"before answer without text": {answer + `{"type":"response_item","payload":{"type":"message","role":"assistant","content":[]}}`, "one\ntwo", true},
		"before an incomplete line":  {answer + `{"type":"resp`, "one\ntwo", true},
		"before other JSON values":   {answer + "[]\nnull\n7\n", "one\ntwo", true},
		"plain text":                 {`{"type":"response_item","payload":{"type":"message","role":"assistant","content":"plain"}}`, "plain", true},
	} {
		if got, ok := lastAnswer([]byte(tc.lines), how); got != tc.want || ok != tc.ok {
			t.Errorf("%s: %q, %v, want %q, %v", name, got, ok, tc.want, tc.ok)
		}
	}
}
