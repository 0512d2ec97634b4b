package terminal

import (
	"os/exec"
	"strings"
	"testing"

	"tandem/engine/agent/mcp/mcptest"
	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
)

func newAgent(t *testing.T) *mcptest.Agent {
	return mcptest.NewAgent(t, "/home/me", toolkit.Terminal, Tools())
}

func exit(code int) *int { return &code }

func TestTerminalCommandReportsTheOutcome(t *testing.T) {
	t.Parallel()
	const ran = `,"execution_time":1.5,"working_directory":"/home/me"}`
	for _, tc := range []struct {
		args   string
		out    api.ExecOutput
		want   string
		failed bool
	}{
		{`{"command":"x"}`, api.ExecOutput{Process: api.Process{State: api.StateExited, ExitCode: exit(2)}, Stdout: "a\n", Stderr: "b\n", DurationMS: 1500},
			`{"command":"x","return_code":2,"stdout":"a\n","stderr":"b\n"` + ran, false},
		{`{"command":"x","capture_output":false}`, api.ExecOutput{Process: api.Process{State: api.StateExited, ExitCode: exit(0)}, Stdout: "a\n", DurationMS: 1500},
			`{"command":"x","return_code":0,"stdout":"","stderr":""` + ran, false},
		{`{"command":"x"}`, api.ExecOutput{Process: api.Process{State: api.StateStopped, ExitSignal: "SIGTERM", ErrorLogPath: "/err"}, TimedOut: true, Stderr: "b", StderrDropped: 7, DurationMS: 1500},
			`{"command":"x","return_code":-1,"stdout":"","stderr":"[7 bytes before this are in /err]\nb\nCommand timed out after 30s"` + ran, false},
		{`{"command":" "}`, api.ExecOutput{}, "run command: command is empty", true},
		{`{"command":"x","timeout_seconds":-1}`, api.ExecOutput{}, "run command: timeout_seconds cannot be negative", true},
	} {
		f := newAgent(t)
		mcptest.Handle(f.Fake, api.Exec, func(in api.ExecInput) (api.ExecOutput, error) {
			if in.Command[2] != "x" || in.TimeoutMS != 30_000 || !in.Kill {
				t.Errorf("it runs %+v", in)
			}
			return tc.out, nil
		})
		f.Check("run_terminal_command", tc.args, tc.want, tc.failed)
	}
}

func TestShellRunsStartupCommandsUntilOneFails(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		outs     []api.SessionExecOutput
		executed string
		status   string
	}{
		{[]api.SessionExecOutput{{Alive: true}, {Alive: true}, {Alive: true}}, "3", "started"},
		{[]api.SessionExecOutput{{Alive: true}, {}}, "1", "ended"},
		{[]api.SessionExecOutput{{Alive: true, TimedOut: true}}, "0", "started"},
		{[]api.SessionExecOutput{{Alive: true}, {Alive: true, Waits: "input"}}, "1", "started"},
	} {
		f := newAgent(t)
		mcptest.Handle(f.Fake, api.SessionStart, func(in api.SessionStartInput) (api.Process, error) {
			if strings.Join(in.Command, " ") != "bash" || in.CWD != "/home/me/src" || in.Env[api.ShellPrompt] != "> " {
				t.Errorf("it starts %+v", in)
			}
			return api.Process{ID: "abc"}, nil
		})
		mcptest.Handle(f.Fake, api.SessionWait, func(api.SessionWaitInput) (api.SessionWaitOutput, error) {
			return api.SessionWaitOutput{Met: "prompt"}, nil
		})
		calls := 0
		mcptest.Handle(f.Fake, api.SessionExec, func(in api.SessionExecInput) (api.SessionExecOutput, error) {
			if in.Command != []string{"a", "b", "c"}[calls] {
				t.Errorf("command %d is %q", calls, in.Command)
			}
			calls++
			return tc.outs[calls-1], nil
		})
		f.Check("start_interactive_shell", `{"working_directory":"src","prompt":"> ","startup_commands":["a","b","c"]}`,
			`{"shell_id":"abc","shell_type":"bash","status":"`+tc.status+`","working_directory":"/home/me/src","startup_commands_executed":`+tc.executed+
				`,"available_commands":["cd","export","alias","source","jobs","fg","bg","history","type","help","exit"]}`, false)
	}
	newAgent(t).Check("start_interactive_shell", `{"shell_type":"fish"}`,
		"start shell: unknown shell_type \"fish\"\nhint: must be bash, zsh, python, codomyrmex or tandem", true)
}

func TestShellWithoutPromptCountsAsReadyWhenSilent(t *testing.T) {
	t.Parallel()
	for state, want := range map[api.State]string{api.StateRunning: "started", api.StateExited: "ended"} {
		f := newAgent(t)
		mcptest.Handle(f.Fake, api.SessionStart, func(api.SessionStartInput) (api.Process, error) { return api.Process{ID: "abc"}, nil })
		mcptest.Handle(f.Fake, api.SessionWait, func(in api.SessionWaitInput) (out api.SessionWaitOutput, err error) {
			if out.Process.State = state; in.IdleMS > 0 {
				out.Met = "idle"
			}
			return out, nil
		})
		if text, _ := f.Call("start_interactive_shell", `{}`); !strings.Contains(text, `"status":"`+want+`"`) || len(f.Fake.Calls) != 3 {
			t.Errorf("%s: %v, %s", state, f.Fake.Calls, text)
		}
	}
}
