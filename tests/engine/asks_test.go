package engine

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"tandem/engine/api"
	"tandem/tests/needs"
)

// runREPL is a program other than a shell. It echoes each line, asks for more after a colon, and
// reports interrupts.
func runREPL() int {
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, syscall.SIGINT)
	go func() {
		for range interrupted {
			fmt.Println("INTERRUPTED")
		}
	}()
	fmt.Print("repl 1> ")
	lines := bufio.NewScanner(os.Stdin)
	for n := 2; lines.Scan(); n++ {
		switch line := lines.Text(); {
		case line == "quit":
			return 5
		case strings.HasSuffix(line, ":"):
			fmt.Print("...> ")
		default:
			fmt.Printf("got %q\nrepl %d> ", line, n)
		}
	}
	return 0
}

// execUntilInput runs a command in a session, and checks that it then waits for input.
func (m *machine) execUntilInput(id, command, waits, question string) api.SessionExecOutput {
	m.Helper()
	out := call(m, api.SessionExec, api.SessionExecInput{ID: id, Command: command, TimeoutMS: 60_000})
	if out.Waits != waits || out.Question != question || out.TimedOut || out.ExitCode != nil || !out.Alive {
		m.Errorf("%q: %+v, want that it waits for %s with %q\nlog %q", command, out, waits, question, lastOf(m.logOf(m.get(id)), 600))
	}
	return out
}

// TestExecRunsCommandsInRealShells checks, on one machine, how real shells act on what session.exec
// types.
func TestExecRunsCommandsInRealShells(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	m := sharedMachine(t)
	for name, check := range map[string]func(t *testing.T, m *machine){
		"a command asks":     checkAskingCommand,
		"a builtin asks":     checkAskingBuiltin,
		"a password prompt":  checkPasswordPrompt,
		"another program":    checkOtherProgram,
		"history references": checkHistoryReferences,
		"tabs":               checkTabs,
		"terminal queries":   checkQueries,
	} {
		t.Run(name, func(t *testing.T) { check(t, m.in(t)) })
	}
}

func checkAskingCommand(t *testing.T, m *machine) {
	ask := `sh -c 'echo begin; printf "Sure? "; read x; echo "got $x"; exit 3'`
	for _, argv := range [][]string{{"bash", "--norc"}, {"sh"}, {"zsh", "-f"}, {"fish", "-N"}, {"ksh"}} {
		if _, err := exec.LookPath(argv[0]); err != nil {
			t.Logf("%s is not here", argv[0])
			continue
		}
		p := m.start(argv...)
		m.sh(p.ID, "true")
		if out := m.execUntilInput(p.ID, ask, "input", "Sure?"); out.Output != "begin\n" {
			t.Errorf("%s: %+v", argv[0], out)
		}
		wantRun(m, p.ID, "yes", "got yes\n", 3)
		wantRun(m, p.ID, "echo on", "on\n", 0)
	}
}

// A terminal's reply to a query belongs to the program that asked, and is not typed at the prompt once
// that has exited.
func checkQueries(t *testing.T, m *machine) {
	for _, argv := range [][]string{{"bash", "--norc"}, {"zsh", "-f"}, {"fish", "-N"}} {
		if _, err := exec.LookPath(argv[0]); err != nil {
			t.Logf("%s is not here", argv[0])
			continue
		}
		p := m.start(argv...)
		m.sh(p.ID, "true")
		for _, command := range []string{
			`printf '\033[6n'`, `printf '\033[c'`, `printf '\033]11;?\007'`, `printf '\033P$qm\033\\\\'`, `printf '\033[>q\033[?u'`, `sh -c "printf '\033[c'"`,
		} {
			m.sh(p.ID, command)
			wantRun(m, p.ID, "echo next", "next\n", 0)
		}
		// A program that reads the reply gets it, up to the letter n at its end.
		wantRun(m, p.ID, `sh -c 'stty -echo -icanon; printf "\033[5n"; dd bs=1 count=4 2>/dev/null | tail -c 3; stty echo icanon'`, "[0n", 0)
	}
	p := m.start("bash", "--norc")
	wantRun(m, p.ID, `IFS= read -rs -d n -p $'\033[5n' x; echo "${x#?}"`, "[0\n", 0)
}

func checkAskingBuiltin(t *testing.T, m *machine) {
	for _, argv := range [][]string{{"bash", "--norc"}, {"sh"}, {"sh", "-c", "exec sh"}} {
		p := m.start(argv...)
		m.sh(p.ID, "true")
		m.execUntilInput(p.ID, "printf 'Name? '; read x", "input", "Name?")
		m.write(p.ID, "anna\r")
		m.sessionWait(api.SessionWaitInput{ID: p.ID, Input: true, IdleMS: 1000})
		wantRun(m, p.ID, "echo $x", "anna\n", 0)
		m.execUntilInput(p.ID, "echo one\nprintf 'Name? '\nread y", "input", "Name?")
		m.write(p.ID, "berta\r")
		m.sessionWait(api.SessionWaitInput{ID: p.ID, Input: true, IdleMS: 1000})
		wantRun(m, p.ID, "echo $y", "berta\n", 0)
	}
}

func checkPasswordPrompt(t *testing.T, m *machine) {
	p := m.start("bash", "--norc")
	m.execUntilInput(p.ID, `read -s -p "Password: " x`, "secret", "Password:")
	_, err := api.SessionExec.Call(t.Context(), m.client, api.SessionExecInput{ID: p.ID, Command: "ls"})
	if !errors.Is(err, api.CodeConflict) || !strings.Contains(err.Error(), "waiting for a secret") {
		t.Errorf("%v", err)
	}
	m.write(p.ID, "xyzzy\r")
	m.sessionWait(api.SessionWaitInput{ID: p.ID, Prompt: true})
	wantRun(m, p.ID, "echo $x", "xyzzy\n", 0)
}

func checkOtherProgram(t *testing.T, m *machine) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	alone, inShell := m.start(self, "repl"), m.start("bash", "--norc")
	m.execUntilInput(inShell.ID, self+" repl", "input", "repl 1>")
	for _, p := range []api.Process{alone, inShell} {
		if out := m.execUntilInput(p.ID, "a !! $x 'b", "input", "repl 2>"); out.Output != "got \"a !! $x 'b\"\n" {
			t.Errorf("%+v", out)
		}
		m.execUntilInput(p.ID, "for x:", "input", "...>")
		if out := m.execUntilInput(p.ID, "one\ntwo", "input", "repl 5>"); !strings.Contains(out.Output, "got \"one\"\n") || !strings.Contains(out.Output, "got \"two\"\n") {
			t.Errorf("%+v", out)
		}
		log := m.logOf(p)
		if strings.Contains(log, "INTERRUPTED") || strings.Contains(log, "133;C;aid=") && p.ID == alone.ID || strings.Contains(log, "printf") {
			t.Errorf("%q", log)
		}
	}
	wantRun(m, inShell.ID, "quit", "", 5)
}

func checkHistoryReferences(t *testing.T, m *machine) {
	for _, argv := range [][]string{{"bash", "--norc"}, {"sh", "-c", "exec bash --norc"}, {"zsh", "-f"}} {
		if _, err := exec.LookPath(argv[0]); err != nil {
			t.Logf("%s is not here", argv[0])
			continue
		}
		p := m.start(argv...)
		m.sh(p.ID, "true")
		wantRun(m, p.ID, `echo "wow!!" !x it\'s '!true' $((1+1))`, "wow!! !x it's !true 2\n", 0)
		wantRun(m, p.ID, "cat <<'E'\n!!\n\ta\\tb\nE\nfalse", "!!\n\ta\\tb\n", 1)
	}
	p := m.start("bash", "--norc")
	m.sh(p.ID, "echo !true")
	m.sh(p.ID, "true")
	rows := m.history(api.HistorySearchInput{Process: p.ID, Limit: 100, Query: "echo"})
	if len(rows) != 1 || rows[0].Command.Command != "echo !true" {
		t.Errorf("%+v", rows)
	}
}

func checkTabs(t *testing.T, m *machine) {
	p := m.start("bash", "--norc")
	m.sh(p.ID, "bind 'set enable-bracketed-paste off'")
	m.sh(p.ID, "true")
	wantRun(m, p.ID, "if true; then\n\tprintf 'a\tb\\n'\nfi", "a\tb\n", 0)
}
