package native

import (
	"testing"

	"tandem/engine/agent/mcp/mcptest"
	"tandem/engine/api"
)

// process is the id of a process.
const process = "bbbbbbbbbbbb"

func TestProcessLogReturnsNewOutputAndState(t *testing.T) {
	t.Parallel()
	f := newAgent(t)
	f.Fake.ServeLog("one\n\x1b[1mtwo\x1b[0m\n", api.StateRunning)
	f.Check("process_log", `{"id":"`+process+`","since":0,"max_output":6}`, "one\n[running, 12 more bytes]", false)
	f.Check("process_log", `{"id":"`+process+`"}`, "two\n[running]", false)
	for _, want := range []string{"[nothing new, running]", "[nothing new, running]", "[nothing new, running]\n[nothing new; use process_wait instead of looking again]"} {
		f.Check("process_log", `{"id":"`+process+`"}`, want, false)
	}
	f.Check("process_log", `{"id":"`+process+`","since":0,"tail":1}`, "read log of "+process+": give since or tail, not both", true)
	f.Check("process_log", `{"id":"`+process+`","max_output":-1}`, "max_output cannot be negative", true)
	for _, name := range f.Fake.Calls {
		if name != "process.log" {
			t.Errorf("it calls %s", name)
		}
	}
}

func TestProcessLogReportsTheExit(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		p    api.Process
		want string
	}{
		{api.Process{State: api.StateExited, ExitCode: exit(3)}, "[nothing new, exit code 3]"},
		{api.Process{State: api.StateStopped, ExitSignal: "SIGTERM"}, "[nothing new, ended by SIGTERM]"},
		{api.Process{State: api.StateFailed, Error: "no such file"}, "[nothing new, failed: no such file]"},
		{api.Process{State: api.StateExited, ExitUnknown: true}, "[nothing new, exit code unknown]"},
		{api.Process{State: api.StateStopped}, "[nothing new, stopped]"},
	} {
		f := newAgent(t)
		mcptest.Handle(f.Fake, api.ProcessLog, func(api.ProcessLogInput) (api.ProcessLogOutput, error) {
			return api.ProcessLogOutput{State: tc.p.State, Process: &tc.p}, nil
		})
		f.Check("process_log", `{"id":"`+process+`"}`, tc.want, false)
	}
}

func TestProcessLogMergesBothStreams(t *testing.T) {
	t.Parallel()
	f := newAgent(t)
	var asked []api.ProcessLogInput
	mcptest.Handle(f.Fake, api.ProcessLog, func(in api.ProcessLogInput) (api.ProcessLogOutput, error) {
		asked = append(asked, in)
		return api.ProcessLogOutput{Data: "outerr\n", NextCursor: 3, End: 3, State: api.StateRunning,
			Parts:  []api.LogPart{{Stream: "stdout", Bytes: 3}, {Stream: "stderr", Bytes: 4}},
			Stderr: &api.LogPlace{NextCursor: 4, End: 4}}, nil
	})
	const merged = "[stdout before stderr: the order they were written in is unknown]\nout\nerr\n[running]"
	f.Check("process_log", `{"id":"`+process+`"}`, merged, false)
	f.Check("process_log", `{"id":"`+process+`"}`, merged, false)
	f.Check("process_log", `{"id":"`+process+`","since":"1+2"}`, merged, false)
	for i, want := range [][2]int64{{0, 0}, {3, 4}, {1, 2}} {
		if in := asked[i]; in.Stream != "both" || *in.Since != want[0] || *in.SinceStderr != want[1] {
			t.Errorf("read %d begins at %d and %d", i, *in.Since, *in.SinceStderr)
		}
	}
}

func TestProcessLogSearchesTheWholeLog(t *testing.T) {
	t.Parallel()
	f := newAgent(t)
	mcptest.Handle(f.Fake, api.ProcessLog, func(in api.ProcessLogInput) (out api.ProcessLogOutput, err error) {
		if in.Grep != "err" || in.Context != 1 || *in.Since != 0 {
			t.Errorf("it asks for %+v", in)
		}
		out.Matches = []api.LogMatch{{Offset: 4, Text: "error", Before: []string{"a"}, After: []string{"b"}}, {Offset: 9, Text: "err", Stream: "stderr"}}
		return out, nil
	})
	f.Check("process_log", `{"id":"`+process+`","grep":"err","context":1}`, "  a\n4: error\n  b\n--\nstderr 9: err", false)
	mcptest.Handle(f.Fake, api.ProcessLog, func(api.ProcessLogInput) (out api.ProcessLogOutput, err error) { return out, nil })
	f.Check("process_log", `{"id":"`+process+`","grep":"err"}`, "No line matches.", false)
}

func TestProcessWaitReportsTheCondition(t *testing.T) {
	t.Parallel()
	of := func(state api.State) api.Process {
		return api.Process{ID: process, Kind: api.KindProcess, State: state}
	}
	exited, looping := of(api.StateExited), of(api.StateBackoff)
	exited.ExitCode, looping.ExitCode, looping.Supervision = exit(1), exit(1), &api.Supervision{Automatic: 4}
	for _, tc := range []struct {
		args string
		out  api.ProcessWaitOutput
		want string
	}{
		{`"log":"re.dy"`, api.ProcessWaitOutput{Met: "log", Line: "ready", Process: of(api.StateRunning)}, "Met: log.\nready\nprinted"},
		{``, api.ProcessWaitOutput{Met: "exit", Process: exited}, "Met: exit, exit code 1.\nprinted"},
		{`"ready":true`, api.ProcessWaitOutput{Process: exited}, "It exited before that; exit code 1.\nprinted"},
		{`"log":"x"`, api.ProcessWaitOutput{CrashLoop: true, Process: looping}, "It keeps exiting: exit code 1, restarts: 4.\nprinted"},
		{`"port":80,"timeout_ms":1`, api.ProcessWaitOutput{PortHolder: "nginx (pid 3)", Process: of(api.StateRunning)}, "Timed out; it is running. Port 80 is in use by nginx (pid 3)."},
		{`"log":"x","timeout_ms":1`, api.ProcessWaitOutput{Process: of(api.StateBackoff)}, "Timed out; it is waiting to be restarted."},
	} {
		f := newAgent(t)
		f.Fake.ServeLog("printed\n", api.StateRunning)
		mcptest.Handle(f.Fake, api.ProcessWait, func(in api.ProcessWaitInput) (api.ProcessWaitOutput, error) {
			if in.Exit != (tc.args == "") {
				t.Errorf("it waits for %+v", in)
			}
			return tc.out, nil
		})
		args := `{"id":"web"`
		if tc.args != "" {
			args += "," + tc.args
		}
		f.Check("process_wait", args+"}", tc.want, false)
	}
}

func TestProcessStartWaitsForItsCondition(t *testing.T) {
	t.Parallel()
	f := newAgent(t)
	mcptest.Handle(f.Fake, api.ProcessStart, func(in api.ProcessStartInput) (api.Process, error) {
		return api.Process{ID: process, Name: "serve", State: api.StateRunning}, nil
	})
	mcptest.Handle(f.Fake, api.ProcessWait, func(in api.ProcessWaitInput) (api.ProcessWaitOutput, error) {
		if in.Exit && in.Log == "" {
			return api.ProcessWaitOutput{Process: api.Process{ID: process, State: api.StateRunning}}, nil
		}
		return api.ProcessWaitOutput{Met: "log", Line: "ready", Process: api.Process{ID: process, State: api.StateRunning}}, nil
	})
	f.Fake.ServeLog("ready\n", api.StateRunning)
	f.Check("process_start", `{"command":"serve"}`, "Started serve ("+process+").", false)
	f.Check("process_start", `{"command":"serve","wait":{"log":"re"}}`, "Started serve ("+process+").\nMet: log.\nready", false)
	f.Check("process_start", `{"command":"serve","wait":{"port":70000}}`, "start process: wait.port 70000 must be 1 to 65535", true)
	mcptest.Handle(f.Fake, api.ProcessWait, func(api.ProcessWaitInput) (out api.ProcessWaitOutput, err error) {
		return out, api.Errorf(api.CodeUnavailable, "it broke")
	})
	// It runs: a failed result would make the agent start it again.
	f.Check("process_start", `{"command":"serve","wait":{}}`, "Started serve ("+process+").\nWaiting failed: it broke.", false)
}
