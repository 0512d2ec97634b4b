package mcp

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"tandem/engine/api"
)

// coreTools are the tools of the profile core: commands as a program and its
// arguments, background processes, and a list of what succeeded.
func coreTools() []tool {
	core := []Profile{Core}
	return []tool{
		define[coreCommand, none](tool{name: "execute-command", effect: api.Destructive, profiles: core,
			doc: "Run a program without a shell, wait for its end and get its stdout."}, executeCommand),
		define[coreCommand, none](tool{name: "start-command-async", effect: api.Destructive, profiles: core,
			doc: "Start a program in the background and get its process ID."}, startCommand),
		define[coreProcess, none](tool{name: "check-command-status", effect: api.Read, profiles: core,
			doc: "Get status, runtime, exit code and output of a background command."}, checkCommand),
		define[coreProcess, none](tool{name: "stop-command", effect: api.Destructive, profiles: core,
			doc: "End a background command and all that it started."}, stopCommand),
		define[none, none](tool{name: "list-background-processes", effect: api.Read, profiles: core,
			doc: "List background processes that agents started."}, listBackground),
		define[none, none](tool{name: "get-command-history", effect: api.Read, profiles: core,
			doc: "List the commands that succeeded, oldest first, as a JSON array."}, commandHistory),
		define[none, none](tool{name: "clear-command-history", effect: api.Destructive, idempotent: true, profiles: core,
			doc: "Empty the list of commands that succeeded."}, clearHistory),
		define[coreSave, none](tool{name: "save-to-file", effect: api.Destructive, profiles: core,
			doc: "Save the list of commands to a text file, one a line."}, saveHistory),
		define[coreLoad, none](tool{name: "load-from-file", effect: api.Write, idempotent: true, profiles: core,
			doc: "Replace the list of commands by that of a text file."}, loadHistory),
	}
}

type coreCommand struct {
	Command []string `json:"command" doc:"program and arguments"`
}

func (c coreCommand) subject(f *face) subject { return subject{argv: c.Command, cwd: f.o.CWD} }

type coreProcess struct {
	ProcessID string `json:"processId" doc:"from start-command-async"`
}

type coreSave struct {
	AbsolutePath string `json:"absolutePath"`
	Overwrite    bool   `json:"overwrite,omitempty" doc:"replace an existing file"`
}

func (c coreSave) subject(*face) subject { return subject{paths: []string{c.AbsolutePath}} }

type coreLoad struct {
	AbsolutePath string `json:"absolutePath"`
}

func (c coreLoad) subject(*face) subject { return subject{paths: []string{c.AbsolutePath}} }

func executeCommand(ctx context.Context, f *face, in coreCommand) (result, error) {
	out, err := api.Exec.Call(ctx, f.engine, api.ExecInput{
		Command: in.Command, CWD: f.o.CWD, Environ: f.environ, Actor: f.actor,
		TimeoutMS: int(untilDone.Milliseconds()), MaxOutput: 16 * streamMost,
	})
	if err != nil {
		return textf("Command not executed successfully: %s", cannotStart(in.Command, err)).fail(), nil
	}
	p := out.Process
	stdout := cutNote(out.StdoutDropped, p) + out.Stdout
	if code, ok := exitCode(p); !ok || code != 0 {
		captured := stdout + lineBetween(stdout, out.Stderr) + out.Stderr
		message := "Command not executed successfully, exit code: " + exitText(p) + "\n\n" + captured
		return text(strings.TrimRight(message, "\n")).fail().of(p.ID), nil
	}
	// The command has run: that the list cannot be reached does not undo it.
	_, _ = api.CommandsAdd.Call(ctx, f.engine, api.CommandsInput{Commands: []string{p.Command}})
	return text(stdout).of(p.ID), nil
}

// lineBetween ends a line that what follows shall not go on.
func lineBetween(before, after string) string {
	if before == "" || after == "" || strings.HasSuffix(before, "\n") {
		return ""
	}
	return "\n"
}

func startCommand(ctx context.Context, f *face, in coreCommand) (result, error) {
	p, err := api.ProcessStart.Call(ctx, f.engine, api.ProcessStartInput{
		Command: in.Command, CWD: f.o.CWD, Environ: f.environ, Actor: f.actor,
		SplitLog: true, StopTimeoutMS: stopPatience,
	})
	switch {
	case err != nil:
		return textf("Failed to start command: %s", cannotStart(in.Command, err)).fail(), nil
	case p.State == api.StateFailed:
		return textf("Failed to start command: %s", p.Error).fail().of(p.ID), nil
	}
	return textf("Command started in background. Process ID: %s", p.ID).of(p.ID), nil
}

// background finds a process without a terminal. A failure is told in the
// words of the tools that ask.
func (f *face) background(ctx context.Context, id string) (p api.Process, unknown *result, err error) {
	p, err = api.ProcessGet.Call(ctx, f.engine, api.IDInput{ID: id})
	if errors.Is(err, api.CodeNotFound) || id == "" || err == nil && p.Kind != api.KindProcess {
		r := textf("Process not found: %s", id).fail()
		return p, &r, nil
	}
	return p, nil, err
}

func checkCommand(ctx context.Context, f *face, in coreProcess) (result, error) {
	p, unknown, err := f.background(ctx, in.ProcessID)
	if err != nil || unknown != nil {
		return either(unknown, err)
	}
	stdout, dropped, err := f.printed(ctx, p, "stdout")
	if err != nil {
		return result{}, err
	}
	stderr, droppedErrors, err := f.printed(ctx, p, "stderr")
	if err != nil {
		return result{}, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Process %s is %s.\nCommand: %s\n", p.ID, commandStatus(p), p.Command)
	if p.State.Ended() {
		fmt.Fprintf(&b, "Exit Code: %s\n", exitText(p))
	}
	fmt.Fprintf(&b, "Duration: %d seconds\nOutput:\n", int(lasted(p).Seconds()))
	if stdout == "" {
		stdout = "[No output]\n"
	}
	b.WriteString(cutNote(dropped, p) + stdout)
	if stderr != "" {
		b.WriteString(lineBetween(stdout, stderr) + "STDERR:\n" + cutNote(droppedErrors, p) + stderr)
	}
	return text(strings.TrimSuffix(b.String(), "\n")).of(p.ID), nil
}

// either is the answer of a tool that has found nothing to work on.
func either(r *result, err error) (result, error) {
	if r == nil {
		return result{}, err
	}
	return *r, err
}

// commandStatus is a process's state in the words of the profile core.
func commandStatus(p api.Process) string {
	code, known := exitCode(p)
	switch {
	case !p.State.Ended():
		return "RUNNING"
	case p.State == api.StateStopped:
		return "TERMINATED"
	case known && code == 0:
		return "COMPLETED_SUCCESS"
	}
	return "COMPLETED_ERROR"
}

func stopCommand(ctx context.Context, f *face, in coreProcess) (result, error) {
	p, unknown, err := f.background(ctx, in.ProcessID)
	if err != nil || unknown != nil {
		return either(unknown, err)
	}
	if !p.State.Ended() {
		_, err = api.ProcessStop.Call(ctx, f.engine, api.ProcessStopInput{ID: p.ID, TimeoutMS: stopPatience})
	}
	switch {
	case p.State.Ended(), errors.Is(err, api.CodeEnded):
		return textf("Process %s is already terminated.", p.ID).of(p.ID), nil
	case err != nil:
		return result{}, err
	}
	return textf("Process %s has been stopped.", p.ID).of(p.ID), nil
}

func listBackground(ctx context.Context, f *face, _ none) (result, error) {
	out, err := api.ProcessList.Call(ctx, f.engine, api.ProcessListInput{})
	if err != nil {
		return result{}, err
	}
	var blocks []string
	for _, p := range out.Processes {
		if !agentsBackground(p) {
			continue
		}
		block := fmt.Sprintf("Process ID: %s\nCommand: %s\nStatus: %s\nRuntime: %d seconds",
			p.ID, p.Command, commandStatus(p), int(lasted(p).Seconds()))
		if p.State.Ended() {
			block += "\nExit Code: " + exitText(p)
		}
		blocks = append(blocks, block)
	}
	if len(blocks) == 0 {
		return text("No background processes are currently tracked."), nil
	}
	return text(strings.Join(blocks, "\n\n")), nil
}

// agentsBackground reports whether a process is one that an agent has started
// to go on by itself; a one-shot command is while it runs.
func agentsBackground(p api.Process) bool {
	return p.Kind == api.KindProcess && strings.HasPrefix(p.Actor, "agent:") &&
		(!p.State.Ended() || p.Supervision == nil || !p.Supervision.Transient)
}

func commandHistory(ctx context.Context, f *face, _ none) (result, error) {
	out, err := api.CommandsList.Call(ctx, f.engine, api.Empty{})
	if err != nil {
		return result{}, err
	}
	return text(jsonText(append([]string{}, out.Commands...))), nil
}

// jsonText is a value as JSON that leaves <, > and & readable.
func jsonText(v any) string {
	b, err := encode(v)
	if err != nil {
		return "null" // nothing that tools answer with does that
	}
	return string(b)
}

func clearHistory(ctx context.Context, f *face, _ none) (result, error) {
	_, err := api.CommandsReplace.Call(ctx, f.engine, api.CommandsInput{Commands: []string{}})
	return text(""), err
}

func saveHistory(ctx context.Context, f *face, in coreSave) (result, error) {
	if !filepath.IsAbs(in.AbsolutePath) {
		return text("Path must be absolute.").fail(), nil
	}
	out, err := api.HistorySave.Call(ctx, f.engine, api.HistorySaveInput{Path: in.AbsolutePath, Overwrite: in.Overwrite, Recent: true})
	switch {
	case errors.Is(err, api.CodeConflict):
		return text("File already exists! Pass overwrite=true to replace it.").fail(), nil
	case err != nil:
		return textf("Error saving history: %s", api.AsError(err).Message).fail(), nil
	case out.Replaced:
		return textf("History saved successfully (overwritten). Saved %d commands.", out.Count), nil
	}
	return textf("History saved successfully. Saved %d commands.", out.Count), nil
}

func loadHistory(ctx context.Context, f *face, in coreLoad) (result, error) {
	if !filepath.IsAbs(in.AbsolutePath) {
		return text("Error loading history: Path must be absolute.").fail(), nil
	}
	out, err := api.HistoryLoad.Call(ctx, f.engine, api.HistoryLoadInput{Path: in.AbsolutePath, Recent: true})
	switch {
	case errors.Is(err, api.CodeNotFound):
		return text("File doesn't exist!").fail(), nil
	case err != nil:
		return textf("Error loading history: %s", api.AsError(err).Message).fail(), nil
	}
	return textf("History loaded successfully! Loaded %d commands.", out.Count), nil
}
