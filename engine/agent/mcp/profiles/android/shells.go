package android

import (
	"context"
	"maps"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
)

// A shellBackend is a kind of session.
type shellBackend interface {
	ownsSession(p api.Process) bool
	startFolder(f *toolkit.Agent) string // default working folder
	startShell(ctx context.Context, f *toolkit.Agent, in localSessionInput) (p api.Process, output string, err error)
	writeInput(ctx context.Context, f *toolkit.Agent, p api.Process, input string) error
	resizeTerminal(ctx context.Context, f *toolkit.Agent, p api.Process, cols, rows int) (statusResult, error)
	killSession(ctx context.Context, f *toolkit.Agent, p api.Process) error
	busyHint() string // what an agent can do while a program runs
}

// A pipeShell is a shell reading commands from a pipe.
type pipeShell struct{}

func (pipeShell) ownsSession(p api.Process) bool { return p.Supervision != nil && p.Supervision.Stdin }

func (pipeShell) startFolder(f *toolkit.Agent) string { return f.Options.CWD }

// pipePrompt is returned in place of the shell's first prompt, because a shell that reads from a
// pipe prints no prompt.
const pipePrompt = "$ "

func (pipeShell) startShell(ctx context.Context, f *toolkit.Agent, in localSessionInput) (api.Process, string, error) {
	env := map[string]string{"TERM": "dumb", "NO_COLOR": "1", "PAGER": "cat", "GIT_PAGER": "cat"}
	maps.Copy(env, in.Env)
	p, err := f.StartProcess(ctx, api.ProcessStartInput{
		Command: []string{plainShell()}, CWD: in.CWD, Env: env, Stdin: true, Transient: true, StopTimeoutMS: toolkit.StopTimeout,
	})
	return p, pipePrompt, err
}

func (pipeShell) writeInput(ctx context.Context, f *toolkit.Agent, p api.Process, input string) error {
	return api.ProcessWrite.Run(ctx, f.Engine, api.ProcessWriteInput{ID: p.ID, Text: input})
}

func (pipeShell) resizeTerminal(context.Context, *toolkit.Agent, api.Process, int, int) (statusResult, error) {
	return statusResult{OK: true, Detail: "the session has no terminal: its size has no effect"}, nil
}

func (pipeShell) killSession(ctx context.Context, f *toolkit.Agent, p api.Process) error {
	return api.ProcessStop.Run(ctx, f.Engine, api.ProcessStopInput{ID: p.ID})
}

func (pipeShell) busyHint() string {
	return "read returns its output, write sends it input, kill ends the session"
}

// A terminalShell is a shell in a terminal.
type terminalShell struct{ shell string }

func (terminalShell) ownsSession(p api.Process) bool { return p.Terminal != nil }

func (terminalShell) startFolder(f *toolkit.Agent) string { return f.Options.Home }

func (t terminalShell) startShell(ctx context.Context, f *toolkit.Agent, in localSessionInput) (api.Process, string, error) {
	p, err := f.StartSession(ctx, api.SessionStartInput{Command: []string{t.shell}, CWD: in.CWD, Env: in.Env, Cols: in.Cols, Rows: in.Rows})
	if err != nil {
		return p, "", err
	}
	toolkit.AwaitPrompt(ctx, f, p.ID)
	out, err := readOutput(ctx, f, p, 0)
	return p, out.Output, err
}

func (terminalShell) writeInput(ctx context.Context, f *toolkit.Agent, p api.Process, input string) error {
	return api.TypeInto(ctx, f.Engine, api.SessionWriteInput{ID: p.ID, Text: input})
}

func (terminalShell) resizeTerminal(ctx context.Context, f *toolkit.Agent, p api.Process, cols, rows int) (statusResult, error) {
	if cols == 0 {
		cols = p.Terminal.Cols
	}
	if rows == 0 {
		rows = p.Terminal.Rows
	}
	return statusResult{OK: true}, api.SessionResize.Run(ctx, f.Engine, api.SessionResizeInput{ID: p.ID, Cols: cols, Rows: rows})
}

func (terminalShell) killSession(ctx context.Context, f *toolkit.Agent, p api.Process) error {
	return api.SessionKill.Run(ctx, f.Engine, api.IDInput{ID: p.ID})
}

func (terminalShell) busyHint() string {
	return `write with input \u0003 (ctrl+c) interrupts the program and clears the line`
}
