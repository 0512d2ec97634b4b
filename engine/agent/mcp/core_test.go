package mcp

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/engine/api"
	"tandem/tests/needs"
)

// An exactCall is a call of a tool with the exact text of its reply, after masking variable parts.
type exactCall struct {
	tool   string
	args   object
	want   string
	failed bool
}

func (r *rig) checkExact(t *testing.T, rows ...exactCall) {
	t.Helper()
	for _, c := range rows {
		answer := r.call(c.tool, c.args)
		if diff := cmp.Diff(r.maskVariable(c.want), r.maskVariable(resultText(answer))); diff != "" {
			t.Errorf("%s %v (-want +got):\n%s", c.tool, c.args, diff)
		}
		if answer.Failed != c.failed {
			t.Errorf("%s %v: failed is %v", c.tool, c.args, answer.Failed)
		}
	}
}

// maskVariable replaces parts different in every run.
func (r *rig) maskVariable(s string) string {
	s = regexp.MustCompile(`\d+ seconds`).ReplaceAllString(s, "N seconds")
	s = regexp.MustCompile(`"atime":1\d{9}[0-9.]*`).ReplaceAllString(s, `"atime":NOW`)
	s = strings.ReplaceAll(s, r.home, "HOME")
	s = strings.ReplaceAll(s, r.dir, "DATA")
	return s
}

var idAtEnd = regexp.MustCompile(`[0-9a-f]{12}$`)

func TestCoreRunsCommands(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Core)
	run := func(argv ...string) object { return object{"command": append([]string{}, argv...)} }
	r.checkExact(t,
		exactCall{"get-command-history", nil, `[]`, false},
		exactCall{"execute-command", run("echo", "hello world"), "hello world\n", false},
		exactCall{"execute-command", run("sh", "-c", "echo $0 $1; echo seen >&2", "a b", "$HOME"), "a b $HOME\n", false},
		exactCall{"execute-command", run("sh", "-c", "printf out; echo err >&2; exit 3"),
			"Command not executed successfully, exit code: 3\n\nout\nerr", true},
		exactCall{"execute-command", run("false"), "Command not executed successfully, exit code: 1", true},
		exactCall{"execute-command", run("sh", "-c", "kill -9 $$"), "Command not executed successfully, exit code: 137", true},
		exactCall{"execute-command", run("no-such-program"), "Command not executed successfully: no-such-program: executable not found in PATH", true},
		exactCall{"execute-command", run(), "Command not executed successfully: start process: no command given", true},
		exactCall{"execute-command", object{}, `call execute-command: argument "command" is missing` + "\nhint: it takes: command", true},
		exactCall{"execute-command", object{"command": nil}, `call execute-command: argument "command" is missing` + "\nhint: it takes: command", true},
		exactCall{"execute-command", run("cat"), "", false},
		exactCall{"execute-command", run("sh", "-c", "(sleep 1; echo late) & echo first"), "first\n", false},
		exactCall{"execute-command", run("sh", "-c", "echo $TERM $NO_COLOR $PAGER $GIT_PAGER; pwd"), "dumb 1 cat cat\nHOME\n", false},
		exactCall{"get-command-history", nil, `["echo 'hello world'","sh -c 'echo $0 $1; echo seen >&2' 'a b' '$HOME'","cat",` +
			`"sh -c '(sleep 1; echo late) & echo first'","sh -c 'echo $TERM $NO_COLOR $PAGER $GIT_PAGER; pwd'"]`, false},
		exactCall{"clear-command-history", nil, "", false},
		exactCall{"get-command-history", nil, `[]`, false},
	)
}

func TestCoreManagesBackgroundCommands(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	r := newRig(t, toolkit.Core)
	r.checkExact(t, exactCall{"list-background-processes", nil, "No background processes are currently tracked.", false})
	start := func(argv ...string) string {
		t.Helper()
		answer := resultText(r.call("start-command-async", object{"command": argv}))
		id := idAtEnd.FindString(answer)
		if answer != "Command started in background. Process ID: "+id {
			t.Fatal(answer)
		}
		return id
	}
	good, bad, silent := start("sh", "-c", "echo out; echo err >&2"), start("sh", "-c", "exit 4"), start("true")
	for _, id := range []string{good, bad, silent} {
		r.waitForExit(id)
	}
	going := start("sh", "-c", "echo going; trap '' TERM; while :; do sleep 1000; done")
	r.waitForLog(going, "^going$")
	of := func(id string) object { return object{"processId": id} }
	finished := "Process " + good + " is COMPLETED_SUCCESS.\nCommand: sh -c 'echo out; echo err >&2'\nExit Code: 0\nDuration: 0 seconds\nOutput:\nout\nSTDERR:\nerr"
	script := "sh -c 'echo going; trap '\\'''\\'' TERM; while :; do sleep 1000; done'"
	r.checkExact(t,
		exactCall{"start-command-async", object{"command": []string{"no-such-program"}}, "Failed to start command: no-such-program: executable not found in PATH", true},
		exactCall{"check-command-status", of(good), finished, false},
		exactCall{"check-command-status", of(good), finished, false},
		exactCall{"check-command-status", of(bad), "Process " + bad + " is COMPLETED_ERROR.\nCommand: sh -c 'exit 4'\nExit Code: 4\nDuration: 0 seconds\nOutput:\n[No output]", false},
		exactCall{"check-command-status", of(silent), "Process " + silent + " is COMPLETED_SUCCESS.\nCommand: true\nExit Code: 0\nDuration: 0 seconds\nOutput:\n[No output]", false},
		exactCall{"check-command-status", of(going), "Process " + going + " is RUNNING.\nCommand: " + script + "\nDuration: 0 seconds\nOutput:\ngoing", false},
		exactCall{"check-command-status", of("none"), "Process not found: none", true},
		exactCall{"stop-command", of("none"), "Process not found: none", true},
		exactCall{"stop-command", of(good), "Process " + good + " is already terminated.", false},
		exactCall{"list-background-processes", nil, "Process ID: " + good + "\nCommand: sh -c 'echo out; echo err >&2'\nStatus: COMPLETED_SUCCESS\nRuntime: 0 seconds\nExit Code: 0\n\n" +
			"Process ID: " + bad + "\nCommand: sh -c 'exit 4'\nStatus: COMPLETED_ERROR\nRuntime: 0 seconds\nExit Code: 4\n\n" +
			"Process ID: " + silent + "\nCommand: true\nStatus: COMPLETED_SUCCESS\nRuntime: 0 seconds\nExit Code: 0\n\n" +
			"Process ID: " + going + "\nCommand: " + script + "\nStatus: RUNNING\nRuntime: 0 seconds", false},
		exactCall{"stop-command", of(going), "Process " + going + " has been stopped.", false},
		exactCall{"stop-command", of(going), "Process " + going + " is already terminated.", false},
		exactCall{"check-command-status", of(going), "Process " + going + " is TERMINATED.\nCommand: " + script + "\nExit Code: 137\nDuration: 5 seconds\nOutput:\ngoing", false},
	)
	if p := r.getProcess(going); p.Actor != "agent:test/1" || p.State != api.StateStopped {
		t.Errorf("the engine has it as %s of %s", p.State, p.Actor)
	}
}

func TestCoreSavesAndLoadsHistory(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Core)
	file := filepath.Join(r.home, "new", "folder", "commands.txt")
	at := func(path string, overwrite bool) object { return object{"absolutePath": path, "overwrite": overwrite} }
	from := func(path string) object { return object{"absolutePath": path} }
	for _, arg := range []string{"one", "two\nlines"} {
		r.call("execute-command", object{"command": []string{"echo", arg}})
	}
	both := `["echo one","echo 'two\nlines'"]`
	r.checkExact(t,
		exactCall{"save-to-file", at("commands.txt", false), "Path must be absolute.", true},
		exactCall{"save-to-file", at(file, true), "History saved successfully. Saved 2 commands.", false},
		exactCall{"save-to-file", at(file, false), "File already exists! Pass overwrite=true to replace it.", true},
		exactCall{"clear-command-history", nil, "", false},
		exactCall{"load-from-file", from(file), "History loaded successfully! Loaded 2 commands.", false},
		exactCall{"get-command-history", nil, both, false},
		exactCall{"save-to-file", at(file, true), "History saved successfully (overwritten). Saved 2 commands.", false},
		exactCall{"load-from-file", from(file + ".none"), "File doesn't exist!", true},
		exactCall{"load-from-file", from("commands.txt"), "Error loading history: Path must be absolute.", true},
		exactCall{"get-command-history", nil, both, false},
	)
	if text, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(text), "echo one\n") {
		t.Errorf("a command is not a line: %q, %v", text, err)
	}
	for tool, args := range map[string]object{"load-from-file": from(r.home), "save-to-file": at(r.home, true)} {
		answer := r.call(tool, args)
		if text := resultText(answer); !answer.Failed || !strings.HasPrefix(text, "Error ") {
			t.Errorf("%s of a folder: %s", tool, text)
		}
	}
	plain := filepath.Join(r.home, "plain.txt")
	if err := os.WriteFile(plain, []byte("ls -l\n\n  \ngit status"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.checkExact(t,
		exactCall{"load-from-file", from(plain), "History loaded successfully! Loaded 2 commands.", false},
		exactCall{"get-command-history", nil, `["ls -l","git status"]`, false},
	)
	if err := os.WriteFile(plain, []byte("ls\n\xff\xfe\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.checkExact(t,
		exactCall{"load-from-file", from(plain), "Error loading history: load history from " + plain + ": it is not UTF-8", true},
		exactCall{"get-command-history", nil, `["ls -l","git status"]`, false},
	)
}
