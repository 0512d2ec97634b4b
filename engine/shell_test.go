package engine

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
	"tandem/engine/history"
	"tandem/tests/needs"
)

// A shellCase is a shell to be tested, with its own home directory.
type shellCase struct {
	name string
	argv []string
	rc   map[string]string // files of the home directory
}

var shellCases = []shellCase{
	{"bash", []string{"bash"}, map[string]string{".bashrc": "RCREAD=yes\nPS1='mine\\$ '\n"}},
	{"bash-login", []string{"bash", "-l"}, map[string]string{".bash_profile": "RCREAD=yes\n", ".bashrc": "RCREAD=no\n"}},
	{"zsh", []string{"zsh"}, map[string]string{".zshrc": "RCREAD=yes\nPS1='mine%% '\n"}},
	{"zsh-login", []string{"zsh", "-l"}, map[string]string{".zprofile": "RCREAD=yes\n", ".zshrc": "PS1='mine%% '\n"}},
	{"fish", []string{"fish"}, map[string]string{
		".config/fish/config.fish": "set -g RCREAD yes\nfunction fish_prompt; echo -n 'mine> '; end\n",
		// Without these directories (of fish 3 and 4), fish reads all manual pages in the
		// background.
		".local/fish/generated_completions/none": "", ".cache/fish/generated_completions/none": "",
	}},
	{"sh", []string{"sh"}, map[string]string{".shrc": "RCREAD=yes\nPS1='mine$ '\n"}},
}

// start starts a case's shell; nil if it is not installed.
func (c shellCase) start(m *machine) *api.Process {
	m.Helper()
	if _, err := exec.LookPath(c.argv[0]); err != nil {
		m.Logf("%s is not here", c.argv[0])
		return nil
	}
	home := filepath.Join(m.dir, "home-"+c.name)
	for name, text := range c.rc {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			m.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			m.Fatal(err)
		}
	}
	p := call(m, api.SessionStart, api.SessionStartInput{
		Command: c.argv, CWD: home,
		Env: map[string]string{"HOME": home, "ENV": home + "/.shrc", "XDG_CONFIG_HOME": home + "/.config", "XDG_DATA_HOME": home + "/.local", "LC_ALL": "C.UTF-8"},
	})
	return &p
}

func (m *machine) sh(id, command string) api.SessionExecOutput {
	m.Helper()
	return call(m, api.SessionExec, api.SessionExecInput{ID: id, Command: command})
}

// wantRun runs a command and compares its output and status.
func wantRun(m *machine, id, command, output string, code int) api.SessionExecOutput {
	m.Helper()
	out := m.sh(id, command)
	if out.Output != output || out.ExitCode == nil || *out.ExitCode != code || out.TimedOut {
		exit := -1
		if out.ExitCode != nil {
			exit = *out.ExitCode
		}
		m.Errorf("%s: %+v with code %d, want %q and %d\nlog %q", command, out, exit, output, code, lastOf(m.logOf(m.get(id)), 900))
	}
	return out
}

func TestShellsMarkTheStartAndEndOfCommands(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	m := startMachine(t)
	for _, c := range shellCases {
		p := c.start(m)
		if p == nil {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			m := &machine{TB: t, dir: m.dir, client: m.client}
			out := wantRun(m, p.ID, "echo hello", "hello\n", 0)
			if out.Method != "marks" || out.CWD != p.CWD || !out.Alive || out.NextCursor <= out.Start {
				t.Errorf("%+v", out)
			}
			wantRun(m, p.ID, "echo $RCREAD", "yes\n", 0)
			wantRun(m, p.ID, "false", "", 1)
			wantRun(m, p.ID, "printf 'no end of line'", "no end of line", 0)
			wantRun(m, p.ID, "sh -c 'exit 7'", "", 7)
			wantRun(m, p.ID, "sh -c 'seq 1 3; exit 3'", "1\n2\n3\n", 3)
			if out := wantRun(m, p.ID, "cd /usr", "", 0); out.CWD != "/usr" {
				t.Errorf("%+v", out)
			}
			wantRun(m, p.ID, `printf '10%%\r20%%\r\033[31m100%%\033[0m\n'`, "100%\n", 0)
			wantRun(m, p.ID, "printf '%0200d\\n' 7", strings.Repeat("0", 199)+"7\n", 0)
			wantRun(m, p.ID, "echo $TANDEM_SHELL_NONCE", "\n", 0)
			if c.name != "fish" {
				wantRun(m, p.ID, "cat <<EOF\na\n b $((1+1))\nEOF", "a\n b 2\n", 0)
				wantRun(m, p.ID, "for i in 1 2\ndo\necho $i\ndone\nfalse", "1\n2\n", 1)
			} else {
				wantRun(m, p.ID, "for i in 1 2\necho $i\nend\nfalse", "1\n2\n", 1)
			}
			wantRun(m, p.ID, "echo one\necho two", "one\ntwo\n", 0)
			wantRun(m, p.ID, "echo "+strings.Repeat("long ", 40), strings.TrimSpace(strings.Repeat("long ", 40))+"\n", 0)
		})
	}
}

func lastOf(text string, n int) string { return text[max(0, len(text)-n):] }

func TestPythonMarksTheStartAndEndOfCommands(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Log("python3 is not here")
		return
	}
	m := startMachine(t)
	own := filepath.Join(m.dir, "own.py")
	if err := os.WriteFile(own, []byte("mine = 'read'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := call(m, api.SessionStart, api.SessionStartInput{Command: []string{"python3"}, Env: map[string]string{"PYTHONSTARTUP": own}})
	if out := wantRun(m, p.ID, "mine", "'read'\n", 0); out.Method != "marks" {
		t.Errorf("%+v", out)
	}
	wantRun(m, p.ID, "print('a\\nb')", "a\nb\n", 0)
	wantRun(m, p.ID, "for i in range(3):\n    print(i)\nprint('end')", "0\n1\n2\nend\n", 0)
	if out := m.sh(p.ID, "1/0"); out.ExitCode == nil || *out.ExitCode != 1 || !strings.Contains(out.Output, "ZeroDivisionError") {
		t.Errorf("%+v", out)
	}
	wantRun(m, p.ID, "import os; os.environ.get('PYTHONSTARTUP') == '"+own+"'", "True\n", 0)
}

func TestPythonPrintsTheValueOfSeveralLines(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Log("python3 is not here")
		return
	}
	m := startMachine(t)
	own := call(m, api.SessionStart, api.SessionStartInput{Command: []string{"python3"}})
	nested := m.start("bash", "--norc")
	m.sh(nested.ID, "python3")
	for _, c := range []struct{ command, output string }{
		{"x=1\nx+1", "2\n"},
		{"def f():\n    y = 40\n\n    return y + 2\n\nf()\n", "42\n"},
		{"if x:\n    print('é \"quoted\"')\n\nx = None\nx", "é \"quoted\"\n"},
		{"z = 'kept'\n", ""},
		{"z", "'kept'\n"},
	} {
		for name, id := range map[string]string{"its own": own.ID, "in a shell": nested.ID} {
			if out := m.sh(id, c.command); out.Output != c.output {
				t.Errorf("%s, %q: %+v, want %q", name, c.command, out, c.output)
			}
		}
	}
	for name, id := range map[string]string{"its own": own.ID, "in a shell": nested.ID} {
		if out := m.sh(id, "a = 1\nb = = 2"); !strings.Contains(out.Output, "SyntaxError") {
			t.Errorf("%s: %+v", name, out)
		}
	}
}

func TestShellWithoutMarksRunsCommandsWithAMarker(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	m := startMachine(t)
	for _, argv := range [][]string{{"sh", "-c", "exec sh"}, {"sh", "-c", "exec bash --norc"}} {
		p := m.start(argv...)
		for _, c := range []struct {
			command, output string
			code            int
		}{
			{"echo hello", "hello\n", 0},
			{"false", "", 1},
			{"cat <<EOF\na\nb\nEOF\nsh -c 'exit 4'", "a\nb\n", 4},
			{"printf x", "x", 0},
			{"echo # comment", "\n", 0},
		} {
			if out := wantRun(m, p.ID, c.command, c.output, c.code); out.Method != "marker" {
				t.Errorf("%v %q: %+v", argv, c.command, out)
			}
		}
	}
}

func TestIncompleteCommandIsClearedAndRejected(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	for _, c := range shellCases {
		incomplete := []string{"echo 'abc", "for i in 1 2; do", "cat <<EOF\na"}
		if c.name == "fish" {
			incomplete = []string{"echo 'abc", "for i in 1 2", "begin\necho a"}
		}
		for _, command := range incomplete {
			p := c.start(m)
			if p == nil {
				break
			}
			t.Run(c.name+" "+command, func(t *testing.T) {
				m := &machine{TB: t, dir: m.dir, client: m.client}
				m.sh(p.ID, "true")
				_, err := api.SessionExec.Call(context.Background(), m.client, api.SessionExecInput{ID: p.ID, Command: command, TimeoutMS: 60_000})
				if !errors.Is(err, api.CodeInvalid) || !strings.Contains(err.Error(), "incomplete") {
					t.Errorf("%v\n%q", err, lastOf(m.logOf(*p), 600))
				}
				wantRun(m, p.ID, "echo on", "on\n", 0)
			})
		}
	}
}

func TestExitEndsAnExec(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	p := m.start("bash", "--norc")
	out := m.sh(p.ID, "echo bye; exit 3")
	if out.Method != "exit" || out.ExitCode == nil || *out.ExitCode != 3 || out.Alive || !strings.HasPrefix(out.Output, "bye\n") {
		t.Errorf("%+v", out)
	}
}

func TestCommandExitingItsShellIsInTheHistory(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	told := func(id string) (rows []api.HistoryRow) {
		for _, r := range m.history(api.HistorySearchInput{Process: id, Limit: 100}) {
			if r.Kind == history.KindSession && r.Command.Command != "true" {
				rows = append(rows, r)
			}
		}
		return rows
	}
	for _, c := range shellCases {
		p := c.start(m)
		if p == nil {
			continue
		}
		m.sh(p.ID, "true")
		if out := m.sh(p.ID, "exit 4"); out.Alive || out.ExitCode == nil || *out.ExitCode != 4 {
			t.Errorf("%s: %+v", c.name, out)
		}
		m.eventually("the command in the history", func() bool { return len(told(p.ID)) > 0 })
		call(m, api.SessionRead, api.SessionReadInput{ID: p.ID})
		if rows := told(p.ID); len(rows) != 1 || rows[0].Command.Command != "exit 4" || rows[0].ExitCode == nil || *rows[0].ExitCode != 4 || rows[0].CWD != p.CWD {
			t.Errorf("%s: %+v", c.name, rows)
		}
	}
}

func TestShellExitingAtItsPromptRecordsNoCommand(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	m := startMachine(t)
	for _, c := range shellCases {
		p := c.start(m)
		if p == nil {
			continue
		}
		m.sh(p.ID, "true")
		m.write(p.ID, "\x04")
		m.awaitEnd(p.ID)
		m.sh(m.start("bash", "--norc").ID, "exit 0") // the marker for later commands comes later
		m.eventually("another command in the history", func() bool {
			rows := m.history(api.HistorySearchInput{Limit: 1})
			return len(rows) == 1 && rows[0].Command.Command == "exit 0"
		})
		for _, r := range m.history(api.HistorySearchInput{Process: p.ID}) {
			if r.Kind == history.KindSession && r.Command.Command != "true" {
				t.Errorf("%s: %+v", c.name, r.Command)
			}
		}
		call(m, api.HistoryClear, api.Empty{})
	}
}

func TestCommandKilledWithItsSessionHasNoStatus(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	p := m.start("bash", "--norc")
	m.sh(p.ID, "true")
	m.write(p.ID, "sleep 1000\r")
	m.eventually("the begin of the command", func() bool {
		_, err := api.SessionExec.Call(t.Context(), m.client, api.SessionExecInput{ID: p.ID, Command: "true"})
		return err != nil && strings.Contains(err.Error(), "sleep 1000")
	})
	call(m, api.ProcessStop, api.ProcessStopInput{ID: p.ID, Signal: "SIGKILL"})
	m.eventually("the command in the history", func() bool {
		rows := m.history(api.HistorySearchInput{Process: p.ID, Query: "sleep"})
		return len(rows) == 1 && rows[0].ExitCode == nil && rows[0].Stopped
	})
}

// A shell ignoring the signal sees its command killed by it.
func TestCommandExitingDuringTheStopIsRecordedAsStopped(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	m := startMachine(t)
	p := m.start("bash", "--norc")
	m.sh(p.ID, "true")
	m.write(p.ID, "echo be''gun; sleep 1000\r")
	m.awaitScreen(p.ID, "begun")
	m.eventually("the begin of the command", func() bool {
		_, err := api.SessionExec.Call(t.Context(), m.client, api.SessionExecInput{ID: p.ID, Command: "true"})
		return err != nil && strings.Contains(err.Error(), "sleep 1000")
	})
	call(m, api.ProcessStop, api.ProcessStopInput{ID: p.ID, Signal: "SIGTERM", TimeoutMS: 1000})
	m.eventually("the command in the history", func() bool { return len(m.history(api.HistorySearchInput{Process: p.ID, Query: "sleep"})) == 1 })
	if r := m.history(api.HistorySearchInput{Process: p.ID, Query: "sleep"})[0]; !r.Stopped {
		t.Errorf("%+v", r.Command)
	}
}

func TestCommandOutlivesTheTimeoutOfItsExec(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	m := startMachine(t)
	pipe := filepath.Join(t.TempDir(), "pipe") // rather than the terminal: exec returns early for a command waiting for terminal input
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	var p api.Process
	var out api.SessionExecOutput
	for timeout := 1000; out.Output == "" && timeout < int(testTimeout.Milliseconds()); timeout *= 2 { // until it was long enough to begin
		p = m.start("bash", "--norc")
		out = call(m, api.SessionExec, api.SessionExecInput{ID: p.ID, Command: "echo first; read x < " + pipe + "; echo got $x", TimeoutMS: timeout})
	}
	if !out.TimedOut || !out.Alive || out.ExitCode != nil || out.Output != "first\n" {
		t.Errorf("%+v", out)
	}
	_, err := api.SessionExec.Call(context.Background(), m.client, api.SessionExecInput{ID: p.ID, Command: "echo no"})
	if !errors.Is(err, api.CodeConflict) {
		t.Errorf("%v", err)
	}
	if err := os.WriteFile(pipe, []byte("word\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if w := call(m, api.SessionWait, api.SessionWaitInput{ID: p.ID, Prompt: true}); w.Met != "prompt" {
		t.Errorf("%+v", w)
	}
	read := call(m, api.SessionRead, api.SessionReadInput{ID: p.ID, Since: out.NextCursor})
	if !strings.HasPrefix(read.Data, "got word\r\n") {
		t.Errorf("%q", read.Data)
	}
}

func TestReadingDuringExecLosesAndRepeatsNothing(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	p := m.start("bash", "--norc")
	first := m.sh(p.ID, "echo one")
	second := m.sh(p.ID, "echo two")
	all := m.logOf(p)
	if got := all[:first.NextCursor]; !strings.Contains(got, "one") || strings.Contains(got, "two") || !strings.HasSuffix(got, "\a") {
		t.Errorf("%q", got)
	}
	if second.Start != first.NextCursor {
		t.Errorf("%+v follows %+v: %q", second, first, all[first.NextCursor:second.Start])
	}
}

func TestUsersPromptHooksKeepWorking(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	c := shellCase{"bash", []string{"bash"}, map[string]string{".bashrc": `
set -u
HISTCONTROL=ignoreboth
status() { code=$?; seen=$code; PS1="[$code]\n\$ "; }
after() { count=$((${count-0}+1)); }
PROMPT_COMMAND=(status after)
PS0='<ps0>'
trap 'debugged=$BASH_COMMAND' DEBUG
`}}
	p := c.start(m)
	wantRun(m, p.ID, "true", "", 0)
	wantRun(m, p.ID, "false", "", 1)
	wantRun(m, p.ID, "echo $seen", "1\n", 0)
	wantRun(m, p.ID, "[ $count -gt 2 ]", "", 0)
	wantRun(m, p.ID, "echo $debugged", "echo $debugged\n", 0)
	wantRun(m, p.ID, "PS1=x; PS0=; echo new", "new\n", 0)
	wantRun(m, p.ID, " echo secret", "secret\n", 0)
	if out := m.sh(p.ID, "history"); strings.Contains(out.Output, "secret") || strings.Contains(out.Output, "tandem") || !strings.Contains(out.Output, "echo new") {
		t.Errorf("%s", out.Output)
	}
	if screen := m.screen(p.ID); !strings.Contains(screen, "[0]\n$") {
		t.Errorf("%s", screen)
	}
}

func TestCommandLinesAreRecordedExactly(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	m := startMachine(t)
	for _, c := range shellCases {
		p := c.start(m)
		if p == nil {
			continue
		}
		m.sh(p.ID, "true")
		lines := []string{"echo 'a;b\\c' ü漢", "echo \"tab\there\"; false", "echo twice", "echo twice", "cd /"}
		if c.name != "sh" { // sh reports only the first line
			lines = append(lines, "if true\nthen echo in\nfi")
		}
		if c.name == "fish" {
			lines[1] = "echo 'no tab'; false" // its line editor drops tabs
			lines[len(lines)-1] = "if true\necho in\nend"
		}
		for _, line := range lines {
			if strings.ContainsAny(line, "\n\t") { // a typed tab would complete
				m.sh(p.ID, line)
				continue
			}
			m.write(p.ID, line+"\r")
			m.sessionWait(api.SessionWaitInput{ID: p.ID, Prompt: true})
		}
		m.sh(p.ID, "true")
		rows := m.history(api.HistorySearchInput{Process: p.ID, Limit: 100})
		var got []string
		for _, r := range slices.Backward(rows) {
			if r.Kind == history.KindSession && r.Command.Command != "true" {
				got = append(got, strings.TrimSuffix(r.Command.Command, "\n"))
			}
			if r.Command.Command == "cd /" && (r.CWD != p.CWD || r.ExitCode == nil || *r.ExitCode != 0) {
				t.Errorf("%s: %+v", c.name, r.Command)
			}
		}
		if strings.HasPrefix(c.name, "bash") { // bash then keeps them itself
			lines[len(lines)-1] = "if true; then echo in; fi"
		}
		if !slices.Equal(got, lines) {
			t.Errorf("%s: %q, want %q\n%q", c.name, got, lines, lastOf(m.logOf(*p), 3000))
		}
	}
}

func TestExecKeepsInputTypedBeforeAnEngineReplacement(t *testing.T) {
	m := startMachine(t)
	for _, c := range shellCases {
		p := c.start(m)
		if p == nil || c.name == "sh" { // its terminal keeps the line
			continue
		}
		m.sh(p.ID, "true")
		m.restart()
		wantRun(m, p.ID, "echo free", "free\n", 0)
		m.write(p.ID, "half a li")
		m.awaitScreen(p.ID, "half a li")
		m.restart()
		_, err := api.SessionExec.Call(context.Background(), m.client, api.SessionExecInput{ID: p.ID, Command: "echo x"})
		if !errors.Is(err, api.CodeConflict) || !strings.Contains(err.Error(), "already typed") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestExecKeepsTheUsersPartialInput(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	m := startMachine(t)
	for _, c := range shellCases {
		p := c.start(m)
		if p == nil || c.name == "sh" { // its terminal keeps the line
			continue
		}
		m.sh(p.ID, "true")
		m.write(p.ID, "half a li")
		m.awaitScreen(p.ID, "half a li")
		_, err := api.SessionExec.Call(context.Background(), m.client, api.SessionExecInput{ID: p.ID, Command: "echo x"})
		if !errors.Is(err, api.CodeConflict) || !strings.Contains(err.Error(), "already typed") {
			t.Errorf("%s: %v", c.name, err)
		}
		// fish may lose input arriving while it draws the line.
		for errors.Is(err, api.CodeConflict) {
			call(m, api.SessionWrite, api.SessionWriteInput{ID: p.ID, Keys: []string{"ctrl+c"}})
			m.eventually("the next prompt", func() bool { return m.get(p.ID).Terminal.Waiting == "prompt" })
			_, err = api.SessionExec.Call(context.Background(), m.client, api.SessionExecInput{ID: p.ID, Command: "true"})
		}
		wantRun(m, p.ID, "echo x", "x\n", 0)
		call(m, api.SessionResize, api.SessionResizeInput{ID: p.ID, Cols: 50, Rows: 10})
		wantRun(m, p.ID, "echo resized", "resized\n", 0)
	}
}

func TestUsersZshPromptsKeepWorking(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	c := shellCase{"zsh", []string{"zsh"}, map[string]string{".zshenv": "ENVREAD=yes\n", ".zshrc": `
setopt prompt_subst nounset ksh_arrays
PROMPT_EOL_MARK=''
count=0
precmd() { seen=$?; PROMPT=$'[%?]\n%% ' }
hook() { count=$((count + 1)) }
preexec_functions=(hook)
RPROMPT=right
`}}
	p := c.start(m)
	if p == nil {
		return
	}
	wantRun(m, p.ID, "false", "", 1)
	wantRun(m, p.ID, "echo $seen $ENVREAD", "1 yes\n", 0)
	wantRun(m, p.ID, "[ $count -gt 1 ]", "", 0)
	wantRun(m, p.ID, "printf x", "x", 0)
	wantRun(m, p.ID, "printf '%s\\n' \"${ZDOTDIR-none}\"", "none\n", 0)
	if screen := m.screen(p.ID); !strings.Contains(screen, "[0]\n%") {
		t.Errorf("%s", screen)
	}
}

func TestNestedShellRunsCommandsWithAMarker(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	p := m.start("bash", "--norc")
	m.sh(p.ID, "true")
	m.write(p.ID, "sh\r")
	m.sessionWait(api.SessionWaitInput{ID: p.ID, Input: true})
	if out := wantRun(m, p.ID, "echo inner; false", "inner\n", 1); out.Method != "marker" {
		t.Errorf("%+v", out)
	}
	m.write(p.ID, "exit\r")
	m.sessionWait(api.SessionWaitInput{ID: p.ID, Prompt: true})
	if out := wantRun(m, p.ID, "echo outer", "outer\n", 0); out.Method != "marks" {
		t.Errorf("%+v", out)
	}
}

// An interrupted command was stopped by the user, whatever its exit status.
func TestInterruptedCommandDoesNotCountAsFailed(t *testing.T) {
	t.Parallel()
	m := startMachine(t)
	last := func(id string) api.Command {
		var rows []api.HistoryRow
		m.eventually("the end", func() bool {
			rows = m.history(api.HistorySearchInput{Process: id, Limit: 1})
			return len(rows) > 0 && rows[0].DurationMS >= 0 && rows[0].Command.Command != "true"
		})
		return rows[0].Command
	}
	want := func(c api.Command, code int, stopped bool) {
		t.Helper()
		if c.ExitCode == nil || *c.ExitCode != code || c.Stopped != stopped {
			t.Errorf("%+v, want code %d, stopped %v", c, code, stopped)
		}
	}
	// A process forked by this sh after the interrupt has not received it, and is waited for.
	const waits = `; echo be"g"un; while :; do sleep 0.02; done`
	interrupt := func(id string) {
		m.awaitScreen(id, "begun")
		call(m, api.SessionWrite, api.SessionWriteInput{ID: id, Keys: []string{"ctrl+c"}})
	}
	run := func(command string) api.Command {
		p := m.start("bash", "--norc")
		m.sh(p.ID, "true")
		m.write(p.ID, command+"\n")
		interrupt(p.ID)
		return last(p.ID)
	}
	want(run(`sh -c 'echo be"g"un; exec sleep 1000'`), 130, true)
	want(run(`sh -c 'trap "exit 2" INT`+waits+`'`), 2, true)
	want(run(`sh -c 'trap "exit 0" INT`+waits+`'`), 0, false)
	want(run(`sh -c 'stty raw; echo be"g"un; head -c 1; exit 3'`), 3, false)

	p := m.start("sh", "-c", `trap "exit 2" INT`+waits)
	interrupt(p.ID)
	want(last(p.ID), 2, true)
	p = m.start("sleep", "1000")
	call(m, api.ProcessSignal, api.ProcessSignalInput{ID: p.ID, Signal: "INT"})
	if c := last(p.ID); c.ExitSignal != "SIGINT" || !c.Stopped {
		t.Errorf("%+v", c)
	}
	for _, row := range m.history(api.HistorySearchInput{Failed: true}) {
		if row.ExitCode == nil || *row.ExitCode != 3 {
			t.Errorf("failed: %+v", row)
		}
	}
}
