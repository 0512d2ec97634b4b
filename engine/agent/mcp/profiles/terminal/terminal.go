// Package terminal implements the tools of the profile terminal.
package terminal

import (
	"context"
	"math"
	"strconv"
	"strings"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
	"tandem/engine/base/shell"
)

const terminalTimeout = 30 // seconds of a command

// Tools returns the tools of the "terminal" profile, which run commands, format text and start
// interactive shells.
func Tools() []toolkit.Tool {
	only := []toolkit.Profile{toolkit.Terminal}
	return []toolkit.Tool{
		toolkit.Define[terminalCommand, terminalRan](toolkit.Tool{Name: "run_terminal_command", Effect: api.Destructive, Profiles: only,
			Doc: "Run a shell command and get its output."}, runTerminalCommand),
		toolkit.Define[formatInput, toolkit.None](toolkit.Tool{Name: "format_terminal_output", Effect: api.Read, Profiles: only,
			Doc: "Format text for a terminal: coloured, as a table, or as indented JSON."}, formatOutput),
		toolkit.Define[shellInput, toolkit.None](toolkit.Tool{Name: "start_interactive_shell", Effect: api.Destructive, Profiles: only,
			Doc: "Start a lasting shell in a terminal; termux_shell_session or session_* tools type into it."}, startShell),
	}
}

type terminalCommand struct {
	Command          toolkit.ShellLine `json:"command"`
	WorkingDirectory string            `json:"working_directory,omitempty"`
	TimeoutSeconds   int               `json:"timeout_seconds,omitempty" doc:"then it is killed" default:"30" min:"0"`
	CaptureOutput    *bool             `json:"capture_output,omitempty" default:"true"`
}

type terminalRan struct {
	Command          string  `json:"command"`
	ReturnCode       int     `json:"return_code"`
	Stdout           string  `json:"stdout"`
	Stderr           string  `json:"stderr"`
	ExecutionTime    float64 `json:"execution_time"`
	WorkingDirectory string  `json:"working_directory"`
}

func runTerminalCommand(ctx context.Context, f *toolkit.Agent, in terminalCommand) (toolkit.Result, error) {
	seconds := terminalTimeout
	switch {
	case strings.TrimSpace(string(in.Command)) == "":
		return toolkit.Result{}, api.Errorf(api.CodeInvalid, "run command: command is empty")
	case in.TimeoutSeconds < 0:
		return toolkit.Result{}, api.Errorf(api.CodeInvalid, "run command: timeout_seconds cannot be negative")
	case in.TimeoutSeconds > 0:
		seconds = min(in.TimeoutSeconds, int(toolkit.NoTimeout.Seconds()))
	}
	cwd := f.Folder(in.WorkingDirectory)
	out, err := f.Exec(ctx, api.ExecInput{
		Command: []string{shell.CommandShell(), "-c", string(in.Command)}, CWD: cwd,
		TimeoutMS: seconds * 1000, Kill: true, MaxOutput: toolkit.MaxStream,
	})
	if err != nil {
		return toolkit.Result{}, err
	}
	ran := terminalRan{Command: string(in.Command), ReturnCode: -1, WorkingDirectory: cwd,
		ExecutionTime: math.Round(out.DurationMS) / 1000}
	if toolkit.ValueOr(in.CaptureOutput, true) {
		ran.Stdout, ran.Stderr = toolkit.Streams(out)
	}
	if toolkit.IsTimedOut(out) {
		message := "Command timed out after " + strconv.Itoa(seconds) + "s"
		ran.Stderr += toolkit.NewlineBetween(ran.Stderr, message) + message
	} else if code, ok := toolkit.ExitCode(out.Process); ok {
		ran.ReturnCode = code
	}
	return toolkit.AnswerJSON(ran).ForProcess(out.Process.ID), nil
}
