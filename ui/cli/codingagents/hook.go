package codingagents

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/ui/cli/procfs"
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
	if in.ID = v.Own(); in.ID == "" || in.State != "" && !api.IsAgentState(in.State) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, hookPatience)
	defer cancel()
	alone := !v.AtTerminal() // its process serves other terminals, too: it may be of another session
	if alone || in.Conversation == "" && in.Text == "" {
		said := readHook(v.Stdin)
		in.Conversation = firstNamed(in.Conversation, said.conversation())
		if alone {
			in.ID, in.Folder = "", said.CWD
		}
		if in.State == api.AgentBlocked && in.Text == "" {
			in.Text = said.question()
		}
	}
	if in.State == "" && in.Conversation == "" || in.ID == "" && in.Folder == "" && in.Conversation == "" {
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
	CWD            string    `json:"cwd"`
	Message        string    `json:"message"`
	Tool           string    `json:"tool_name"`
	Input          toolInput `json:"tool_input"`
	Details        toolInput `json:"details"` // Gemini CLI
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
	about := firstNamed(in.Input.about(), in.Details.about())
	text := firstNamed(in.Message, in.Tool)
	switch {
	case len(in.Input.Questions) > 0:
		text = in.Input.Questions[0].Question
	case text != "" && about != "":
		text += ": " + about
	case text == "":
		text = about
	}
	if len(text) > maxHookText {
		text = strings.ToValidUTF8(text[:maxHookText], "") + "…"
	}
	return text
}

func (t toolInput) about() string {
	return firstNamed(t.Command, t.FilePath, t.Path, t.URL, t.Query, t.Pattern, t.Operation)
}

func firstNamed(names ...string) string {
	for _, name := range names {
		if name != "" {
			return name
		}
	}
	return ""
}

// AtTerminal reports whether this process, or one that it comes from, belongs to a
// terminal.
func AtTerminal() bool {
	for pid := os.Getpid(); pid > 1; {
		s, ok := procfs.Read(pid)
		if !ok || s.Terminal != 0 {
			return ok
		}
		pid = s.Parent
	}
	return false
}
