package mcp

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/agent/mcp/profiles/terminal"
	"tandem/engine/agent/mcp/toolkit"
	"tandem/tests/needs"
	"tandem/tests/wait"
)

func TestTerminalRunsCommands(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	r := newSharedRig(t, toolkit.Terminal)
	run := func(args object) object {
		t.Helper()
		out := r.callObject("run_terminal_command", args)
		if seconds, ok := out["execution_time"].(float64); !ok || seconds < 0 {
			t.Errorf("%v took %v", args, out["execution_time"])
		}
		delete(out, "execution_time")
		return out
	}
	want := func(command string, code float64, stdout, stderr, cwd string) object {
		return object{"command": command, "return_code": code, "stdout": stdout, "stderr": stderr, "working_directory": cwd}
	}
	for _, c := range []struct{ args, want object }{
		{object{"command": "echo out; echo err >&2; exit 2"}, want("echo out; echo err >&2; exit 2", 2, "out\n", "err\n", r.home)},
		{object{"command": "pwd; cat; echo [$TERM]", "working_directory": "/usr"}, want("pwd; cat; echo [$TERM]", 0, "/usr\n[dumb]\n", "", "/usr")},
		{object{"command": "echo out; false", "capture_output": false}, want("echo out; false", 1, "", "", r.home)},
		{object{"command": "echo out; printf err >&2; exec sleep 1000", "timeout_seconds": 1},
			want("echo out; printf err >&2; exec sleep 1000", -1, "out\n", "err\nCommand timed out after 1s", r.home)},
	} {
		if diff := cmp.Diff(c.want, run(c.args)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.args, diff)
		}
	}
	r.checkExact(t,
		exactCall{"run_terminal_command", object{"command": ""}, "run command: command is empty", true},
		exactCall{"run_terminal_command", object{"command": "true", "timeout_seconds": -1}, "run command: timeout_seconds cannot be negative", true},
		exactCall{"run_terminal_command", object{"command": "true", "working_directory": "/nowhere"}, "start in /nowhere: no such file or directory", true},
		exactCall{"run_terminal_command", object{}, `call run_terminal_command: argument "command" is missing` + "\nhint: it takes: command, working_directory, timeout_seconds, capture_output", true},
	)
}

func TestTerminalStartsShells(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	r := newSharedRig(t, toolkit.Terminal, toolkit.Android)
	r.agent.Environ["HISTFILE"] = ""
	for _, c := range []struct {
		kind, prompt string
		startup      []string
		shown        string
	}{
		{"bash", "ready% ", []string{"cd /usr", "X='a b'; echo \"<$X>\""}, "<a b>"},
		{"zsh", "zed% ", []string{"echo $((6 * 7))"}, "42"},
		{"python", "py% ", []string{"x = 6 * 7", "print(x)"}, "42"},
		{"codomyrmex", "codo% ", []string{"cd /usr", "pwd"}, "/usr"},
		{"tandem", "", nil, "tandem>"},
	} {
		if c.kind == "zsh" || c.kind == "python" {
			if _, err := exec.LookPath(map[string]string{"zsh": "zsh", "python": terminal.PythonName()}[c.kind]); err != nil {
				r.checkExact(t, exactCall{"start_interactive_shell", object{"shell_type": c.kind},
					"start shell: " + map[string]string{"zsh": "zsh", "python": terminal.PythonName()}[c.kind] + " is not installed\nhint: choose another shell_type", true})
				continue
			}
		}
		out := r.callObject("start_interactive_shell", object{"shell_type": c.kind, "prompt": c.prompt, "startup_commands": c.startup})
		id, _ := out["shell_id"].(string)
		if !idAtEnd.MatchString(id) || out["shell_type"] != c.kind || out["status"] != "started" || out["working_directory"] != r.home ||
			out["startup_commands_executed"] != float64(len(c.startup)) || len(out["available_commands"].([]any)) == 0 {
			t.Fatalf("%s: it answers %v", c.kind, out)
		}
		r.waitForScreen(id, "(?s)"+regexp.QuoteMeta(c.shown)+".*"+regexp.QuoteMeta(strings.TrimSpace(c.prompt)))
		text := resultText(r.call("termux_shell_session", object{"action": "read", "session_id": id}))
		for _, hidden := range []string{"PS1=", "PROMPT=", "sys.ps1", "TANDEM_"} {
			if strings.Contains(text, hidden) {
				t.Errorf("%s shows the line that sets its prompt: %q", c.kind, text)
			}
		}
		if listed := resultText(r.call("termux_shell_session", object{"action": "list"})); !strings.Contains(listed, id) {
			t.Errorf("%s is not among %s", id, listed)
		}
	}
	r.checkExact(t,
		exactCall{"start_interactive_shell", object{"shell_type": "nushell"}, "start shell: unknown shell_type \"nushell\"\nhint: must be bash, zsh, python, codomyrmex or tandem", true},
		exactCall{"start_interactive_shell", object{"working_directory": "/nowhere"}, "start in /nowhere: no such file or directory", true},
	)
}

// Tandem types text around a command to learn when it ends. The output must show none of it, and
// the command only once.
func TestAndroidTermuxOutputRepeatsTheCommandUnchanged(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	r := newSharedRig(t, toolkit.Android)
	id := r.callObject("termux_shell_session", object{"action": "start", "env": object{"PS1": "$ "}})["session_id"].(string)
	exec := func(command string) object {
		return r.callObject("termux_shell_session", object{"action": "exec", "session_id": id, "command": command})
	}
	exec("PS1='$ '")
	long := "true " + strings.Repeat("a", 90)
	for _, shell := range []string{"", "sh", "bash --norc", "zsh -f"} {
		if shell != "" {
			name, _, _ := strings.Cut(shell, " ")
			needs.Program(t, name, name)
			exec("PS1='$ ' " + shell)
		}
		for _, c := range []struct{ command, output string }{
			{"echo inner", "inner\r\n"}, {long, ""}, {"echo '!x'", "!x\r\n"}, {"echo a\necho b", "a\r\nb\r\n"}, {"echo '\t'", "\t\r\n"},
		} {
			out := exec(c.command)
			text, _ := out["output"].(string)
			rest, found := strings.CutPrefix(text, strings.ReplaceAll(c.command, "\n", "\r\n")+"\r\n"+c.output)
			if !found || strings.Contains(rest, "printf") || strings.Contains(rest, "inner") || !strings.Contains(rest, "$ ") || out["exit_code"] != 0.0 {
				t.Errorf("in %q, %q gives %q", shell, c.command, out)
			}
		}
		if shell != "" {
			exec("exit")
		}
	}
}

func TestAndroidTermuxSessionRunsReadsAndResizes(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	r := newSharedRig(t, toolkit.Android)
	do := func(action, id string, more object) object {
		t.Helper()
		args := object{"action": action, "session_id": id}
		for k, v := range more {
			args[k] = v
		}
		return r.callObject("termux_shell_session", args)
	}
	started := r.callObject("termux_shell_session", object{"action": "start", "env": object{"PS1": "ready% ", "TD_X": "from outside"}})
	id, _ := started["session_id"].(string)
	if prompt, _ := started["output"].(string); !idAtEnd.MatchString(id) || prompt == "" {
		t.Fatalf("it starts with %v", started)
	}
	if p := r.getProcess(id); p.Terminal == nil || p.Terminal.Cols != 80 || p.Terminal.Rows != 24 {
		t.Errorf("its terminal is %+v", p.Terminal)
	}
	out := do("exec", id, object{"command": "echo $TD_X; (exit 3)"})
	text, _ := out["output"].(string)
	if !strings.HasPrefix(text, "echo $TD_X; (exit 3)\r\n") || !strings.Contains(text, "from outside\r\n") || strings.Contains(text, "]133;") ||
		out["exit_code"] != 3.0 || out["alive"] != true || out["timed_out"] != false {
		t.Errorf("exec gives %q", out)
	}
	if out := do("exec", id, object{"command": "echo before; read line; echo \"got $line\"", "timeout": 300}); out["timed_out"] != false || out["waits"] != "input" || out["exit_code"] != nil || !strings.Contains(out["output"].(string), "before\r\n") {
		t.Errorf("a command that waits for input gives %v", out)
	}
	if out := do("write", id, object{"input": "hello\n"}); !cmp.Equal(out, object{"ok": true}) {
		t.Errorf("write gives %v", out)
	}
	var read strings.Builder
	wait.Poll(r, "what the command printed", func() (string, bool) {
		read.WriteString(do("read", id, nil)["output"].(string))
		return read.String(), strings.Contains(read.String(), "got hello\r\n")
	})
	if out := do("resize", id, object{"rows": 50, "cols": 100}); !cmp.Equal(out, object{"ok": true}) {
		t.Errorf("resize gives %v", out)
	}
	if out := do("exec", id, object{"command": "stty size"}); !strings.Contains(out["output"].(string), "50 100\r\n") {
		t.Errorf("its size is %v", out)
	}
	do("write", id, object{"input": "echo partial"})
	r.waitForScreen(id, "echo partial")
	busy := do("exec", id, object{"command": "true"})
	if detail, _ := busy["detail"].(string); busy["error"] != "session_busy" || !strings.HasSuffix(detail, `already typed at its prompt; write with input \u0003 (ctrl+c) interrupts the program and clears the line`) {
		t.Errorf("behind a half-typed line it answers %v", busy)
	}
	do("write", id, object{"input": "\x03"})
	if out := do("exec", id, object{"command": "true"}); out["exit_code"] != 0.0 {
		t.Errorf("behind a cleared line it answers %v", out)
	}
	if out := do("exec", id, object{"command": "echo bye; exit 7"}); out["alive"] != false || !strings.Contains(out["output"].(string), "bye\r\n") {
		t.Errorf("exit gives %v", out)
	}
	other := r.callObject("termux_shell_session", object{"action": "start"})["session_id"].(string)
	if out := do("kill", other, nil); !cmp.Equal(out, object{"ok": true}) {
		t.Errorf("kill gives %v", out)
	}
	if out := do("exec", id, object{"command": "true"}); out["error"] != "session_dead" || out["detail"] != "session "+id+" has ended" ||
		!strings.HasSuffix(out["output"].(string), "bye\r\nexit\r\n") {
		t.Errorf("a session that has ended answers %v", out)
	}
	r.checkExact(t,
		exactCall{"termux_shell_session", object{"action": "list"}, `{"sessions":[]}`, false},
		exactCall{"termux_shell_session", object{"action": "read", "session_id": "none"}, errorText("session_not_found", "no such session: none"), true},
		exactCall{"termux_shell_session", object{"action": "write", "session_id": id}, errorText("missing_input", "write needs input"), true},
		exactCall{"termux_shell_session", object{}, errorText("missing_action", "action is missing"), true},
	)
}
