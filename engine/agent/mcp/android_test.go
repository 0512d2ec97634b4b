package mcp

import (
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"tandem/engine/agent/mcp/profiles/android"
	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
	"tandem/tests/needs"
	"tandem/tests/wait"
)

// commandReply returns the reply of this profile to an exited command.
func commandReply(code int, stdout, stderr string) string {
	return toolkit.JSONText(android.ShellResult{Status: "ok", ExitCode: code, Stdout: stdout, Stderr: stderr})
}

// errorText returns the reply of this profile to a failed call.
func errorText(code, detail string) string {
	return toolkit.JSONText(android.Error{Status: "error", Code: code, Detail: detail})
}

func TestAndroidRunsCommands(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	r := newSharedRig(t, toolkit.Android)
	if err := os.Mkdir(filepath.Join(r.home, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, tool := range []string{"local_run_shell", "termux_run_shell"} {
		r.checkExact(t,
			exactCall{tool, object{"command": "echo out; echo err >&2"}, commandReply(0, "out\n", "err\n"), false},
			exactCall{tool, object{"command": "exit 3"}, commandReply(3, "", ""), false},
			exactCall{tool, object{"command": "kill -9 $$"}, commandReply(137, "", ""), false},
			exactCall{tool, object{"command": "cat; pwd; echo $TD_X $NO_COLOR", "cwd": "sub", "env": object{"TD_X": "x"}}, commandReply(0, "HOME/sub\nx 1\n", ""), false},
			exactCall{tool, object{"command": "echo $PATH", "env": object{"PATH": "/it's mine:/bin"}}, commandReply(0, "/it's mine:/bin\n", ""), false},
			exactCall{tool, object{"command": "pwd", "cwd": "~/sub"}, commandReply(0, "HOME/sub\n", ""), false},
			exactCall{tool, object{"command": "pwd", "timeout_ms": 9_000_000}, commandReply(0, "HOME\n", ""), false},
			exactCall{tool, object{"command": "no-such-program 2>/dev/null"}, commandReply(127, "", ""), false},
			exactCall{tool, object{"command": "echo first; sleep 1000", "timeout_ms": 6000},
				toolkit.JSONText(android.ShellResult{Status: "timeout", ExitCode: -1, Stdout: "first\n", Stderr: "Command timed out after 6s"}), false},
			exactCall{tool, object{}, errorText("missing_command", "command is missing"), true},
			exactCall{tool, object{"command": " "}, errorText("missing_command", "command is empty"), true},
			exactCall{tool, object{"command": "pwd", "cwd": "/nowhere"}, errorText("invalid_cwd", "start in /nowhere: no such file or directory"), true},
			exactCall{tool, object{"command": "pwd", "timeout_ms": -1}, errorText("invalid_arguments", "timeout_ms cannot be negative"), true},
			exactCall{tool, object{"command": 1}, errorText("invalid_arguments", "call "+tool+`: argument "command" must be of type string, not number`), true},
		)
	}
	r.checkExact(t,
		exactCall{"local_run_shell", object{"command": "echo [$BASH_VERSION]"}, commandReply(0, "[]\n", ""), false},
		exactCall{"termux_run_shell", object{"command": "[[ -n $BASH_VERSION ]] && shopt -q login_shell && echo login"}, commandReply(0, "login\n", ""), false},
	)
}

func TestAndroidTimeoutKillsEverything(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	r := newSharedRig(t, toolkit.Android)
	script := "trap '' TERM; (trap '' TERM; echo $(exec sh -c 'echo $PPID'); while :; do sleep 1000; done) & setsid sleep 1000 & echo $!; wait"
	var answer object
	var pids []string
	for timeout := 500; len(pids) < 2 && timeout < int(wait.Timeout.Milliseconds()); timeout *= 2 { // until it was long enough to begin
		answer = r.callObject("local_run_shell", object{"command": script, "timeout_ms": timeout})
		pids = strings.Fields(answer["stdout"].(string))
	}
	if answer["status"] != "timeout" || len(pids) != 2 {
		t.Fatalf("it answers %v", answer)
	}
	for _, text := range pids {
		if pid, err := strconv.Atoi(text); err != nil || isAlive(pid) {
			t.Errorf("process %s lives: %v", text, err)
		}
	}
}

func TestAndroidRunsWithoutBash(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Android)
	r.tools = withUses(android.ToolsWith(func(string) (string, error) { return "", errors.New("not found") }))
	want := errorText("termux_required", `bash is not installed; device_api(action="termux.show_setup") says how to get it`)
	r.checkExact(t,
		exactCall{"termux_run_shell", object{"command": "true"}, want, true},
		exactCall{"termux_shell_session", object{"action": "list"}, want, true},
		exactCall{"termux_fs", object{"action": "list", "path": "."}, want, true},
		exactCall{"device_api", object{"action": "termux.restart"}, want, true},
		exactCall{"local_run_shell", object{"command": "true"}, commandReply(0, "", ""), false},
	)
	status := r.callObject("device_api", object{"action": "termux.status"})
	setup := r.callObject("device_api", object{"action": "termux.show_setup"})
	if status["installed"] != false || status["running"] != false || setup["running"] != false || !strings.Contains(setup["detail"].(string), "need bash") {
		t.Errorf("it tells %v and %v", status, setup)
	}
}

func TestAndroidDeviceRestartKeepsProcesses(t *testing.T) {
	t.Parallel()
	r := newRig(t, toolkit.Android)
	before, err := api.EngineInfo.Call(t.Context(), r.agent.Engine, api.Empty{})
	if err != nil {
		t.Fatal(err)
	}
	id := r.callObject("local_shell_session", object{"action": "start"})["session_id"].(string)
	r.callObject("local_shell_session", object{"action": "exec", "session_id": id, "command": "x=kept"})
	state := r.callObject("device_api", object{"action": "termux.restart"})
	if state["status"] != "ok" || state["installed"] != true || state["running"] != true {
		t.Errorf("it answers %v", state)
	}
	after, err := api.EngineInfo.Call(t.Context(), r.agent.Engine, api.Empty{})
	if err != nil || after.StartedAt.Equal(before.StartedAt) {
		t.Errorf("the engine is the same: %v", err)
	}
	if out := r.callObject("local_shell_session", object{"action": "exec", "session_id": id, "command": "echo $x"}); out["output"] != "kept\n" {
		t.Errorf("the session gives %v", out)
	}
	r.checkExact(t,
		exactCall{"device_api", object{"action": "x"}, errorText("unknown_action", `unknown action "x"; must be termux.status, termux.restart or termux.show_setup`), true},
		exactCall{"device_api", object{}, errorText("missing_action", "action is missing"), true},
	)
}

func TestAndroidLocalSessionReportsWaitForInput(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	r := newSharedRig(t, toolkit.Android)
	id := r.callObject("local_shell_session", object{"action": "start"})["session_id"].(string)
	for _, command := range []string{"printf 'Name? '; read x; echo got $x", "printf 'Name? '; sh -c 'read x; echo got $x'"} {
		out := r.callObject("local_shell_session", object{"action": "exec", "session_id": id, "command": command, "timeout": 300})
		if out["waits"] != "input" || out["output"] != "Name? " || out["timed_out"] != false || out["alive"] != true {
			t.Errorf("%s gives %v", command, out)
		}
		r.callObject("local_shell_session", object{"action": "write", "session_id": id, "input": "bob\n"})
		read := ""
		wait.Poll(r, "what comes of the answer", func() (string, bool) {
			read += r.callObject("local_shell_session", object{"action": "read", "session_id": id})["output"].(string)
			return read, read == "got bob\n"
		})
	}
	out := r.callObject("local_shell_session", object{"action": "exec", "session_id": id, "command": "sleep 1; echo done"})
	if out["waits"] != nil || out["output"] != "done\n" || out["exit_code"] != 0.0 {
		t.Errorf("a command that waits for time gives %v", out)
	}
}

func TestAndroidLocalSessionExecReachesTheProgramThatReads(t *testing.T) {
	needs.FullRun(t)
	needs.Program(t, "python3", "python3")
	t.Parallel()
	r := newSharedRig(t, toolkit.Android)
	id := r.callObject("local_shell_session", object{"action": "start"})["session_id"].(string)
	for _, c := range []struct {
		command, output string
		code            any
		waits           any
	}{
		{"python3 -i -q", ">>> ", nil, "input"},
		{"6*7", "42\n>>> ", nil, "input"},
		{"exit(3)", "", 3.0, nil},
		{"sh", "", nil, "input"},
		{"echo inner; false", "inner\n", 1.0, nil},
		{"sh", "", nil, "input"},
		{"echo innermost", "innermost\n", 0.0, nil},
		{"exit 4", "", 4.0, nil},
		{"echo inner", "inner\n", 0.0, nil},
		{"exit 5", "", 5.0, nil},
		{"(read x; echo got $x)", "", nil, "input"},
		{"an answer", "got an answer\n", 0.0, nil},
		{"echo outer", "outer\n", 0.0, nil},
	} {
		out := r.callObject("local_shell_session", object{"action": "exec", "session_id": id, "command": c.command, "timeout": 300})
		if out["output"] != c.output || out["exit_code"] != c.code || out["waits"] != c.waits || out["timed_out"] != false {
			t.Errorf("%q gives %v", c.command, out)
		}
	}
}

// A quote or here-document that was opened by a write must not swallow the commands after it. The
// session stays usable after the quote ends.
func TestAndroidLocalSessionRecoversFromAStrayQuote(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	r := newSharedRig(t, toolkit.Android)
	id := r.callObject("local_shell_session", object{"action": "start"})["session_id"].(string)
	do := func(action, key, text string) object {
		return r.callObject("local_shell_session", object{"action": action, "session_id": id, key: text, "timeout": 300})
	}
	for _, c := range [][2]string{{"\"\n", "\"\n"}, {"echo 'a\n", "'\n"}, {"cat <<END\n", "END\n"}, {"if true\n", "then :; fi\n"}} {
		do("write", "input", c[0])
		if out := do("exec", "command", "echo a"); out["error"] != "session_busy" || !strings.Contains(out["detail"].(string), "an incomplete command was written") {
			t.Errorf("behind %q a command gives %v", c[0], out)
		}
		do("write", "input", c[1])
		if out := do("exec", "command", "echo a; false"); !strings.HasSuffix(out["output"].(string), "a\n") || strings.Contains(out["output"].(string), "eval") || out["exit_code"] != 1.0 {
			t.Errorf("after %q a command gives %v", c[0], out)
		}
	}
	// A command is running when the quote arrives.
	do("exec", "command", "read x")
	do("write", "input", "x\n'\n")
	if out := do("exec", "command", "echo swallowed"); out["waits"] != "input" {
		t.Errorf("in a quote a command gives %v", out)
	}
	if out := do("exec", "command", "echo a"); out["error"] != "session_busy" {
		t.Errorf("in a quote another command gives %v", out)
	}
	do("write", "input", "'\n")
	for range 2 {
		if out := do("exec", "command", "echo a; false"); !strings.HasSuffix(out["output"].(string), "a\n") || out["exit_code"] != 1.0 {
			t.Errorf("after the quote a command gives %v", out)
		}
	}
}

// A command's last line can be read before the marker after it.
func TestAndroidCommandWaitsForPreviousToFinish(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	r := newSharedRig(t, toolkit.Android)
	id := r.callObject("local_shell_session", object{"action": "start"})["session_id"].(string)
	r.callObject("local_shell_session", object{"action": "exec", "session_id": id, "command": "read x; echo got $x; sleep 0.1", "timeout": 300})
	r.callObject("local_shell_session", object{"action": "write", "session_id": id, "input": "bob\n"})
	out := r.callObject("local_shell_session", object{"action": "exec", "session_id": id, "command": "echo next"})
	if out["output"] != "got bob\nnext\n" || out["exit_code"] != 0.0 {
		t.Errorf("the next command gives %v", out)
	}
}

func TestAndroidLocalSessionRunsCommands(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	r := newSharedRig(t, toolkit.Android)
	do := func(action, id string, more object) object {
		t.Helper()
		args := object{"action": action, "session_id": id}
		for k, v := range more {
			args[k] = v
		}
		return r.callObject("local_shell_session", args)
	}
	started := r.callObject("local_shell_session", object{"action": "start", "env": object{"TD_X": "from outside"}})
	id := started["session_id"].(string)
	if !idAtEnd.MatchString(id) || started["output"] != "$ " {
		t.Fatalf("it starts with %v", started)
	}
	for _, c := range []struct {
		command, output string
		code            any
	}{
		{"echo $TD_X; pwd; tty", "from outside\nHOME\nnot a tty\n", 1.0},
		{"echo $?", "1\n", 0.0},
		{"cd /usr; export V='a b'; f() { echo \"<$1>\"; }", "", 0.0},
		{"pwd; f \"$V\"; printf open", "/usr\n<a b>\nopen", 0.0},
		{"cat <<END\nit's $V\nEND", "it's a b\n", 0.0},
		{"ls --color=auto -d /usr", "/usr\n", 0.0},
		{"printf '\\377'", "\uFFFD", 0.0},
	} {
		out := do("exec", id, object{"command": c.command})
		if r.maskVariable(out["output"].(string)) != c.output || out["exit_code"] != c.code || out["alive"] != true || out["timed_out"] != false {
			t.Errorf("%q gives %v", c.command, out)
		}
	}
	if out := do("exec", id, object{"command": "if ("}); out["exit_code"] == 0.0 || out["alive"] != true {
		t.Errorf("a mistake gives %v", out)
	}
	if out := do("exec", id, object{"command": "echo before; read line; echo got $line", "timeout": 300}); out["timed_out"] != false || out["output"] != "before\n" || out["exit_code"] != nil {
		t.Errorf("a command that waits for input gives %v", out)
	}
	if out := do("exec", id, object{"command": "echo next"}); out["error"] != "session_busy" {
		t.Errorf("meanwhile a command gives %v", out)
	}
	if out := do("write", id, object{"input": "hello\n"}); !cmp.Equal(out, object{"ok": true}) {
		t.Errorf("write gives %v", out)
	}
	read := ""
	wait.Poll(r, "what the command printed", func() (string, bool) {
		out := do("read", id, nil)
		read += out["output"].(string)
		return read, out["alive"] == true && read == "got hello\n"
	})
	if out := do("read", id, nil); !cmp.Equal(out, object{"output": "", "alive": true}) {
		t.Errorf("reading again gives %v", out)
	}
	if out := do("exec", id, object{"command": "read line; echo got $line", "timeout": 300}); out["waits"] != "input" {
		t.Errorf("a command that waits for input gives %v", out)
	}
	do("write", id, object{"input": "again\n"})
	wait.Poll(r, "the end of that command", func() (object, bool) {
		out := do("exec", id, object{"command": "echo next"})
		return out, out["error"] != "session_busy" && out["output"] == "got again\nnext\n"
	})
	do("write", id, object{"input": "echo begun"})
	if out := do("exec", id, object{"command": "echo next\r\necho last"}); out["output"] != "begun\nnext\nlast\n" || out["exit_code"] != 0.0 {
		t.Errorf("behind a line that was not ended a command gives %v", out)
	}
	if out := do("resize", id, object{"rows": 50, "cols": 100}); out["ok"] != true || out["detail"] == nil {
		t.Errorf("resize gives %v", out)
	}
	listed := r.callObject("local_shell_session", object{"action": "list"})["sessions"].([]any)
	if len(listed) != 1 || listed[0].(object)["session_id"] != id || listed[0].(object)["alive"] != true {
		t.Errorf("listed are %v", listed)
	}
	if out := do("exec", id, object{"command": "echo bye; exit 7"}); out["output"] != "bye\n" || out["alive"] != false || out["exit_code"] != 7.0 {
		t.Errorf("exit gives %v", out)
	}
	bg := r.callObject("local_shell_session", object{"action": "start"})["session_id"].(string)
	if out := do("kill", bg, nil); !cmp.Equal(out, object{"ok": true}) {
		t.Errorf("kill gives %v", out)
	}
	if out := do("exec", id, object{"command": "true"}); out["error"] != "session_dead" || out["detail"] != "session "+id+" has ended" ||
		!strings.HasSuffix(out["output"].(string), "bye\n") {
		t.Errorf("a session that has ended answers %v", out)
	}
	r.checkExact(t,
		exactCall{"local_shell_session", object{"action": "list"}, `{"sessions":[]}`, false},
		exactCall{"local_shell_session", object{}, errorText("missing_action", "action is missing"), true},
		exactCall{"local_shell_session", object{"action": "dance"}, errorText("unknown_action", `unknown action "dance"; must be start, exec, write, read, resize, kill or list`), true},
		exactCall{"local_shell_session", object{"action": "exec", "command": "true"}, errorText("missing_session_id", "exec needs session_id"), true},
		exactCall{"local_shell_session", object{"action": "exec", "session_id": id}, errorText("missing_command", "exec needs command"), true},
		exactCall{"local_shell_session", object{"action": "write", "session_id": id}, errorText("missing_input", "write needs input"), true},
		exactCall{"local_shell_session", object{"action": "read", "session_id": "none"}, errorText("session_not_found", "no such session: none"), true},
		exactCall{"local_shell_session", object{"action": "start", "cwd": "/nowhere"}, errorText("invalid_cwd", "start in /nowhere: no such file or directory"), true},
	)
}

func TestAndroidLocalSessionLosesNothingBetweenExecAndRead(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Android)
	id := r.callObject("local_shell_session", object{"action": "start"})["session_id"].(string)
	var all strings.Builder
	r.callObject("local_shell_session", object{"action": "write", "session_id": id, "input": "for i in $(seq 2000); do echo bg$i; done\n"})
	for range 5 {
		out := r.callObject("local_shell_session", object{"action": "exec", "session_id": id, "command": "seq 1000"})
		all.WriteString(out["output"].(string))
		out = r.callObject("local_shell_session", object{"action": "read", "session_id": id})
		all.WriteString(out["output"].(string))
	}
	var want strings.Builder
	for i := range 2000 {
		want.WriteString("bg" + strconv.Itoa(i+1) + "\n")
	}
	for range 5 {
		for i := range 1000 {
			want.WriteString(strconv.Itoa(i+1) + "\n")
		}
	}
	if all.String() != want.String() {
		t.Errorf("of %d bytes came %d", want.Len(), all.Len())
	}
}

func TestAndroidManagesFiles(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Android)
	outside := t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.WriteFile(filepath.Join(outside, "secret"), []byte("x"), 0o600))
	must(os.Symlink(outside, filepath.Join(r.home, "out")))
	must(os.Symlink(filepath.Join(outside, "new"), filepath.Join(r.home, "dangling")))
	must(os.MkdirAll(filepath.Join(r.home, "d", "e"), 0o750))
	must(os.WriteFile(filepath.Join(r.home, "d", ".hidden"), nil, 0o600))
	must(os.WriteFile(filepath.Join(r.home, "d", "b"), []byte("12345"), 0o640))
	must(os.Symlink("b", filepath.Join(r.home, "d", "a")))
	must(os.Symlink("e", filepath.Join(r.home, "d", "dir")))
	must(os.Symlink("/etc", filepath.Join(r.home, "d", "away")))
	times := []unix.Timespec{{Sec: 100, Nsec: 250e6}, {Sec: 200, Nsec: 500e6}}
	for _, name := range []string{"b", "e", ".hidden", "a", "dir", "away"} {
		must(unix.UtimesNanoAt(unix.AT_FDCWD, filepath.Join(r.home, "d", name), times, unix.AT_SYMLINK_NOFOLLOW))
	}
	fs := func(action, path string, more ...any) object {
		o := object{"action": action, "path": path}
		for i := 0; i < len(more); i += 2 {
			o[more[i].(string)] = more[i+1]
		}
		return o
	}
	binary := base64.StdEncoding.EncodeToString([]byte{0, 0xff, 1})
	entry := func(name string, dir bool, size int) string {
		return `{"name":"` + name + `","is_dir":` + strconv.FormatBool(dir) + `,"size":` + strconv.Itoa(size) + `,"mtime":200.5}`
	}
	ok := func(tool object, want string) exactCall { return exactCall{"termux_fs", tool, want, false} }
	content := func(text, encoding string, size, offset, read int, cut bool) string {
		return toolkit.JSONText(android.Content{Content: text, Encoding: encoding, Size: int64(size), Offset: int64(offset), ReadBytes: int64(read), Truncated: cut})
	}
	size, err := os.Stat(filepath.Join(r.home, "d", "e"))
	must(err)
	r.checkExact(t,
		ok(fs("write", "new/deep/f.txt", "content", "häh\n"), `{"path":"HOME/new/deep/f.txt","size":5}`),
		ok(fs("read", "~/new/deep/f.txt"), content("häh\n", "utf-8", 5, 0, 5, false)),
		ok(fs("read", r.home+"/new/deep/f.txt", "max_bytes", 2), content("h", "utf-8", 5, 0, 1, true)),
		ok(fs("read", "new/deep/f.txt", "offset", 1, "max_bytes", 3), content("äh", "utf-8", 5, 1, 3, true)),
		ok(fs("read", "new/deep/f.txt", "offset", 99), content("", "utf-8", 5, 99, 0, false)),
		ok(fs("write", "bin", "content", binary, "encoding", "base64"), `{"path":"HOME/bin","size":3}`),
		ok(fs("read", "bin"), content(binary, "base64", 3, 0, 3, false)),
		ok(fs("list", "d"), `{"items":[`+entry("a", false, 1)+`,`+entry("away", false, 4)+`,`+entry("b", false, 5)+`,`+entry("dir", true, 1)+`,`+entry("e", true, int(size.Size()))+`]}`),
		ok(fs("list", "d", "show_hidden", true), `{"items":[`+entry(".hidden", false, 0)+`,`+entry("a", false, 1)+`,`+entry("away", false, 4)+`,`+entry("b", false, 5)+`,`+entry("dir", true, 1)+`,`+entry("e", true, int(size.Size()))+`]}`),
		ok(fs("stat", "d/b"), `{"is_file":true,"is_dir":false,"is_link":false,"size":5,"mtime":200.5,"atime":100.25,"mode":"0640"}`),
		ok(fs("stat", "d/a"), `{"is_file":true,"is_dir":false,"is_link":true,"size":1,"mtime":200.5,"atime":NOW,"mode":"0777"}`),
		ok(fs("stat", "d/dir"), `{"is_file":false,"is_dir":true,"is_link":true,"size":1,"mtime":200.5,"atime":NOW,"mode":"0777"}`),
		ok(fs("stat", "d/away"), `{"is_file":false,"is_dir":false,"is_link":true,"size":4,"mtime":200.5,"atime":NOW,"mode":"0777"}`),
		ok(fs("mkdir", "m/n/o"), `{"ok":true,"path":"HOME/m/n/o"}`),
		ok(fs("mkdir", "m/n/o"), `{"ok":true,"path":"HOME/m/n/o"}`),
		ok(fs("delete", "bin"), `{"ok":true,"path":"HOME/bin"}`),
		ok(fs("delete", "m", "recursive", true), `{"ok":true,"path":"HOME/m"}`),
	)
	fails := func(code string, args object) {
		t.Helper()
		answer := r.call("termux_fs", args)
		if text := resultText(answer); !answer.Failed || !strings.HasPrefix(text, `{"status":"error","error":"`+code+`",`) {
			t.Errorf("%v gives %s, want %s", args, text, code)
		}
	}
	for _, path := range []string{"..", "../x", "/etc/passwd", r.home + "x/y", "out/secret", "dangling"} {
		fails("path_outside_home", fs("write", path, "content", "x"))
	}
	fails("path_outside_home", fs("read", "out/secret"))
	fails("path_outside_home", fs("list", "out"))
	fails("path_outside_home", fs("delete", "out/secret"))
	fails("not_found", fs("read", "none"))
	fails("not_found", fs("stat", "none"))
	fails("not_found", fs("delete", "none"))
	fails("not_found", fs("mkdir", "x/y/z", "parents", false))
	fails("not_a_directory", fs("list", "d/b"))
	fails("not_a_directory", fs("read", "d/b/c"))
	fails("is_a_directory", fs("read", "d"))
	fails("directory_not_empty", fs("delete", "d"))
	fails("missing_path", fs("read", ""))
	fails("missing_path", object{"action": "read"})
	fails("unknown_fs_action", fs("dance", "d"))
	fails("missing_action", object{"path": "d"})
	fails("missing_content", fs("write", "d/b"))
	fails("invalid_content", fs("write", "x", "content", "?", "encoding", "base64"))
	fails("invalid_encoding", fs("write", "x", "content", "x", "encoding", "latin1"))
	fails("invalid_arguments", fs("read", "x", "offset", -1))
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 {
		t.Errorf("outside there is %v now: %v", entries, err)
	}
}
