package mcp

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"tandem/engine/api"
)

type startInput struct {
	Command   string            `json:"command"`
	Name      string            `json:"name,omitempty"`
	CWD       string            `json:"cwd,omitempty"`
	Env       map[string]string `json:"env,omitempty"`
	KeepAlive bool              `json:"keepAlive,omitempty" doc:"restart it whenever it ends"`
	Sandbox   sandboxInput      `json:"sandbox,omitempty" doc:"as for exec"`
	Lease     api.Lease         `json:"lease,omitempty" enum:"detached,session,forever"`
}

func (in startInput) subject(f *face) subject {
	return subject{command: in.Command, cwd: f.folder(in.CWD), env: in.Env}
}

// A processState is what the tools for processes tell about one.
type processState struct {
	ID           string `json:"id"`
	Name         string `json:"name"`
	PID          int    `json:"pid,omitempty"`
	Status       string `json:"status"` // running, stopped or exited
	KeepAlive    bool   `json:"keepAlive"`
	RestartCount int    `json:"restartCount"`
	ExitCode     *int   `json:"exitCode,omitempty"`
	Signal       string `json:"signal,omitempty"`
	LogPath      string `json:"logPath"`
	CWD          string `json:"cwd"`
	Command      string `json:"command"`

	unknown bool // nobody saw how it ended
}

func stateOf(p api.Process) processState {
	s := processState{
		ID: p.ID, Name: p.Name, PID: p.PID, Status: statusOf(p.State), KeepAlive: p.KeepAlive,
		ExitCode: p.ExitCode, Signal: p.ExitSignal, LogPath: p.LogPath, CWD: p.CWD, Command: commandOf(p), unknown: p.ExitUnknown,
	}
	if p.Supervision != nil {
		s.RestartCount = p.Supervision.Restarts
	}
	return s
}

// statusOf is a state in the words of this tool set: what waits to be started
// again has exited, and what is being stopped still runs.
func statusOf(s api.State) string {
	switch s {
	case api.StateStarting, api.StateRunning, api.StateStopping:
		return "running"
	case api.StateStopped:
		return "stopped"
	}
	return "exited"
}

// commandOf is the line that a process was started with, if it was one.
func commandOf(p api.Process) string {
	if len(p.Argv) == 3 && p.Argv[1] == "-c" && (p.Argv[0] == "bash" || p.Argv[0] == "sh") {
		return p.Argv[2]
	}
	return p.Command
}

// fields are the state as name and value, in the order in which they are told.
func (s processState) fields() [][2]string {
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
	return [][2]string{
		{"id", s.ID}, {"name", s.Name}, {"pid", pid}, {"status", s.Status},
		{"keepAlive", strconv.FormatBool(s.KeepAlive)}, {"restartCount", strconv.Itoa(s.RestartCount)},
		{"exitCode", exit}, {"logPath", s.LogPath}, {"command", visible(s.Command)},
	}
}

func (s processState) String() string { return s.joined(": ", "\n") }

func (s processState) joined(between, behind string) string {
	parts := make([]string, 0, 9)
	for _, f := range s.fields() {
		parts = append(parts, f[0]+between+f[1])
	}
	return strings.Join(parts, behind)
}

func processStart(ctx context.Context, f *face, in startInput) (result, error) {
	if err := checkLine("start process", in.Command, in.Env); err != nil {
		return result{}, err
	}
	confined, err := f.confinement(in.Sandbox, in.CWD)
	if err != nil {
		return result{}, err
	}
	p, err := f.start(ctx, in.Name, programOf(in.Command), api.ProcessStartInput{
		Command: shellArgv(in.Command), CWD: f.folder(in.CWD), Env: in.Env, Environ: f.environ,
		Actor: f.actor, KeepAlive: in.KeepAlive, Sandbox: confined, Lease: in.Lease,
	})
	switch {
	case err != nil:
		return result{}, err
	case p.State == api.StateFailed:
		return textf("Failed to start process: %s", p.Error).fail().of(p.ID), nil
	}
	s := stateOf(p)
	return text(s.String()).with(s).of(p.ID), nil
}

// start starts a process under the name that was asked for, else under that of
// its program, with a number if that is taken.
func (f *face) start(ctx context.Context, name, program string, in api.ProcessStartInput) (api.Process, error) {
	names := []string{name}
	if name == "" && program != "" {
		names = []string{program, program + "-2", program + "-3", program + "-4", ""}
	}
	for i, n := range names {
		in.Name = n
		p, err := api.ProcessStart.Call(ctx, f.engine, in)
		if i == len(names)-1 || !errors.Is(err, api.CodeConflict) {
			return p, err
		}
	}
	return api.Process{}, nil // there is always a last name
}

// programOf is the name of the program that a line for a shell begins with; ""
// if that cannot be told by looking.
func programOf(line string) string {
	for _, word := range strings.Fields(line) {
		if word == "exec" || strings.Contains(word, "=") {
			continue
		}
		word = filepath.Base(word)
		odd := func(r rune) bool {
			return r >= utf8.RuneSelf || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._+-", r)
		}
		if len(word) > 40 || strings.ContainsFunc(word, odd) || strings.Trim(word, "0123456789abcdef.") == "" {
			return ""
		}
		return word
	}
	return ""
}

func processList(ctx context.Context, f *face, _ none) (result, error) {
	out, err := api.ProcessList.Call(ctx, f.engine, api.ProcessListInput{})
	if err != nil {
		return result{}, err
	}
	var rows []string
	for _, p := range out.Processes {
		if managed(p) {
			rows = append(rows, stateOf(p).joined("=", " "))
		}
	}
	if len(rows) == 0 {
		return text("No managed processes."), nil
	}
	return text(bounded(rows, "processes")), nil
}

// managed reports whether a process is listed: sessions are not, and commands
// that were run once only while they run.
func managed(p api.Process) bool {
	return p.Kind == api.KindProcess && (!p.State.Ended() || p.Supervision == nil || !p.Supervision.Transient)
}

func processGet(ctx context.Context, f *face, in idInput) (result, error) {
	p, err := api.ProcessGet.Call(ctx, f.engine, api.IDInput{ID: in.ID})
	if err != nil {
		return unknownProcess(in.ID, err)
	}
	s := stateOf(p)
	return text(s.String()).with(s).of(p.ID), nil
}

func unknownProcess(id string, err error) (result, error) {
	if errors.Is(err, api.CodeNotFound) {
		return text(legible("Unknown process id: " + id)).fail(), nil
	}
	return result{}, err
}

type stopInput struct {
	ID     string `json:"id"`
	Signal string `json:"signal,omitempty" enum:"SIGTERM,SIGINT,SIGHUP,SIGKILL"`
}

// stopSignal checks the signal that a process is to be stopped with.
func stopSignal(name string) (string, error) {
	switch {
	case name == "":
		return "SIGTERM", nil
	case slices.Contains([]string{"SIGTERM", "SIGINT", "SIGHUP", "SIGKILL"}, name):
		return name, nil
	}
	return "", api.Errorf(api.CodeInvalid, "stop process: signal %q is none of SIGTERM, SIGINT, SIGHUP and SIGKILL", name)
}

func processStop(ctx context.Context, f *face, in stopInput) (result, error) {
	signal, err := stopSignal(in.Signal)
	if err != nil {
		return result{}, err
	}
	p, err := api.ProcessStop.Call(ctx, f.engine, api.ProcessStopInput{ID: in.ID, Signal: signal})
	switch {
	case errors.Is(err, api.CodeEnded):
		return textf("Process %s is not running.", in.ID).of(in.ID), nil
	case err != nil:
		return unknownProcess(in.ID, err)
	}
	return textf("Stopped process %s with %s.", p.ID, signal).of(p.ID), nil
}

type stopAllInput struct {
	Signal string `json:"signal,omitempty" enum:"SIGTERM,SIGINT,SIGHUP,SIGKILL"`
}

func processStopAll(ctx context.Context, f *face, in stopAllInput) (result, error) {
	signal, err := stopSignal(in.Signal)
	if err != nil {
		return result{}, err
	}
	out, err := api.ProcessStopAll.Call(ctx, f.engine, api.ProcessStopAllInput{Signal: signal})
	if err != nil {
		return result{}, err
	}
	return text(fmt.Sprintf("Stopped %d processes with %s.", len(out.Stopped), signal)), nil
}
