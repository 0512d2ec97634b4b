package mcp

import (
	"context"
	"math"
	"os/exec"
	"strconv"
	"strings"

	"tandem/engine/api"
)

const terminalTimeout = 30 // seconds of a command

// terminalTools are the tools of the profile terminal: commands, text made
// ready for a terminal, and shells in one.
func terminalTools() []tool {
	only := []Profile{Terminal}
	return []tool{
		define[terminalCommand, terminalRan](tool{name: "run_terminal_command", effect: api.Destructive, profiles: only,
			doc: "Run a shell command and get its output."}, runTerminalCommand),
		define[formatInput, none](tool{name: "format_terminal_output", effect: api.Read, idempotent: true, profiles: only,
			doc: "Make text ready for a terminal: coloured, as a table, or as indented JSON."}, formatOutput),
		define[shellInput, none](tool{name: "start_interactive_shell", effect: api.Destructive, profiles: only,
			doc: "Start a shell in a terminal that goes on and can be watched."}, startShell),
	}
}

type terminalCommand struct {
	Command          string `json:"command"`
	WorkingDirectory string `json:"working_directory,omitempty"`
	TimeoutSeconds   int    `json:"timeout_seconds,omitempty" doc:"default 30; then it is ended"`
	CaptureOutput    *bool  `json:"capture_output,omitempty" doc:"default true"`
}

func (c terminalCommand) subject(f *face) subject {
	return subject{command: c.Command, cwd: f.folder(c.WorkingDirectory)}
}

type terminalRan struct {
	Command          string  `json:"command"`
	ReturnCode       int     `json:"return_code"`
	Stdout           string  `json:"stdout"`
	Stderr           string  `json:"stderr"`
	ExecutionTime    float64 `json:"execution_time"`
	WorkingDirectory string  `json:"working_directory"`
}

// commandShell runs command lines: bash, or sh where there is none.
func commandShell() string {
	if _, err := exec.LookPath("bash"); err != nil {
		return "/bin/sh"
	}
	return "bash"
}

func runTerminalCommand(ctx context.Context, f *face, in terminalCommand) (result, error) {
	seconds := terminalTimeout
	switch {
	case strings.TrimSpace(in.Command) == "":
		return result{}, api.Errorf(api.CodeInvalid, "run command: command is empty")
	case in.TimeoutSeconds < 0:
		return result{}, api.Errorf(api.CodeInvalid, "run command: timeout_seconds cannot be negative")
	case in.TimeoutSeconds > 0:
		seconds = min(in.TimeoutSeconds, int(untilDone.Seconds()))
	}
	cwd := f.folder(in.WorkingDirectory)
	out, err := api.Exec.Call(ctx, f.engine, api.ExecInput{
		Command: []string{commandShell(), "-c", in.Command}, CWD: cwd, Environ: f.environ, Actor: f.actor,
		TimeoutMS: seconds * 1000, Kill: true, MaxOutput: streamMost,
	})
	if err != nil {
		return result{}, err
	}
	ran := terminalRan{Command: in.Command, ReturnCode: -1, WorkingDirectory: cwd,
		ExecutionTime: math.Round(out.DurationMS) / 1000}
	if in.CaptureOutput == nil || *in.CaptureOutput {
		ran.Stdout = cutNote(out.StdoutDropped, out.Process) + out.Stdout
		ran.Stderr = cutNote(out.StderrDropped, out.Process) + out.Stderr
	}
	if overdue(out) {
		message := "Command timed out after " + strconv.Itoa(seconds) + "s"
		ran.Stderr += lineBetween(ran.Stderr, message) + message
	} else if code, ok := exitCode(out.Process); ok {
		ran.ReturnCode = code
	}
	return answerJSON(ran).of(out.Process.ID), nil
}

// overdue reports whether a command was ended because its time was over, and
// had not ended by itself at that moment.
func overdue(out api.ExecOutput) bool {
	return out.TimedOut && (out.Process.State == api.StateStopped || !out.Process.State.Ended())
}
