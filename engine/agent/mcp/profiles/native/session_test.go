package native

import (
	"slices"
	"strings"
	"testing"

	"tandem/engine/agent/mcp/mcptest"
	"tandem/engine/api"
)

// session is the id of a session.
const session = "aaaaaaaaaaaa"

func exit(code int) *int { return &code }

func TestSessionExecSaysOnlyWhatTheOutputDoesNot(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		out  api.SessionExecOutput
		want string
	}{
		{api.SessionExecOutput{Output: "a\n", ExitCode: exit(0), Alive: true}, "a\n"},
		{api.SessionExecOutput{ExitCode: exit(0), Alive: true}, "[exit code 0]"},
		{api.SessionExecOutput{Output: "a\n", ExitCode: exit(3), Alive: true, DurationMS: 1500}, "a\n[exit code 3, 1.5 s]"},
		{api.SessionExecOutput{Output: "a\n", ExitCode: exit(3)}, "a\n[exit code 3; the session exited]"},
		{api.SessionExecOutput{Output: "a\n"}, "a\n[the session exited]"},
		{api.SessionExecOutput{Output: "a\n", Alive: true}, "a\n[exit code unknown]"},
		{api.SessionExecOutput{Output: "a\n", Alive: true, TimedOut: true, DurationMS: 30_000, NextCursor: 9}, "a\n[still running after 30.0 s; session_wait for prompt, session_read since 9]"},
		{api.SessionExecOutput{Output: "a\n", Alive: true, Waits: "input", Question: "Sure?"}, "a\n[waits for input: Sure?]"},
		{api.SessionExecOutput{Output: "a\n", ExitCode: exit(0), Alive: true, Dropped: 5, Start: 7}, "[5 bytes before this: session_read since=7]\na\n"},
	} {
		f := newAgent(t)
		mcptest.Handle(f.Fake, api.SessionExec, func(in api.SessionExecInput) (api.SessionExecOutput, error) {
			if in.ID != session || in.Command != "make" {
				t.Errorf("it runs %+v", in)
			}
			return tc.out, nil
		})
		f.Check("session_exec", `{"id":"`+session+`","command":"make"}`, tc.want, false)
		if len(f.Fake.Calls) != 1 {
			t.Errorf("%q takes %v", tc.want, f.Fake.Calls)
		}
	}
}

func TestSessionExecShowsUnseenOutputApart(t *testing.T) {
	t.Parallel()
	f := newAgent(t)
	mcptest.Handle(f.Fake, api.SessionGet, func(in api.IDInput) (api.Process, error) { return api.Process{ID: session}, nil })
	mcptest.Handle(f.Fake, api.SessionExec, func(api.SessionExecInput) (api.SessionExecOutput, error) {
		return api.SessionExecOutput{Output: "new\n", ExitCode: exit(0), Alive: true, NextCursor: 10}, nil
	})
	mcptest.Handle(f.Fake, api.SessionRead, func(in api.SessionReadInput) (api.SessionReadOutput, error) {
		if in.ID != session || in.Since != 10 {
			t.Errorf("it reads %+v", in)
		}
		return api.SessionReadOutput{Data: "old\n$ "}, nil
	})
	f.Check("session_exec", `{"id":"sh","command":"make"}`, "new\n", false)
	f.Check("session_exec", `{"id":"sh","command":"make"}`, "old\n[the lines above came before this command]\nnew\n", false)
}

func TestSessionWriteSendsPartsInOrder(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		`"text":"a"`:                                        "a||",
		`"text":"a","enter":true`:                           "a|enter|",
		`"keys":["up","esc"],"enter":true`:                  "|up esc enter|",
		`"text":"a","paste":"b"`:                            "a||b",
		`"text":"a","paste":"b","keys":["up"],"enter":true`: "a||b |up enter|",
		`"enter":true`:                                      "|enter|",
	} {
		f := newAgent(t)
		var sent []string
		mcptest.Handle(f.Fake, api.SessionRead, func(api.SessionReadInput) (api.SessionReadOutput, error) { return api.SessionReadOutput{}, nil })
		mcptest.Handle(f.Fake, api.SessionWrite, func(in api.SessionWriteInput) (api.SessionWriteOutput, error) {
			sent = append(sent, in.Text+"|"+strings.Join(in.Keys, " ")+"|"+in.Paste)
			return api.SessionWriteOutput{}, nil
		})
		f.Check("session_write", `{"id":"`+session+`","wait_ms":0,`+args+`}`, "Typed.", false)
		if got := strings.Join(sent, " "); got != want {
			t.Errorf("%s sends %q, want %q", args, got, want)
		}
	}
	newAgent(t).Check("session_write", `{"id":"x"}`, "write to session x: nothing to type\nhint: give text, paste, keys or enter", true)
}

// The policy judges the whole text, and the engine each operation.
func TestSessionWriteDeclaresTheTextOfKeys(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		in   sessionWriteInput
		want []string
	}{
		{sessionWriteInput{Text: "git push", Enter: true}, []string{"git push"}},
		{sessionWriteInput{Text: "rm", Keys: []string{"space", "x", "enter"}}, []string{"rm x"}},
		{sessionWriteInput{Text: "r", Paste: "m ", Keys: []string{"x", "enter"}}, []string{"rm x", "rm ", "x"}},
		{sessionWriteInput{Paste: "ls", Keys: []string{"up"}}, []string{"ls"}},
	} {
		var got []string
		for _, s := range tc.in.Subjects(nil) {
			got = append(got, s.Command)
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%+v declares %q, want %q", tc.in, got, tc.want)
		}
	}
}

func TestSessionWriteReportsTheEffect(t *testing.T) {
	t.Parallel()
	running := api.Process{State: api.StateRunning, Terminal: &api.Terminal{}}
	waiting := api.Process{State: api.StateRunning, Terminal: &api.Terminal{Waiting: "prompt"}}
	for _, tc := range []struct {
		wait api.SessionWaitOutput
		want string
	}{
		{api.SessionWaitOutput{Met: "settled", Process: waiting}, "out\n[waits for the next command]"},
		{api.SessionWaitOutput{Met: "exit", Process: api.Process{State: api.StateExited, ExitCode: exit(1)}}, "out\n[exit code 1]"},
		{api.SessionWaitOutput{Process: running}, "out\n[still running; session_wait waits for it]"},
	} {
		f := newAgent(t)
		mcptest.Handle(f.Fake, api.SessionRead, func(in api.SessionReadInput) (api.SessionReadOutput, error) {
			if in.Since < 0 {
				return api.SessionReadOutput{NextCursor: 5}, nil
			}
			return api.SessionReadOutput{Data: "out\n", NextCursor: 9}, nil
		})
		mcptest.Handle(f.Fake, api.SessionWrite, func(api.SessionWriteInput) (api.SessionWriteOutput, error) { return api.SessionWriteOutput{}, nil })
		mcptest.Handle(f.Fake, api.SessionWait, func(api.SessionWaitInput) (api.SessionWaitOutput, error) { return tc.wait, nil })
		f.Check("session_write", `{"id":"`+session+`","text":"x"}`, tc.want, false)
	}
}

func TestSessionReadContinuesWhereItStopped(t *testing.T) {
	t.Parallel()
	f := newAgent(t)
	mcptest.Handle(f.Fake, api.SessionGet, func(in api.IDInput) (api.Process, error) {
		return api.Process{ID: session, State: api.StateRunning}, nil
	})
	f.Fake.ServeLog("one\ntwo\n", api.StateRunning)
	f.Check("session_read", `{"id":"sh","since":4}`, "two\n", false)
	f.Check("session_read", `{"id":"sh","since":0}`, "one\ntwo\n", false)
	// After some calls in vain the agent is told how to wait.
	for _, want := range []string{"[nothing new, running]", "[nothing new, running]", "[nothing new, running]\n[nothing new; use session_wait instead of looking again]"} {
		f.Check("session_read", `{"id":"sh"}`, want, false)
	}
}

func TestSessionWaitReportsTheCondition(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		args string
		out  api.SessionWaitOutput
		want string
	}{
		{`"output":"re.dy"`, api.SessionWaitOutput{Met: "output", Text: "ready"}, "Met: output.\nready\nnew\n"},
		{`"output":"n.w"`, api.SessionWaitOutput{Met: "output", Text: "new"}, "Met: output.\nnew\n"},
		{`"exit":true`, api.SessionWaitOutput{Met: "exit", Process: api.Process{State: api.StateExited, ExitCode: exit(2)}}, "Met: exit, exit code 2.\nnew\n"},
		{`"prompt":true`, api.SessionWaitOutput{Process: api.Process{State: api.StateExited, ExitSignal: "SIGHUP"}}, "It exited before that; ended by SIGHUP.\nnew\n"},
		{`"input":true`, api.SessionWaitOutput{Met: "input", Secret: true}, "Met: input.\nIt asks for a password: have the user type it.\nnew\n"},
		{`"input":true,"timeout_ms":1`, api.SessionWaitOutput{Process: api.Process{State: api.StateRunning}}, "Timed out; it is running.\nnew\n"},
	} {
		f := newAgent(t)
		mcptest.Handle(f.Fake, api.SessionRead, func(in api.SessionReadInput) (api.SessionReadOutput, error) {
			return api.SessionReadOutput{Data: "new\n"}, nil
		})
		mcptest.Handle(f.Fake, api.SessionWait, func(in api.SessionWaitInput) (api.SessionWaitOutput, error) {
			tc.out.Process.ID = in.ID
			return tc.out, nil
		})
		f.Check("session_wait", `{"id":"`+session+`",`+tc.args+`}`, tc.want, false)
	}
	newAgent(t).Check("session_wait", `{"id":"x","output":"("}`, "read pattern \"(\": missing closing )\nhint: it is a regular expression (RE2); escape literal characters with \\", true)
}

func TestSessionScreenShowsChanges(t *testing.T) {
	t.Parallel()
	f := newAgent(t)
	screen := api.Screen{Cols: 80, Rows: 4, Lines: []string{"top", "~", "~", "~"}, State: api.StateRunning, Title: "vim", AltScreen: true}
	mcptest.Handle(f.Fake, api.SessionScreen, func(api.SessionScreenInput) (api.Screen, error) { return screen, nil })
	const about = `[80x4, cursor at column 0 row 0, alternate screen, title "vim", running]`
	f.Check("session_screen", `{"id":"`+session+`"}`, "top\n~  ×3\n"+about, false)
	screen.Lines = []string{"top", "~", "new", "~"}
	f.Check("session_screen", `{"id":"`+session+`","diff":true}`, "2: new\n"+about, false)
	f.Check("session_screen", `{"id":"`+session+`","diff":true}`, about, false)
	f.Check("session_screen", `{"id":"`+session+`","format":"gif"}`, "show session "+session+": unknown format \"gif\"\nhint: must be text, ansi or png", true)
	f.Check("session_screen", `{"id":"`+session+`","format":"ansi","diff":true}`, "show session "+session+": diff requires format=text and scrollback=0", true)
	f.Check("session_screen", `{"id":"`+session+`","format":"png"}`, "show session "+session+": the engine sent no picture", true)
}

func TestSessionStartReportsTheFirstOutput(t *testing.T) {
	t.Parallel()
	f := newAgent(t)
	mcptest.Handle(f.Fake, api.SessionStart, func(in api.SessionStartInput) (api.Process, error) {
		return api.Process{ID: session, Name: "sh"}, nil
	})
	mcptest.Handle(f.Fake, api.SessionWait, func(api.SessionWaitInput) (api.SessionWaitOutput, error) {
		return api.SessionWaitOutput{Met: "settled", Process: api.Process{ID: session, State: api.StateRunning, Terminal: &api.Terminal{Waiting: "input"}}}, nil
	})
	mcptest.Handle(f.Fake, api.SessionRead, func(api.SessionReadInput) (api.SessionReadOutput, error) {
		return api.SessionReadOutput{Data: "Name? "}, nil
	})
	f.Check("session_start", `{}`, "Started sh ("+session+").", false)
	f.Check("session_start", `{"command":"ask"}`, "Started sh ("+session+").\nName? \n[waits for input]", false)
}

func TestSessionKillReportsTheState(t *testing.T) {
	t.Parallel()
	for _, failure := range []error{nil, api.Errorf(api.CodeEnded, "over")} {
		f := newAgent(t)
		p := api.Process{ID: session, Name: "sh", State: api.StateStopped, ExitSignal: "SIGHUP"}
		mcptest.Handle(f.Fake, api.SessionKill, func(api.IDInput) (api.Process, error) { return p, failure })
		mcptest.Handle(f.Fake, api.SessionGet, func(api.IDInput) (api.Process, error) { return p, nil })
		f.Check("session_kill", `{"id":"sh"}`, "sh ("+session+") is stopped, ended by SIGHUP.", false)
	}
}
