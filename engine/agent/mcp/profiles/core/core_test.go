package core

import (
	"testing"
	"time"

	"tandem/engine/agent/mcp/mcptest"
	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
)

func newAgent(t *testing.T) *mcptest.Agent {
	return mcptest.NewAgent(t, "/home/me", toolkit.Core, Tools())
}

func exit(code int) *int { return &code }

// The processes of these tests run for 2 seconds, from began to ended.
var (
	began = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	ended = began.Add(2 * time.Second)
)

func TestExecuteCommandReportsTheOutcome(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		out    api.ExecOutput
		err    error
		want   string
		failed bool
		listed bool // in the history
	}{
		{api.ExecOutput{Process: api.Process{ExitCode: exit(0), Command: "ls -l"}, Stdout: "a\n", Stderr: "warning\n"}, nil, "a\n", false, true},
		{api.ExecOutput{Process: api.Process{ExitCode: exit(0), LogPath: "/log"}, Stdout: "a\n", StdoutDropped: 5}, nil, "[5 bytes before this are in /log]\na\n", false, true},
		{api.ExecOutput{Process: api.Process{ExitCode: exit(2)}, Stdout: "a", Stderr: "b\n"}, nil, "Command not executed successfully, exit code: 2\n\na\nb", true, false},
		{api.ExecOutput{Process: api.Process{ExitSignal: "SIGKILL"}}, nil, "Command not executed successfully, exit code: 137", true, false},
		{api.ExecOutput{}, api.Errorf(api.CodeInvalid, `start "ls": not found`), "Command not executed successfully: ls: not found", true, false},
	} {
		f := newAgent(t)
		mcptest.Handle(f.Fake, api.Exec, func(in api.ExecInput) (api.ExecOutput, error) {
			if len(in.Command) != 2 || in.Command[0] != "ls" || in.CWD != "/home/me" || in.Actor != f.Actor || in.ID == "" {
				t.Errorf("it runs %+v", in)
			}
			return tc.out, tc.err
		})
		listed := false
		mcptest.Handle(f.Fake, api.CommandsAdd, func(in api.CommandsInput) (api.CommandsOutput, error) {
			listed = true
			return api.CommandsOutput{}, nil
		})
		f.Check("execute-command", `{"command":["ls","-l"]}`, tc.want, tc.failed)
		if listed != tc.listed {
			t.Errorf("%q: in the history: %v", tc.want, listed)
		}
	}
}

func TestStartCommandReportsFailures(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		p      api.Process
		err    error
		want   string
		failed bool
	}{
		{api.Process{ID: "abc", State: api.StateRunning}, nil, "Command started in background. Process ID: abc", false},
		{api.Process{ID: "abc", State: api.StateFailed, Error: "broken"}, nil, "Failed to start command: broken", true},
		{api.Process{}, api.Errorf(api.CodeInvalid, `start "x": not found`), "Failed to start command: x: not found", true},
	} {
		f := newAgent(t)
		mcptest.Handle(f.Fake, api.ProcessStart, func(in api.ProcessStartInput) (api.Process, error) {
			if !in.SplitLog || in.StopTimeoutMS != 5000 {
				t.Errorf("it starts %+v", in)
			}
			return tc.p, tc.err
		})
		f.Check("start-command-async", `{"command":["x"]}`, tc.want, tc.failed)
	}
}

// serve makes the engine know a process, and a session called "session".
func serve(f *mcptest.Agent, p api.Process) {
	mcptest.Handle(f.Fake, api.ProcessGet, func(in api.IDInput) (api.Process, error) {
		switch in.ID {
		case p.ID:
			return p, nil
		case "web": // the engine finds the beginning of a name for a call that changes nothing
			return api.Process{ID: "0123456789ab", Name: "web-admin", Kind: api.KindProcess}, nil
		case "session":
			return api.Process{ID: "session", Kind: api.KindSession}, nil
		}
		return api.Process{}, api.Errorf(api.CodeNotFound, "no process")
	})
}

func TestCheckCommandShowsBothStreams(t *testing.T) {
	t.Parallel()
	streams := map[string]string{"stdout": "out\n", "stderr": "err\n"}
	p := api.Process{ID: "abc", Kind: api.KindProcess, Command: "make", StartedAt: began, ExitedAt: &ended, Supervision: &api.Supervision{SplitLog: true}}
	for _, tc := range []struct {
		state api.State
		code  *int
		out   bool
		want  string
	}{
		{api.StateExited, exit(0), true, "Process abc is COMPLETED_SUCCESS.\nCommand: make\nExit Code: 0\nDuration: 2 seconds\nOutput:\nout\nSTDERR:\nerr"},
		{api.StateExited, exit(3), false, "Process abc is COMPLETED_ERROR.\nCommand: make\nExit Code: 3\nDuration: 2 seconds\nOutput:\n[No output]"},
		{api.StateStopped, nil, false, "Process abc is TERMINATED.\nCommand: make\nExit Code: unknown\nDuration: 2 seconds\nOutput:\n[No output]"},
		{api.StateRunning, nil, true, "Process abc is RUNNING.\nCommand: make\nDuration: 2 seconds\nOutput:\nout\nSTDERR:\nerr"},
	} {
		f := newAgent(t)
		p.State, p.ExitCode = tc.state, tc.code
		serve(f, p)
		mcptest.Handle(f.Fake, api.ProcessLog, func(in api.ProcessLogInput) (out api.ProcessLogOutput, err error) {
			if tc.out {
				out.Data = streams[in.Stream]
			}
			return out, nil
		})
		f.Check("check-command-status", `{"processId":"abc"}`, tc.want, false)
	}
}

func TestStopCommandReportsTheState(t *testing.T) {
	t.Parallel()
	p := api.Process{ID: "abc", Kind: api.KindProcess, State: api.StateRunning}
	for _, tc := range []struct {
		state  api.State
		err    error
		id     string
		want   string
		failed bool
	}{
		{api.StateRunning, nil, "abc", "Process abc has been stopped.", false},
		{api.StateExited, nil, "abc", "Process abc is already terminated.", false},
		{api.StateRunning, api.Errorf(api.CodeEnded, "gone"), "abc", "Process abc is already terminated.", false},
		{api.StateRunning, api.Errorf(api.CodeForbidden, "not yours"), "abc", "not yours", true},
		{api.StateRunning, nil, "other", "Process not found: other", true},
		{api.StateRunning, nil, "session", "Process not found: session", true},
		{api.StateRunning, nil, "web", "Process not found: web", true},
		{api.StateRunning, nil, "", "Process not found: ", true},
	} {
		f := newAgent(t)
		p.State = tc.state
		serve(f, p)
		mcptest.Handle(f.Fake, api.ProcessStop, func(api.ProcessStopInput) (api.Process, error) { return p, tc.err })
		f.Check("stop-command", `{"processId":"`+tc.id+`"}`, tc.want, tc.failed)
	}
}

func TestBackgroundListHasOnlyAgentsProcesses(t *testing.T) {
	t.Parallel()
	f := newAgent(t)
	var all []api.Process
	mcptest.Handle(f.Fake, api.ProcessList, func(api.ProcessListInput) (api.ProcessListOutput, error) {
		return api.ProcessListOutput{Processes: all}, nil
	})
	f.Check("list-background-processes", `{}`, "No background processes are currently tracked.", false)
	agents := api.Process{ID: "a", Kind: api.KindProcess, Actor: "agent:x/1", Command: "make", State: api.StateExited, ExitCode: exit(1), StartedAt: began, ExitedAt: &ended}
	users, session, command := agents, agents, agents
	users.Actor, session.Kind, command.Supervision = "person", api.KindSession, &api.Supervision{Transient: true}
	all = []api.Process{users, session, command, agents}
	f.Check("list-background-processes", `{}`, "Process ID: a\nCommand: make\nStatus: COMPLETED_ERROR\nRuntime: 2 seconds\nExit Code: 1", false)
}

func TestHistoryIsSavedAndLoaded(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		tool, args string
		replaced   bool
		err        error
		want       string
		failed     bool
	}{
		{"save-to-file", `{"absolutePath":"/h"}`, false, nil, "History saved successfully. Saved 2 commands.", false},
		{"save-to-file", `{"absolutePath":"/h"}`, true, nil, "History saved successfully (overwritten). Saved 2 commands.", false},
		{"save-to-file", `{"absolutePath":"h"}`, false, nil, "Path must be absolute.", true},
		{"save-to-file", `{"absolutePath":"/h"}`, false, api.Errorf(api.CodeConflict, "it is there").WithReason(api.ReasonExists), "File already exists! Pass overwrite=true to replace it.", true},
		{"save-to-file", `{"absolutePath":"/h"}`, false, api.Errorf(api.CodeConflict, "permission denied").WithReason(api.ReasonPermissionDenied), "Error saving history: permission denied", true},
		{"save-to-file", `{"absolutePath":"/h"}`, false, api.Errorf(api.CodeConflict, "the disk is full").WithReason(api.ReasonDiskFull), "Error saving history: the disk is full", true},
		{"save-to-file", `{"absolutePath":"/h"}`, false, api.Errorf(api.CodeForbidden, "no"), "Error saving history: no", true},
		{"load-from-file", `{"absolutePath":"/h"}`, false, nil, "History loaded successfully! Loaded 2 commands.", false},
		{"load-from-file", `{"absolutePath":"h"}`, false, nil, "Error loading history: Path must be absolute.", true},
		{"load-from-file", `{"absolutePath":"/h"}`, false, api.Errorf(api.CodeNotFound, "gone"), "File doesn't exist!", true},
	} {
		f := newAgent(t)
		mcptest.Handle(f.Fake, api.HistorySave, func(in api.HistorySaveInput) (api.HistoryCount, error) {
			return api.HistoryCount{Count: 2, Replaced: tc.replaced}, tc.err
		})
		mcptest.Handle(f.Fake, api.HistoryLoad, func(in api.HistoryLoadInput) (api.HistoryCount, error) {
			return api.HistoryCount{Count: 2}, tc.err
		})
		f.Check(tc.tool, tc.args, tc.want, tc.failed)
	}
}
