package mcp

import (
	"context"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tandem/engine/api"
)

// A recipe is a prompt with one argument.
type recipe struct {
	name, title, doc      string
	argument, argumentDoc string
	text                  string // with %s for the argument
}

func recipes() []recipe {
	return []recipe{
		{"watch-dev-server", "Start and watch a dev server", "Start a server that keeps running, wait until it is ready, and keep an eye on its log.",
			"command", "the command that starts the server, such as npm run dev",
			"Start `%s` with process_start (keepAlive if it should survive crashes), with wait for its port or for a line that shows it is ready; " +
				"if it exits instead, find the cause in its output, fix it and start again. Then tell me its id, the URL it serves and how to stop it. " +
				"While we work, check process_log, which returns new output, before you assume that a change worked."},
		{"debug-process", "Debug a failing process", "Find out why a process failed, and fix it.",
			processArgument, "id or name of the process",
			"The process `%s` fails. Look at it with process_list, then at the end of its log with process_log (grep for error, exception, panic with context). " +
				"Say what happened in one sentence with the evidence. Reproduce it with exec if that is safe, fix the cause, process_restart it, " +
				"and confirm with process_wait that it stays up."},
		{"pair-in-session", "Pair in a terminal session", "Share a live terminal with the user who watches it.",
			"task", "what to do together",
			"Let us work in one terminal: %s. Use session_list to find my shell, or session_start a new one and tell me its name so that I can open it. " +
				"Run commands with session_exec; use session_screen to see full-screen programs and session_write with keys to drive them. " +
				"I may type too: if an answer is locked_by_user, wait for me. Never type a secret: use session_wait for input and ask me to enter it."},
	}
}

// addPrompts offers the recipes as prompts.
func (s *server) addPrompts() {
	for _, r := range recipes() {
		p := &sdk.Prompt{Name: r.name, Title: r.title, Description: r.doc,
			Arguments: []*sdk.PromptArgument{{Name: r.argument, Description: r.argumentDoc, Required: true}}}
		s.sdk.AddPrompt(p, r.render)
	}
}

func (r recipe) render(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
	value := req.Params.Arguments[r.argument]
	if value == "" {
		return nil, api.Errorf(api.CodeInvalid, "prompts/get: argument %q of %s is missing: %s", r.argument, r.name, r.argumentDoc)
	}
	return &sdk.GetPromptResult{Description: r.doc, Messages: []*sdk.PromptMessage{
		{Role: "user", Content: &sdk.TextContent{Text: fmt.Sprintf(r.text, value)}},
	}}, nil
}
