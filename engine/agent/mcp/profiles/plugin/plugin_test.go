package plugin

import (
	"errors"
	"strings"
	"testing"

	"tandem/engine/agent/mcp/mcptest"
	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
)

func newAgent(t *testing.T, profile toolkit.Profile) *mcptest.Agent {
	return mcptest.NewAgent(t, "/home/me", profile, Tools())
}

func exit(code int) *int { return &code }

func TestExecReportsTheOutcome(t *testing.T) {
	t.Parallel()
	of := func(state api.State, code *int, signal string) api.Process {
		return api.Process{ID: "abc", State: state, ExitCode: code, ExitSignal: signal, LogPath: "/p/process.log", ErrorLogPath: "/p/stderr.log"}
	}
	long := strings.Repeat("x", maxExecChars+1)
	for _, tc := range []struct {
		profile toolkit.Profile
		out     api.ExecOutput
		want    string
		failed  bool
	}{
		{toolkit.Plugin, api.ExecOutput{Process: of(api.StateExited, exit(0), ""), Stdout: "a\n"}, "a\nExit code: 0", false},
		{toolkit.Native, api.ExecOutput{Process: of(api.StateExited, exit(0), ""), Stdout: "a\n"}, "a\n", false},
		{toolkit.Native, api.ExecOutput{Process: of(api.StateExited, exit(0), "")}, "Exit code: 0", false},
		{toolkit.Native, api.ExecOutput{Process: of(api.StateExited, exit(3), ""), Stdout: "a", Stderr: "b\n"}, "a\nstderr:\nb\nExit code: 3", true},
		{toolkit.Plugin, api.ExecOutput{Process: of(api.StateExited, nil, "SIGKILL")}, "Signal: SIGKILL", true},
		{toolkit.Plugin, api.ExecOutput{Process: api.Process{State: api.StateFailed, Error: "broken"}}, "Failed: broken", true},
		{toolkit.Plugin, api.ExecOutput{Process: of(api.StateExited, nil, "")}, "Exit code: unknown", true},
		{toolkit.Plugin, api.ExecOutput{Process: of(api.StateStopped, nil, "SIGTERM"), TimedOut: true}, "Timed out after 30000 ms and was killed. Signal: SIGTERM", true},
		{toolkit.Plugin, api.ExecOutput{Process: of(api.StateRunning, nil, ""), TimedOut: true},
			"Timed out after 30000 ms; it continues as process abc. Log: /p/process.log and stderr.log", false},
		{toolkit.Native, api.ExecOutput{Process: of(api.StateRunning, nil, ""), TimedOut: true, StdoutCursor: 4, StderrCursor: 5},
			"Timed out after 30000 ms; it continues as process abc. process_wait waits for it; process_log returns later output.", false},
		{toolkit.Plugin, api.ExecOutput{Process: of(api.StateExited, exit(0), ""), Stdout: long}, "... (1 chars truncated from stdout)\n" + long[1:] + "Exit code: 0", false},
		{toolkit.Plugin, api.ExecOutput{Process: of(api.StateExited, exit(0), ""), Stderr: "end\n", StderrDropped: 1234567}, "stderr:\n... (1,234,567 chars truncated from stderr)\nend\nExit code: 0", false},
		{toolkit.Native, api.ExecOutput{Process: of(api.StateExited, exit(0), ""), Stdout: "10%\r20%\r\n"}, "20%\r\n", false},
		{toolkit.Native, api.ExecOutput{Process: of(api.StateExited, exit(0), ""), Stdout: "ready\n", LeftPIDs: []int{7, 9}},
			"ready\n[left running: pid 7, 9; process_stop abc stops them]", false},
		{toolkit.Native, api.ExecOutput{Process: of(api.StateExited, exit(0), ""), LeftPIDs: []int{1, 2, 3, 4, 5, 6, 7}},
			"Exit code: 0\n[left running: pid 1, 2, 3, 4, 5 and 2 more; process_stop abc stops them]", false},
		{toolkit.Native, api.ExecOutput{Process: of(api.StateExited, exit(1), ""), Stderr: "Password: "},
			"stderr:\nPassword: \nExit code: 1", true},
	} {
		f := newAgent(t, tc.profile)
		mcptest.Handle(f.Fake, api.Exec, func(in api.ExecInput) (api.ExecOutput, error) {
			if in.Command[2] != "x" || in.TimeoutMS != 30_000 || in.CWD != "/home/me" || in.Actor != f.Actor {
				t.Errorf("it runs %+v", in)
			}
			return tc.out, nil
		})
		f.Check("exec", `{"command":"x"}`, tc.want, tc.failed)
	}
}

func TestExecReturnsBothEndsOfLongOutput(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("y", 99) + "\n"
	for _, dropped := range []int64{0, 100_000} {
		f := newAgent(t, toolkit.Native)
		mcptest.Handle(f.Fake, api.Exec, func(api.ExecInput) (api.ExecOutput, error) {
			p := api.Process{ID: "abc", State: api.StateExited, ExitCode: exit(0)}
			return api.ExecOutput{Process: p, Stdout: strings.Repeat(line, 100), StdoutDropped: dropped}, nil
		})
		f.Fake.ServeLog(strings.Repeat("head"+line[4:], 100), api.StateExited)
		first, left := strings.Repeat(line, 20), "6,100"
		if dropped > 0 {
			first, left = strings.Repeat("head"+line[4:], 20), "106,100"
		}
		f.Check("exec", `{"command":"x"}`, first+"... ("+left+" chars truncated from stdout)\n"+strings.Repeat(line, 19)+"Exit code: 0\nAll of it: process_log id=abc since=0", false)
	}
}

func TestExecRejectsWrongArguments(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		`{"command":" "}`:                                            "run command: the command is empty",
		`{"command":"x","max_output":-1}`:                            "run command: max_output cannot be negative",
		`{"command":"x","sandbox":{"x":1}}`:                          "read sandbox: unknown field \"x\"\nhint: must be {filesystem:{denyRead,allowWrite,denyWrite},network:{allowedDomains,deniedDomains}}",
		`{"command":"x","sandbox":{"filesystem":{"denyRead":[""]}}}`: "read sandbox: a path is empty",
	} {
		newAgent(t, toolkit.Native).Check("exec", args, want, true)
	}
}

func TestProcessStartReportsFailures(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		p    api.Process
		err  error
		want string
	}{
		{api.Process{ID: "abc", State: api.StateFailed, Error: "no such file"}, nil, "Failed to start process: no such file"},
		{api.Process{}, api.Errorf(api.CodeConflict, "the name is taken"), "the name is taken"},
		{api.Process{}, api.Errorf(api.CodeInvalid, "start in /home/me: gone").WithReason(api.ReasonBadCWD), "start in /home/me: gone\nhint: this is the server's own folder; pass another one as cwd"},
	} {
		f := newAgent(t, toolkit.Plugin)
		mcptest.Handle(f.Fake, api.ProcessStart, func(in api.ProcessStartInput) (api.Process, error) {
			if in.Name != "web" || in.Command[2] != "serve" || !in.KeepAlive || in.Env["A"] != "1" {
				t.Errorf("it starts %+v", in)
			}
			return tc.p, tc.err
		})
		f.Check("process_start", `{"command":"serve","name":"web","keepAlive":true,"env":{"A":1}}`, tc.want, true)
	}
}

func TestProcessResultsShowEveryField(t *testing.T) {
	t.Parallel()
	p := api.Process{ID: "abc", Name: "web", Kind: api.KindProcess, State: api.StateRunning, PID: 7, LogPath: "/log", Argv: []string{"bash", "-c", "serve"}, Command: "bash -c serve",
		Supervision: &api.Supervision{}}
	const plugin = "id: abc\nname: web\npid: 7\nstatus: running\nkeepAlive: false\nrestartCount: 0\nexitCode: -\nlogPath: /log\ncommand: serve"
	f := newAgent(t, toolkit.Plugin)
	mcptest.Handle(f.Fake, api.ProcessGet, func(in api.IDInput) (api.Process, error) {
		if in.ID != "abc" {
			return api.Process{}, api.Errorf(api.CodeNotFound, "no process")
		}
		return p, nil
	})
	f.Check("process_get", `{"id":"abc"}`, plugin, false)
	f.Check("process_get", `{"id":"x"}`, "Unknown process id: x", true)
	var all []api.Process
	mcptest.Handle(f.Fake, api.ProcessList, func(api.ProcessListInput) (api.ProcessListOutput, error) {
		return api.ProcessListOutput{Processes: all}, nil
	})
	f.Check("process_list", `{}`, "No managed processes.", false)
	all = []api.Process{p, {Kind: api.KindSession}, {Kind: api.KindProcess, State: api.StateExited, Supervision: &api.Supervision{Transient: true}}}
	f.Check("process_list", `{}`, strings.ReplaceAll(strings.ReplaceAll(plugin, "\n", " "), ": ", "="), false)
}

func TestProcessStopReportsTheState(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		args, want string
		err        error
		failed     bool
	}{
		{`{"id":"abc"}`, "Stopped process abc with SIGTERM.", nil, false},
		{`{"id":"abc","signal":"SIGINT"}`, "Stopped process abc with SIGINT.", nil, false},
		{`{"id":"abc","signal":"SIGUSR1"}`, `stop process: signal "SIGUSR1": must be SIGTERM, SIGINT, SIGHUP or SIGKILL`, nil, true},
		{`{"id":"abc"}`, "Process abc is not running.", api.Errorf(api.CodeEnded, "over"), false},
		{`{"id":"abc"}`, "Unknown process id: abc", api.Errorf(api.CodeNotFound, "none"), true},
		{`{"id":"abc"}`, "broken", errors.New("broken"), true},
	} {
		f := newAgent(t, toolkit.Native)
		mcptest.Handle(f.Fake, api.ProcessStop, func(in api.ProcessStopInput) (api.Process, error) { return api.Process{ID: in.ID}, tc.err })
		f.Check("process_stop", tc.args, tc.want, tc.failed)
	}
}

func TestProcessStartMakesTheNameValid(t *testing.T) {
	t.Parallel()
	f := newAgent(t, toolkit.Plugin)
	for name, want := range map[string]string{"": "", "web": "web", "api/dev": "api-dev", " -x ": "x", "$(x)": "x)", "0123456789ab": "", "/": ""} {
		mcptest.Handle(f.Fake, api.ProcessStart, func(in api.ProcessStartInput) (api.Process, error) {
			if in.Name != want {
				t.Errorf("%q becomes %q, want %q", name, in.Name, want)
			}
			return api.Process{ID: "abc", Name: in.Name, State: api.StateRunning}, nil
		})
		if text, failed := f.Call("process_start", `{"command":"x","name":"`+name+`"}`); failed {
			t.Errorf("%q is rejected: %s", name, text)
		}
	}
}
