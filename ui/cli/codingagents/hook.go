package codingagents

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"time"

	"tandem/engine/api"
)

const (
	// hookPatience bounds a report by a hook: the agent waits for it.
	hookPatience = 2 * time.Second
	// inputPatience is how long an agent has to say what its hook is about.
	inputPatience = time.Second
	maxHookInput  = 4 << 20 // bytes; a tool's result can be in it
	maxHookText   = 1 << 10 // bytes of a question
)

// reportHook reports from an agent's hook. Outside a session it does nothing, and nothing
// fails: the agent must not notice.
func (v Verbs) reportHook(ctx context.Context, in api.AgentReportInput) {
	in.ID = v.Own()
	if in.ID == "" || in.State != "" && !api.IsAgentState(in.State) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, hookPatience)
	defer cancel()
	if in.Conversation == "" && in.Text == "" {
		said := readHook(v.Stdin)
		in.Conversation = said.conversation()
		if in.State == api.AgentBlocked {
			in.Text = said.question()
		}
	}
	if in.State == "" && in.Conversation == "" {
		return
	}
	client, err := v.Reach(ctx)
	if err != nil {
		return
	}
	defer client.Close()
	_, _ = api.AgentReport.Call(ctx, client, in)
}

// A hookInput is what an agent tells its hook, as far as several of them agree on names.
// Where each has it from is in ui/cli/setup, beside the hooks.
type hookInput struct {
	SessionID      string    `json:"session_id"`
	SessionIDCamel string    `json:"sessionId"`       // Copilot CLI
	ConversationID string    `json:"conversation_id"` // Cursor CLI
	Message        string    `json:"message"`
	Tool           string    `json:"tool_name"`
	Input          toolInput `json:"tool_input"`
}

// A toolInput is what a tool is to do, of which a person is asked.
type toolInput struct {
	Questions []struct {
		Question string `json:"question"`
	} `json:"questions"`
	Command   string `json:"command"`
	FilePath  string `json:"file_path"`
	Path      string `json:"path"`
	URL       string `json:"url"`
	Query     string `json:"query"`
	Pattern   string `json:"pattern"`
	Operation string `json:"description"`
}

// UnmarshalJSON takes any value: what is no object, or has a field of another type, says
// less and fails nothing.
func (t *toolInput) UnmarshalJSON(text []byte) error {
	type plain toolInput
	_ = json.Unmarshal(text, (*plain)(t))
	return nil
}

// readHook reads what an agent tells its hook. An agent that leaves the pipe open is not
// waited for.
func readHook(from io.Reader) (in hookInput) {
	got := make(chan hookInput, 1)
	go func() {
		var in hookInput
		_ = json.NewDecoder(io.LimitReader(from, maxHookInput)).Decode(&in)
		got <- in
	}()
	select {
	case in = <-got:
	case <-time.After(inputPatience):
	}
	return in
}

func (in hookInput) conversation() string {
	return firstNamed(in.SessionID, in.SessionIDCamel, in.ConversationID)
}

// question is what the agent asks.
func (in hookInput) question() string {
	about := firstNamed(in.Input.Command, in.Input.FilePath, in.Input.Path, in.Input.URL, in.Input.Query, in.Input.Pattern, in.Input.Operation)
	text := firstNamed(in.Message, in.Tool+": "+about)
	switch {
	case len(in.Input.Questions) > 0:
		text = in.Input.Questions[0].Question
	case in.Message == "" && (in.Tool == "" || about == ""):
		text = in.Tool + about
	}
	if len(text) > maxHookText {
		text = strings.ToValidUTF8(text[:maxHookText], "") + "…"
	}
	return text
}

func firstNamed(names ...string) string {
	for _, name := range names {
		if name != "" {
			return name
		}
	}
	return ""
}
