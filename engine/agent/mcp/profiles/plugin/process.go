package plugin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
	"tandem/engine/base/names"
	"tandem/engine/screen/vt/scan"
)

type StartInput struct {
	Command   toolkit.ShellLine `json:"command"`
	Name      string            `json:"name,omitempty"`
	CWD       string            `json:"cwd,omitempty"`
	Env       toolkit.Env       `json:"env,omitempty"`
	KeepAlive bool              `json:"keepAlive,omitempty"`
	Sandbox   sandboxInput      `json:"sandbox,omitempty"`
	Lease     api.Lease         `json:"lease,omitempty" schema:"-"`
}

func (in StartInput) Subject(f *toolkit.Agent) toolkit.Subject {
	return toolkit.Subject{Command: string(in.Command), CWD: f.Folder(in.CWD), Env: in.Env}
}

// CleanName returns the name without the characters that names may not have. The result is "" if
// nothing is left.
func (in StartInput) CleanName() string { return names.Clean(in.Name) }

// A ProcessState describes a process in results.
type ProcessState struct {
	ID           string `json:"id"`
	Name         string `json:"name"`
	PID          int    `json:"pid,omitempty"`
	Status       string `json:"status"` // running, stopped or exited
	KeepAlive    bool   `json:"keepAlive"`
	RestartCount int    `json:"restartCount"`
	ExitCode     *int   `json:"exitCode,omitempty"`
	Signal       string `json:"signal,omitempty"`
	LogPath      string `json:"logPath"`
	ErrorLogPath string `json:"errorLogPath,omitempty"` // of a command of exec, whose streams have a log each
	CWD          string `json:"cwd"`
	Command      string `json:"command"`

	unknown bool // its exit was not observed
}

func stateOf(p api.Process) ProcessState {
	s := ProcessState{
		ID: p.ID, Name: p.Name, PID: p.PID, Status: statusOf(p.State), KeepAlive: p.KeepAlive,
		ExitCode: p.ExitCode, Signal: p.ExitSignal, LogPath: p.LogPath, ErrorLogPath: p.ErrorLogPath, CWD: p.CWD, Command: toolkit.ShortenCommand(CommandOf(p)), unknown: p.ExitUnknown,
	}
	if p.Supervision != nil {
		s.RestartCount = p.Supervision.Restarts
	}
	return s
}

// statusOf returns a state in this profile's words: a process waiting to be restarted has exited;
// one never started or being stopped is running.
func statusOf(s api.State) string {
	switch s {
	case api.StateWaiting, api.StateStarting, api.StateRunning, api.StateStopping:
		return "running"
	case api.StateStopped:
		return "stopped"
	}
	return "exited"
}

// CommandOf returns the shell line a process was started with, or its command.
func CommandOf(p api.Process) string {
	if len(p.Argv) == 3 && p.Argv[1] == "-c" && (p.Argv[0] == "bash" || p.Argv[0] == "sh") {
		return p.Argv[2]
	}
	return p.Command
}

// fields returns the state as names and values, in display order.
func (s ProcessState) fields() [][2]string {
	pid, exit := "-", "-"
	if s.PID != 0 {
		pid = strconv.Itoa(s.PID)
	}
	switch {
	case s.ExitCode != nil:
		exit = strconv.Itoa(*s.ExitCode)
	case s.Signal != "":
		exit = s.Signal
	case s.unknown:
		exit = "unknown"
	}
	fields := [][2]string{
		{"id", s.ID}, {"name", s.Name}, {"pid", pid}, {"status", s.Status},
		{"keepAlive", strconv.FormatBool(s.KeepAlive)}, {"restartCount", strconv.Itoa(s.RestartCount)},
		{"exitCode", exit}, {"logPath", s.LogPath},
	}
	if s.ErrorLogPath != "" {
		fields = append(fields, [2]string{"errorLogPath", s.ErrorLogPath})
	}
	return append(fields, [2]string{"command", scan.Visible(s.Command)})
}

func (s ProcessState) describe() string { return s.joinFields(": ", "\n") }

func (s ProcessState) joinFields(between, behind string) string {
	parts := make([]string, 0, 10)
	for _, f := range s.fields() {
		parts = append(parts, f[0]+between+f[1])
	}
	return strings.Join(parts, behind)
}

func startAndDescribe(ctx context.Context, f *toolkit.Agent, in StartInput) (toolkit.Result, error) {
	return StartProcess(ctx, f, in, func(p api.Process) toolkit.Result {
		s := stateOf(p)
		return toolkit.Text(s.describe()).WithSameFacts(s)
	})
}

// StartProcess starts a process under a valid form of its name. It calls result for the started
// process and returns that value. If the process cannot be started, it returns an error or a failed
// result.
func StartProcess(ctx context.Context, f *toolkit.Agent, in StartInput, result func(api.Process) toolkit.Result) (toolkit.Result, error) {
	if err := toolkit.CheckLine("start process", string(in.Command), in.Env); err != nil {
		return toolkit.Result{}, err
	}
	sandbox, err := parseSandbox(f, in.Sandbox, in.CWD)
	if err != nil {
		return toolkit.Result{}, err
	}
	p, err := f.StartProcess(ctx, api.ProcessStartInput{
		Name: in.CleanName(), Command: shellArgv(f, string(in.Command)), CWD: f.Folder(in.CWD), Env: in.Env, KeepAlive: in.KeepAlive, Sandbox: sandbox, Lease: in.Lease,
	})
	switch {
	case err != nil:
		return toolkit.Result{}, f.StartError(in.CWD, err)
	case p.State == api.StateFailed:
		return toolkit.Textf("Failed to start process: %s", p.Error).AsFailure().ForProcess(p.ID), nil
	}
	return result(p).ForProcess(p.ID), nil
}

func listProcesses(ctx context.Context, f *toolkit.Agent, _ toolkit.None) (toolkit.Result, error) {
	out, err := api.ProcessList.Call(ctx, f.Engine, api.ProcessListInput{})
	if err != nil {
		return toolkit.Result{}, err
	}
	var rows []string
	for _, p := range out.Processes {
		if IsListed(p) {
			rows = append(rows, stateOf(p).joinFields("=", " "))
		}
	}
	if len(rows) == 0 {
		return toolkit.Text("No managed processes."), nil
	}
	return toolkit.Text(truncateRows(f, rows, "processes", "")), nil
}

// IsListed reports whether a process belongs in lists. Sessions do not, and one-shot commands do
// only while they run.
func IsListed(p api.Process) bool {
	return p.Kind == api.KindProcess && (!p.State.Ended() || p.Supervision == nil || !p.Supervision.Transient)
}

func getProcess(ctx context.Context, f *toolkit.Agent, in toolkit.IDInput) (toolkit.Result, error) {
	p, err := api.ProcessGet.Call(ctx, f.Engine, api.IDInput{ID: in.ID})
	if err != nil {
		return toolkit.Result{}, unknownProcess(in.ID, err)
	}
	s := stateOf(p)
	return toolkit.Text(s.describe()).WithSameFacts(s).ForProcess(p.ID), nil
}

func unknownProcess(id string, err error) error {
	if errors.Is(err, api.CodeNotFound) {
		return api.Errorf(api.CodeNotFound, "Unknown process id: %s", id)
	}
	return err
}

type stopInput struct {
	ID     string `json:"id"`
	Signal string `json:"signal,omitempty" enum:"SIGTERM,SIGINT,SIGHUP,SIGKILL" default:"SIGTERM"`
}

// StopSignal validates the name of a stop signal; the default is SIGTERM.
func StopSignal(name string) (string, error) {
	switch {
	case name == "":
		return "SIGTERM", nil
	case slices.Contains([]string{"SIGTERM", "SIGINT", "SIGHUP", "SIGKILL"}, name):
		return name, nil
	}
	return "", api.Errorf(api.CodeInvalid, "stop process: signal %q: must be SIGTERM, SIGINT, SIGHUP or SIGKILL", name)
}

func stopProcess(ctx context.Context, f *toolkit.Agent, in stopInput) (toolkit.Result, error) {
	signal, err := StopSignal(in.Signal)
	if err != nil {
		return toolkit.Result{}, err
	}
	p, err := api.ProcessStop.Call(ctx, f.Engine, api.ProcessStopInput{ID: in.ID, Signal: signal})
	switch {
	case errors.Is(err, api.CodeEnded):
		return toolkit.Textf("Process %s is not running.", in.ID).ForProcess(in.ID), nil
	case err != nil:
		return toolkit.Result{}, unknownProcess(in.ID, err)
	}
	return toolkit.Textf("Stopped process %s with %s.", p.ID, signal).ForProcess(p.ID), nil
}

type StopAllInput struct {
	Signal string `json:"signal,omitempty" enum:"SIGTERM,SIGINT,SIGHUP,SIGKILL" default:"SIGTERM"`
}

func StopAll(ctx context.Context, f *toolkit.Agent, in StopAllInput) (toolkit.Result, error) {
	signal, err := StopSignal(in.Signal)
	if err != nil {
		return toolkit.Result{}, err
	}
	out, err := api.ProcessStopAll.Call(ctx, f.Engine, api.ProcessStopAllInput{Signal: signal})
	if err != nil {
		return toolkit.Result{}, err
	}
	return toolkit.Text(fmt.Sprintf("Stopped %d processes with %s.", len(out.Stopped), signal)), nil
}
