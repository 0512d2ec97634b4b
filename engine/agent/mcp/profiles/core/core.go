// Package core implements the tools of the profile core: commands in the background.
package core

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
)

// Tools returns the tools of the "core" profile, which run commands given as a program and its
// arguments, manage background processes, and list the successful commands.
func Tools() []toolkit.Tool {
	core := []toolkit.Profile{toolkit.Core}
	return []toolkit.Tool{
		toolkit.Define[coreCommand, toolkit.None](toolkit.Tool{Name: "execute-command", Effect: api.Destructive, Profiles: core,
			Doc: "Run a program without a shell, wait for it and get its stdout."}, executeCommand),
		toolkit.Define[coreCommand, toolkit.None](toolkit.Tool{Name: "start-command-async", Effect: api.Destructive, Profiles: core,
			Doc: "Start a program in the background and get its process ID."}, startCommand),
		toolkit.Define[coreProcess, toolkit.None](toolkit.Tool{Name: "check-command-status", Effect: api.Read, Profiles: core,
			Doc: "Get status, runtime, exit code and output of a background command."}, checkCommand),
		toolkit.Define[coreProcess, toolkit.None](toolkit.Tool{Name: "stop-command", Effect: api.Destructive, Profiles: core,
			Doc: "Stop a background command and all it started."}, stopCommand),
		toolkit.Define[toolkit.None, toolkit.None](toolkit.Tool{Name: "list-background-processes", Effect: api.Read, Profiles: core,
			Doc: "List background processes that agents started."}, listBackground),
		toolkit.Define[toolkit.None, toolkit.None](toolkit.Tool{Name: "get-command-history", Effect: api.Read, Profiles: core,
			Doc: "List the commands that succeeded, oldest first, as a JSON array."}, commandHistory),
		toolkit.Define[toolkit.None, toolkit.None](toolkit.Tool{Name: "clear-command-history", Effect: api.Destructive, Profiles: core,
			Doc: "Clear the list of commands that succeeded."}, clearHistory),
		toolkit.Define[coreSave, toolkit.None](toolkit.Tool{Name: "save-to-file", Effect: api.Destructive, Profiles: core,
			Doc: "Save the list of commands to a text file, one per line."}, saveHistory),
		toolkit.Define[coreLoad, toolkit.None](toolkit.Tool{Name: "load-from-file", Effect: api.Write, Profiles: core,
			Doc: "Load the list of commands from a text file."}, loadHistory),
	}
}

type coreCommand struct {
	Command []string `json:"command"`
}

type coreProcess struct {
	ProcessID string `json:"processId" doc:"from start-command-async"`
}

func (c coreProcess) Subject(*toolkit.Agent) toolkit.Subject {
	return toolkit.Subject{Session: c.ProcessID}
}

type coreSave struct {
	AbsolutePath string `json:"absolutePath"`
	Overwrite    bool   `json:"overwrite,omitempty"`
}

type coreLoad struct {
	AbsolutePath string `json:"absolutePath"`
}

func executeCommand(ctx context.Context, f *toolkit.Agent, in coreCommand) (toolkit.Result, error) {
	out, err := f.Exec(ctx, api.ExecInput{
		Command: in.Command, CWD: f.Options.CWD, TimeoutMS: int(toolkit.NoTimeout.Milliseconds()), MaxOutput: 16 * toolkit.MaxStream,
	})
	if err != nil {
		return toolkit.Textf("Command not executed successfully: %s", toolkit.StartFailure(in.Command, err)).AsFailure(), nil
	}
	p := out.Process
	stdout := toolkit.NoteOmitted(out.StdoutDropped, p.LogPath) + out.Stdout
	if code, ok := toolkit.ExitCode(p); !ok || code != 0 {
		captured := stdout + toolkit.NewlineBetween(stdout, out.Stderr) + out.Stderr
		message := "Command not executed successfully, exit code: " + toolkit.ExitText(p) + "\n\n" + captured
		return toolkit.Text(strings.TrimRight(message, "\n")).AsFailure().ForProcess(p.ID), nil
	}
	// The command has already run, so a failure to list it is not an error.
	_, _ = api.CommandsAdd.Call(ctx, f.Engine, api.CommandsInput{Commands: []string{p.Command}})
	return toolkit.Text(stdout).ForProcess(p.ID), nil
}

func startCommand(ctx context.Context, f *toolkit.Agent, in coreCommand) (toolkit.Result, error) {
	p, err := f.StartProcess(ctx, api.ProcessStartInput{Command: in.Command, CWD: f.Options.CWD, SplitLog: true, StopTimeoutMS: toolkit.StopTimeout, NoStdin: true})
	switch {
	case err != nil:
		return toolkit.Textf("Failed to start command: %s", toolkit.StartFailure(in.Command, err)).AsFailure(), nil
	case p.State == api.StateFailed:
		return toolkit.Textf("Failed to start command: %s", p.Error).AsFailure().ForProcess(p.ID), nil
	}
	return toolkit.Textf("Command started in background. Process ID: %s", p.ID).ForProcess(p.ID), nil
}

// findBackground finds a process without a terminal.
func findBackground(ctx context.Context, f *toolkit.Agent, id string) (api.Process, error) {
	p, err := api.ProcessGet.Call(ctx, f.Engine, api.IDInput{ID: id})
	// A session counts as not found: the profile's agents know only background processes.
	if errors.Is(err, api.CodeNotFound) || err == nil && (p.Kind != api.KindProcess || !p.IsCalled(id)) {
		err = api.Errorf(api.CodeNotFound, "Process not found: %s", id)
	}
	return p, err
}

func checkCommand(ctx context.Context, f *toolkit.Agent, in coreProcess) (toolkit.Result, error) {
	p, err := findBackground(ctx, f, in.ProcessID)
	if err != nil {
		return toolkit.Result{}, err
	}
	stdout, dropped, err := f.StreamOutput(ctx, p, "stdout")
	if err != nil {
		return toolkit.Result{}, err
	}
	stderr, droppedErrors, err := f.StreamOutput(ctx, p, "stderr")
	if err != nil {
		return toolkit.Result{}, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Process %s is %s.\nCommand: %s\n", p.ID, commandStatus(p), toolkit.ShortenCommand(p.Command))
	if p.State.Ended() {
		fmt.Fprintf(&b, "Exit Code: %s\n", toolkit.ExitText(p))
	}
	fmt.Fprintf(&b, "Duration: %d seconds\nOutput:\n", int(toolkit.RunTime(p).Seconds()))
	if stdout == "" {
		stdout = "[No output]\n"
	}
	b.WriteString(toolkit.NoteOmitted(dropped, p.LogPath) + stdout)
	if stderr != "" {
		b.WriteString(toolkit.NewlineBetween(stdout, stderr) + "STDERR:\n" + toolkit.NoteOmitted(droppedErrors, p.ErrorLogPath) + stderr)
	}
	return toolkit.Text(strings.TrimSuffix(b.String(), "\n")).ForProcess(p.ID), nil
}

// commandStatus returns the name of a process's state in the profile core.
func commandStatus(p api.Process) string {
	code, known := toolkit.ExitCode(p)
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

func stopCommand(ctx context.Context, f *toolkit.Agent, in coreProcess) (toolkit.Result, error) {
	p, err := findBackground(ctx, f, in.ProcessID)
	if err != nil {
		return toolkit.Result{}, err
	}
	if !p.State.Ended() {
		_, err = api.ProcessStop.Call(ctx, f.Engine, api.ProcessStopInput{ID: p.ID, TimeoutMS: toolkit.StopTimeout})
	}
	switch {
	// It may have exited between the two calls.
	case p.State.Ended(), errors.Is(err, api.CodeEnded):
		return toolkit.Textf("Process %s is already terminated.", p.ID).ForProcess(p.ID), nil
	case err != nil:
		return toolkit.Result{}, err
	}
	return toolkit.Textf("Process %s has been stopped.", p.ID).ForProcess(p.ID), nil
}

func listBackground(ctx context.Context, f *toolkit.Agent, _ toolkit.None) (toolkit.Result, error) {
	out, err := api.ProcessList.Call(ctx, f.Engine, api.ProcessListInput{})
	if err != nil {
		return toolkit.Result{}, err
	}
	var blocks []string
	for _, p := range out.Processes {
		if !isAgentsBackground(p) {
			continue
		}
		block := fmt.Sprintf("Process ID: %s\nCommand: %s\nStatus: %s\nRuntime: %d seconds",
			p.ID, toolkit.ShortenCommand(p.Command), commandStatus(p), int(toolkit.RunTime(p).Seconds()))
		if p.State.Ended() {
			block += "\nExit Code: " + toolkit.ExitText(p)
		}
		blocks = append(blocks, block)
	}
	if len(blocks) == 0 {
		return toolkit.Text("No background processes are currently tracked."), nil
	}
	return toolkit.Text(strings.Join(blocks, "\n\n")), nil
}

// isAgentsBackground reports whether an agent started p in the background. A one-shot command counts
// only while it runs.
func isAgentsBackground(p api.Process) bool {
	return p.Kind == api.KindProcess && strings.HasPrefix(p.Actor, "agent:") &&
		(!p.State.Ended() || p.Supervision == nil || !p.Supervision.Transient)
}

func commandHistory(ctx context.Context, f *toolkit.Agent, _ toolkit.None) (toolkit.Result, error) {
	out, err := api.CommandsList.Call(ctx, f.Engine, api.Empty{})
	if err != nil {
		return toolkit.Result{}, err
	}
	return toolkit.Text(toolkit.JSONText(append([]string{}, out.Commands...))), nil
}

func clearHistory(ctx context.Context, f *toolkit.Agent, _ toolkit.None) (toolkit.Result, error) {
	_, err := api.CommandsReplace.Call(ctx, f.Engine, api.CommandsInput{Commands: []string{}})
	return toolkit.Text(""), err
}

func saveHistory(ctx context.Context, f *toolkit.Agent, in coreSave) (toolkit.Result, error) {
	if !filepath.IsAbs(in.AbsolutePath) {
		return toolkit.Text("Path must be absolute.").AsFailure(), nil
	}
	out, err := api.HistorySave.Call(ctx, f.Engine, api.HistorySaveInput{Path: in.AbsolutePath, Overwrite: in.Overwrite, Recent: true})
	switch {
	case errors.Is(err, api.ReasonExists):
		return toolkit.Text("File already exists! Pass overwrite=true to replace it.").AsFailure(), nil
	case err != nil:
		return toolkit.Textf("Error saving history: %s", api.AsError(err).Message).AsFailure(), nil
	case out.Replaced:
		return toolkit.Textf("History saved successfully (overwritten). Saved %d commands.", out.Count), nil
	}
	return toolkit.Textf("History saved successfully. Saved %d commands.", out.Count), nil
}

func loadHistory(ctx context.Context, f *toolkit.Agent, in coreLoad) (toolkit.Result, error) {
	if !filepath.IsAbs(in.AbsolutePath) {
		return toolkit.Text("Error loading history: Path must be absolute.").AsFailure(), nil
	}
	out, err := api.HistoryLoad.Call(ctx, f.Engine, api.HistoryLoadInput{Path: in.AbsolutePath, Recent: true})
	switch {
	case errors.Is(err, api.CodeNotFound):
		return toolkit.Text("File doesn't exist!").AsFailure(), nil
	case err != nil:
		return toolkit.Textf("Error loading history: %s", api.AsError(err).Message).AsFailure(), nil
	}
	return toolkit.Textf("History loaded successfully! Loaded %d commands.", out.Count), nil
}
