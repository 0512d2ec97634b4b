package android

import (
	"strings"
	"testing"

	"tandem/engine/agent/mcp/mcptest"
	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
)

const (
	plain, terminal = "aaaaaaaaaaaa", "bbbbbbbbbbbb" // ids of sessions
)

// newAgent returns an agent of an engine with a session of each kind. Their log is log, and state
// is their state.
func newAgent(t *testing.T, log string, state api.State) *mcptest.Agent {
	bash := func(string) (string, error) { return "/bin/bash", nil }
	f := mcptest.NewAgent(t, t.TempDir(), toolkit.Android, ToolsWith(bash))
	mcptest.Handle(f.Fake, api.ProcessGet, func(in api.IDInput) (api.Process, error) {
		switch in.ID {
		case plain:
			return api.Process{ID: plain, State: state, Supervision: &api.Supervision{Stdin: true}}, nil
		case terminal:
			return api.Process{ID: terminal, State: state, Terminal: &api.Terminal{Cols: 80, Rows: 24}}, nil
		}
		return api.Process{}, api.Errorf(api.CodeNotFound, "no process %s", in.ID)
	})
	f.Fake.ServeLog(log, state)
	return f
}

func TestSessionExecReturnsOutputWithoutMarks(t *testing.T) {
	t.Parallel()
	const before, output, mark, rest = "background\n", "hi\n", "\x1b]133;D;0;0123456789ab\a", "later\n"
	zero := 0
	for tool, id := range map[string]string{"local_shell_session": plain, "termux_shell_session": terminal} {
		f := newAgent(t, before+output+mark, api.StateRunning)
		mcptest.Handle(f.Fake, api.SessionExec, func(in api.SessionExecInput) (api.SessionExecOutput, error) {
			if want := (api.SessionExecInput{ID: id, Command: "echo 'hi'", TimeoutMS: 30_000, MaxOutput: 1}); in != want {
				t.Errorf("it runs %+v", in)
			}
			return api.SessionExecOutput{ExitCode: &zero, Alive: true, DurationMS: 1.6, NextCursor: int64(len(before + output + mark))}, nil
		})
		f.Check(tool, `{"action":"exec","session_id":"`+id+`","command":"echo 'hi'"}`,
			`{"output":"background\nhi\n","alive":true,"exit_code":0,"duration_ms":2,"timed_out":false}`, false)
		f.Check(tool, `{"action":"read","session_id":"`+id+`"}`, `{"output":"","alive":true}`, false)
		if got := strings.Join(f.Fake.Calls, " "); got != "process.get session.exec process.log process.get process.log" {
			t.Errorf("it calls %s", got)
		}
	}
}

func TestSessionReadLeavesIncompleteSequenceForLater(t *testing.T) {
	t.Parallel()
	for log, want := range map[string]string{
		"":                              "",
		"ab":                            "ab",
		"ab\xc3":                        "ab",
		"ab\xff":                        "ab\uFFFD",
		"ab\x1b]133;D;0;01234":          "ab",
		"ab\x1b]133;D;0;0123456789ab\a": "ab",
	} {
		for tool, id := range map[string]string{"local_shell_session": plain, "termux_shell_session": terminal} {
			f := newAgent(t, log, api.StateRunning)
			f.Check(tool, `{"action":"read","session_id":"`+id+`"}`, toolkit.JSONText(sessionOutput{Output: want, Alive: true}), false)
		}
	}
}

func TestSessionWithoutATerminalHasNoControlCharacters(t *testing.T) {
	t.Parallel()
	const log = "\x1b[31mred\x1b[0m\tab\bc\x00\r\n"
	for _, c := range []struct{ tool, id, want string }{
		{"local_shell_session", plain, "red\tac\r\n"},
		{"termux_shell_session", terminal, log},
	} {
		for _, state := range []api.State{api.StateRunning, api.StateExited} {
			f := newAgent(t, log, state)
			f.Check(c.tool, `{"action":"read","session_id":"`+c.id+`"}`, toolkit.JSONText(sessionOutput{Output: c.want, Alive: state == api.StateRunning}), false)
		}
	}
}

func TestSessionReadReturnsLongOutputInParts(t *testing.T) {
	t.Parallel()
	log := strings.Repeat("0123456789abcde\n", (toolkit.MaxStream+1000)/16)
	f := newAgent(t, log, api.StateRunning)
	for _, part := range []string{log[:toolkit.MaxStream], log[toolkit.MaxStream:]} {
		want := sessionOutput{Output: part, Alive: true, More: len(part) == toolkit.MaxStream}
		if got, _ := f.Call("termux_shell_session", `{"action":"read","session_id":"`+terminal+`"}`); got != toolkit.JSONText(want) {
			t.Errorf("it reads %d bytes", len(got))
		}
	}
}

func TestInvalidSessionCallsGetTheirErrorCodes(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ args, want string }{
		{`{}`, failed("missing_action", "action is missing")},
		{`{"action":"dance"}`, failed("unknown_action", `unknown action \"dance\"; must be start, exec, write, read, resize, kill or list`)},
		{`{"action":"exec","command":"x"}`, failed("missing_session_id", "exec needs session_id")},
		{`{"action":"exec","session_id":"x","command":" "}`, failed("missing_command", "exec needs command")},
		{`{"action":"write","session_id":"x"}`, failed("missing_input", "write needs input")},
		{`{"action":"exec","session_id":"x","command":"x","timeout":-1}`, failed("invalid_arguments", "timeout, rows and cols cannot be negative")},
		{`{"action":"read","session_id":"none"}`, failed("session_not_found", "no such session: none")},
		{`{"action":"read","session_id":"` + terminal + `"}`, failed("session_not_found", "no such session: "+terminal)},
	} {
		newAgent(t, "", api.StateRunning).Check("local_shell_session", tc.args, tc.want, true)
	}
}

func TestBusySessionSaysWhatToDo(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ tool, id, hint string }{
		{"local_shell_session", plain, "read returns its output, write sends it input, kill ends the session"},
		{"termux_shell_session", terminal, `write with input \\u0003 (ctrl+c) interrupts the program and clears the line`},
	} {
		f := newAgent(t, "", api.StateRunning)
		mcptest.Handle(f.Fake, api.SessionExec, func(api.SessionExecInput) (api.SessionExecOutput, error) {
			return api.SessionExecOutput{}, api.Errorf(api.CodeConflict, "it runs")
		})
		f.Check(tc.tool, `{"action":"exec","session_id":"`+tc.id+`","command":"x"}`, `{"status":"error","error":"session_busy","detail":"it runs; `+tc.hint+`"}`, true)
	}
}

func TestDeadSessionReturnsItsLastOutput(t *testing.T) {
	t.Parallel()
	f := newAgent(t, "bye\n", api.StateExited)
	dead := `{"status":"error","error":"session_dead","detail":"session ` + plain + ` has ended","output":"bye\n"}`
	// The last output of a dead session is returned by every call, even after it has been read.
	for range 2 {
		f.Check("local_shell_session", `{"action":"exec","session_id":"`+plain+`","command":"x"}`, dead, true)
	}
	f.Check("local_shell_session", `{"action":"kill","session_id":"`+plain+`"}`, `{"ok":true,"detail":"it had ended already"}`, false)
}

func TestTermuxResizeKeepsTheSideNotGiven(t *testing.T) {
	t.Parallel()
	f := newAgent(t, "", api.StateRunning)
	mcptest.Handle(f.Fake, api.SessionResize, func(in api.SessionResizeInput) (api.Empty, error) {
		if want := (api.SessionResizeInput{ID: terminal, Cols: 80, Rows: 50}); in != want {
			t.Errorf("it asks for %+v", in)
		}
		return api.Empty{}, nil
	})
	f.Check("termux_shell_session", `{"action":"resize","session_id":"`+terminal+`","rows":50}`, `{"ok":true}`, false)
	f.Check("local_shell_session", `{"action":"resize","session_id":"`+plain+`","rows":50}`, `{"ok":true,"detail":"the session has no terminal: its size has no effect"}`, false)
}
