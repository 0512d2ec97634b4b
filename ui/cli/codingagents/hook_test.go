package codingagents

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
)

func TestReadHookSupportsTheAgentsInputs(t *testing.T) {
	for _, c := range []struct{ input, conversation, question string }{
		{`{"session_id": "a", "tool_name": "Bash", "tool_input": {"command": "rm -rf build", "description": "Clean up"}}`, "a", "Bash: rm -rf build"},
		{`{"session_id": "a", "tool_name": "ExitPlanMode", "tool_input": {"plan": "long"}}`, "a", "ExitPlanMode"},
		{`{"session_id": "a", "tool_name": "AskUserQuestion", "tool_input": {"questions": [{"question": "Which one?", "options": []}]}}`, "a", "Which one?"},
		{`{"sessionId": "b", "message": "Allow it?", "notification_type": "permission_prompt"}`, "b", "Allow it?"},
		{`{"session_id": "a", "message": "Tool Confirm Shell Command requires execution", "details": {"type": "exec", "command": "mkdir x"}}`, "a", "Tool Confirm Shell Command requires execution: mkdir x"},
		{`{"conversation_id": "c"}`, "c", ""},
		{`{"session_id": "a", "tool_name": "x", "tool_input": ["rm"]}`, "a", "x"},
		{`{"session_id": "a", "tool_name": "x", "tool_input": {"path": 1, "command": "ls"}}`, "a", "x: ls"},
		{`{"session_id": "a", "message": "` + strings.Repeat("ä", maxHookText) + `"}`, "a", strings.Repeat("ä", maxHookText/2) + "…"},
		{`no json`, "", ""},
		{``, "", ""},
	} {
		in := readHook(strings.NewReader(c.input))
		if in.conversation() != c.conversation || in.question() != c.question {
			t.Errorf("%.60s: %q, %q", c.input, in.conversation(), in.question())
		}
	}
}

func TestReadHookTimesOutWithoutInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		if in := readHook(r); in.conversation() != "" {
			t.Error(in)
		}
		w.Close()
	})
}
