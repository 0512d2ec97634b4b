package codingagents

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/persist/procstat"
	"tandem/ui/cli/factory"
)

const (
	// hookTimeout is how long a report by a hook may take, because the agent waits for it.
	hookTimeout = 2 * time.Second
	// inputTimeout is how long an agent may take to write its hook's input.
	inputTimeout = time.Second
	maxHookInput = 4 << 20 // bytes; the input may contain a tool's result
	maxHookText  = 1 << 10 // bytes of a question
)

// reportHook reports a state from an agent's hook. Outside a session it does nothing. It hides all
// errors, which would disturb the agent.
func reportHook(ctx context.Context, f *factory.Factory, in api.AgentReportInput) {
	if in.ID = f.Env(factory.OwnSession); in.ID == "" || in.State != "" && !api.IsAgentState(in.State) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, hookTimeout)
	defer cancel()
	alone := !AtTerminal() // the agent's process serves several terminals, so the session may be another one
	if alone || in.Conversation == "" && in.Text == "" {
		said := readHook(f.Stdin)
		in.Conversation = cmp.Or(in.Conversation, said.conversation())
		// Only the folder can identify the session then.
		if alone {
			in.ID, in.Folder = "", said.CWD
		}
		if in.State == api.AgentBlocked && in.Text == "" {
			in.Text = said.question()
		}
	}
	if in.Conversation == "" && (in.State == "" || (in.ID == "" && in.Folder == "")) {
		return
	}
	client, err := f.Reach(ctx)
	if err != nil {
		return
	}
	defer client.Close()
	_, _ = api.AgentReport.Call(ctx, client, in)
}

// A hookInput is the input of a hook. The agents share most of the names; ui/cli/setup has the
// sources, beside each agent's hooks.
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

// A toolInput describes the use of a tool for which an agent asks the user.
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

// UnmarshalJSON accepts any value. It ignores values other than objects, and fields of another
// type.
func (t *toolInput) UnmarshalJSON(text []byte) error {
	type plain toolInput
	_ = json.Unmarshal(text, (*plain)(t))
	return nil
}

// readHook reads the input of a hook. It gives up after inputTimeout if the agent keeps the pipe
// open.
func readHook(from io.Reader) (in hookInput) {
	// A read from a pipe cannot be cancelled, so the goroutine may outlive the call; the program
	// exits soon.
	got := make(chan hookInput, 1)
	go func() {
		var in hookInput
		_ = json.NewDecoder(io.LimitReader(from, maxHookInput)).Decode(&in)
		got <- in
	}()
	select {
	case in = <-got:
	case <-time.After(inputTimeout):
	}
	return in
}

func (in hookInput) conversation() string {
	return cmp.Or(in.SessionID, in.SessionIDCamel, in.ConversationID)
}

// question returns the agent's question.
func (in hookInput) question() string {
	about := cmp.Or(in.Input.subject(), in.Details.subject())
	text := cmp.Or(in.Message, in.Tool)
	switch {
	case len(in.Input.Questions) > 0:
		text = in.Input.Questions[0].Question
	case text != "" && about != "":
		text += ": " + about
	case text == "":
		text = about
	}
	if len(text) > maxHookText {
		// The cut may be within a character; remove its beginning.
		text = strings.ToValidUTF8(text[:maxHookText], "") + "…"
	}
	return text
}

func (t toolInput) subject() string {
	return cmp.Or(t.Command, t.FilePath, t.Path, t.URL, t.Query, t.Pattern, t.Operation)
}

// AtTerminal reports whether this process, or one of its ancestors, belongs to a terminal.
func AtTerminal() bool {
	for pid := os.Getpid(); pid > 1; {
		p, err := procstat.Read(pid)
		if err != nil || p.Terminal != 0 {
			return err == nil
		}
		pid = p.Parent
	}
	return false
}
