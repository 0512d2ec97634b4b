package prompt

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"tandem/engine/api"
)

// A shellCase is a shell with its own home directory.
type shellCase struct {
	name  string
	argv  []string
	files map[string]string // in the home directory
}

var shellCases = []shellCase{
	{"bash", []string{"bash"}, map[string]string{".bashrc": "RCREAD=yes\nPS1='mine\\$ '\n"}},
	{"bash-login", []string{"bash", "-l"}, map[string]string{".bash_profile": "RCREAD=yes\n", ".bashrc": "RCREAD=no\n"}},
	{"zsh", []string{"zsh"}, map[string]string{".zshrc": "RCREAD=yes\nPS1='mine%% '\n"}},
	{"zsh-login", []string{"zsh", "-l"}, map[string]string{".zprofile": "RCREAD=yes\n", ".zshrc": "PS1='mine%% '\n"}},
	{"fish", []string{"fish"}, map[string]string{".config/fish/config.fish": "set -g RCREAD yes\nfunction fish_prompt; echo -n 'mine> '; end\n"}},
	{"sh", []string{"sh"}, map[string]string{".shrc": "RCREAD=yes\nPS1='mine$ '\n"}},
}

// caseOf returns a shell of shellCases.
func caseOf(name string) shellCase {
	return shellCases[slices.IndexFunc(shellCases, func(c shellCase) bool { return c.name == name })]
}

// program returns a case without files.
func program(argv ...string) shellCase { return shellCase{argv: argv} }

// wantError fails unless err has a code and a text.
func wantError(t *testing.T, err error, code api.Code, text string) {
	t.Helper()
	if !errors.Is(err, code) || !strings.Contains(err.Error(), text) {
		t.Errorf("%v, want %s with %q", err, code, text)
	}
}

func TestShellsMarkTheStartAndEndOfCommands(t *testing.T) {
	for _, c := range shellCases {
		t.Run(c.name, func(t *testing.T) {
			replayShell(t, c, func(s *session) {
				out := s.wantRun("echo hello", "hello\n", 0)
				if out.Method != "marks" || out.CWD != s.home || !out.Alive || out.NextCursor <= out.Start {
					s.t.Errorf("%+v", out)
				}
				s.wantRun("echo $RCREAD", "yes\n", 0)
				s.wantRun("false", "", 1)
				s.wantRun("printf 'no end of line'", "no end of line", 0)
				s.wantRun("sh -c 'exit 7'", "", 7)
				s.wantRun("sh -c 'seq 1 3; exit 3'", "1\n2\n3\n", 3)
				if out := s.wantRun("cd /usr", "", 0); out.CWD != "/usr" {
					s.t.Errorf("%+v", out)
				}
				s.wantRun(`printf '10%%\r20%%\r\033[31m100%%\033[0m\n'`, "100%\n", 0)
				s.wantRun("printf '%0200d\\n' 7", strings.Repeat("0", 199)+"7\n", 0)
				s.wantRun("echo $TANDEM_SHELL_NONCE", "\n", 0)
				if c.name != "fish" {
					s.wantRun("cat <<EOF\na\n b $((1+1))\nEOF", "a\n b 2\n", 0)
					s.wantRun("for i in 1 2\ndo\necho $i\ndone\nfalse", "1\n2\n", 1)
				} else {
					s.wantRun("for i in 1 2\necho $i\nend\nfalse", "1\n2\n", 1)
				}
				s.wantRun("echo one\necho two", "one\ntwo\n", 0)
				s.wantRun("echo "+strings.Repeat("long ", 40), strings.TrimSpace(strings.Repeat("long ", 40))+"\n", 0)
			})
		})
	}
}

func TestPythonMarksTheStartAndEndOfCommands(t *testing.T) {
	c := shellCase{argv: []string{"python3"}, files: map[string]string{"own.py": "mine = 'read'\n"}}
	replayShell(t, c, func(s *session) {
		if out := s.wantRun("mine", "'read'\n", 0); out.Method != "marks" {
			s.t.Errorf("%+v", out)
		}
		s.wantRun("print('a\\nb')", "a\nb\n", 0)
		s.wantRun("for i in range(3):\n    print(i)\nprint('end')", "0\n1\n2\nend\n", 0)
		if out := s.sh("1/0"); out.ExitCode == nil || *out.ExitCode != 1 || !strings.Contains(out.Output, "ZeroDivisionError") {
			s.t.Errorf("%+v", out)
		}
		s.wantRun("import os; os.environ.get('PYTHONSTARTUP') == '"+s.home+"/own.py'", "True\n", 0)
	})
}

func TestPythonPrintsTheValueOfSeveralLines(t *testing.T) {
	for name, c := range map[string]shellCase{"its own": program("python3"), "in a shell": program("bash", "--norc")} {
		t.Run(name, func(t *testing.T) {
			replayShell(t, c, func(s *session) {
				if c.argv[0] == "bash" {
					s.sh("python3")
				}
				var lines []string
				for _, c := range []struct{ command, output string }{
					{"x=1\nx+1", "2\n"},
					{"def f():\n    y = 40\n\n    return y + 2\n\nf()\n", "42\n"},
					{"if x:\n    print('é \"quoted\"')\n\nx = None\nx", "é \"quoted\"\n"},
					{"z = 'kept'\n", ""},
					{"z", "'kept'\n"},
				} {
					if out := s.sh(c.command); out.Output != c.output {
						s.t.Errorf("%q: %+v, want %q", c.command, out, c.output)
					}
					lines = append(lines, strings.TrimSpace(c.command))
				}
				if c.argv[0] == "python3" {
					for i, command := range s.commands(len(lines))[:len(lines)] {
						if got := strings.TrimSpace(command.Line); got != lines[i] {
							s.t.Errorf("the command is reported as %q, want %q", got, lines[i])
						}
					}
				}
				if out := s.sh("a = 1\nb = = 2"); !strings.Contains(out.Output, "SyntaxError") {
					s.t.Errorf("%+v", out)
				}
			})
		})
	}
}

func TestCommandEndsInShellsWithoutMarksAreDetectedByMarker(t *testing.T) {
	for name, c := range map[string]shellCase{"sh": program("sh", "-c", "exec sh"), "bash": program("sh", "-c", "exec bash --norc")} {
		t.Run(name, func(t *testing.T) {
			replayShell(t, c, func(s *session) {
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
					if out := s.wantRun(c.command, c.output, c.code); out.Method != "marker" {
						s.t.Errorf("%q: %+v", c.command, out)
					}
				}
			})
		})
	}
}

func TestIncompleteCommandIsClearedAndRejected(t *testing.T) {
	for _, c := range shellCases {
		incomplete := map[string]string{"quote": "echo 'abc", "loop": "for i in 1 2; do", "document": "cat <<EOF\na"}
		if c.name == "fish" {
			incomplete = map[string]string{"quote": "echo 'abc", "loop": "for i in 1 2", "block": "begin\necho a"}
		}
		for name, command := range incomplete {
			t.Run(c.name+" "+name, func(t *testing.T) {
				replayShell(t, c, func(s *session) {
					s.sh("true")
					_, err := s.exec(api.SessionExecInput{Command: command, TimeoutMS: 60_000})
					wantError(s.t, err, api.CodeInvalid, "incomplete")
					s.wantRun("echo on", "on\n", 0)
				})
			})
		}
	}
}

func TestExecReturnsWhenTheShellExits(t *testing.T) {
	replayShell(t, program("bash", "--norc"), func(s *session) {
		out := s.sh("echo bye; exit 3")
		if out.Method != "exit" || out.ExitCode == nil || *out.ExitCode != 3 || out.Alive || !strings.HasPrefix(out.Output, "bye\n") {
			s.t.Errorf("%+v", out)
		}
	})
}

func TestCommandExitingItsShellIsReported(t *testing.T) {
	for _, c := range shellCases {
		t.Run(c.name, func(t *testing.T) {
			replayShell(t, c, func(s *session) {
				s.sh("true")
				if out := s.sh("exit 4"); out.Alive || out.ExitCode == nil || *out.ExitCode != 4 {
					s.t.Errorf("%+v", out)
				}
				s.awaitExit()
				if all := s.commands(1); len(all) != 1 || all[0].Line != "exit 4" || all[0].ExitCode == nil || *all[0].ExitCode != 4 || all[0].CWD != s.home {
					s.t.Errorf("%+v", all)
				}
			})
		})
	}
}

func TestShellExitingAtItsPromptRunsNoCommand(t *testing.T) {
	for _, c := range shellCases {
		t.Run(c.name, func(t *testing.T) {
			replayShell(t, c, func(s *session) {
				s.sh("true")
				s.write("\x04")
				s.awaitExit()
				if all := s.commands(0); len(all) > 0 {
					s.t.Errorf("%+v", all)
				}
			})
		})
	}
}

func TestCommandKilledWithItsSessionHasNoStatus(t *testing.T) {
	replayShell(t, program("bash", "--norc"), func(s *session) {
		s.sh("true")
		s.write("sleep 1000\r")
		_, err := s.exec(api.SessionExecInput{Command: "true"})
		wantError(s.t, err, api.CodeConflict, "sleep 1000")
		s.stopped = true
		s.do("kill the shell", func() { s.live.kill() })
		s.awaitExit()
		if all := s.commands(1); len(all) != 1 || all[0].Line != "sleep 1000" || all[0].ExitCode != nil || !all[0].Stopped {
			s.t.Errorf("%+v", all)
		}
	})
}

func TestCommandOutlivesTheTimeoutOfItsExec(t *testing.T) {
	replayShell(t, program("bash", "--norc"), func(s *session) {
		s.sh("true")
		pipe := filepath.Join(s.home, "pipe") // rather than the terminal: exec returns early for a command waiting for terminal input
		if s.live != nil {
			if err := unix.Mkfifo(pipe, 0o600); err != nil {
				s.t.Fatal(err)
			}
		}
		out, err := s.exec(api.SessionExecInput{Command: "echo first; read x < " + pipe + "; echo got $x", TimeoutMS: 2000})
		if err != nil || !out.TimedOut || !out.Alive || out.ExitCode != nil || out.Output != "first\n" {
			s.t.Errorf("%+v, %v", out, err)
		}
		_, err = s.exec(api.SessionExecInput{Command: "echo no"})
		wantError(s.t, err, api.CodeConflict, "")
		s.do("write a word into the pipe", func() {
			if err := os.WriteFile(pipe, []byte("word\n"), 0o600); err != nil {
				s.t.Error(err)
			}
		})
		s.awaitPrompt()
		if text := s.logText()[out.NextCursor:]; !strings.HasPrefix(text, "got word\r\n") {
			s.t.Errorf("%q", text)
		}
	})
}

func TestExecOutputsAreContiguousInTheLog(t *testing.T) {
	replayShell(t, program("bash", "--norc"), func(s *session) {
		first := s.sh("echo one")
		second := s.sh("echo two")
		all := s.logText()
		if got := all[:first.NextCursor]; !strings.Contains(got, "one") || strings.Contains(got, "two") || !strings.HasSuffix(got, "\a") {
			s.t.Errorf("%q", got)
		}
		if second.Start != first.NextCursor {
			s.t.Errorf("%+v follows %+v: %q", second, first, all[first.NextCursor:second.Start])
		}
	})
}

func TestCommandLinesAreReportedExactly(t *testing.T) {
	for _, c := range shellCases {
		t.Run(c.name, func(t *testing.T) {
			replayShell(t, c, func(s *session) {
				s.sh("true")
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
						s.sh(line)
						continue
					}
					s.write(line + "\r")
					s.awaitPrompt()
				}
				s.sh("true")
				var got []string
				for _, c := range s.commands(len(lines)) {
					got = append(got, strings.TrimSuffix(c.Line, "\n"))
					if c.Line == "cd /" && (c.CWD != s.home || c.ExitCode == nil || *c.ExitCode != 0) {
						s.t.Errorf("%+v", c)
					}
				}
				if !slices.Equal(got, lines) {
					s.t.Errorf("%q, want %q\n%q", got, lines, s.logEnd())
				}
			})
		})
	}
}

func TestExecKeepsInputTypedBeforeAnEngineReplacement(t *testing.T) {
	for _, c := range shellCases[:len(shellCases)-1] { // not sh: its terminal keeps the line
		t.Run(c.name, func(t *testing.T) {
			replayShell(t, c, func(s *session) {
				s.sh("true")
				s.replaceEngine()
				s.wantRun("echo free", "free\n", 0)
				s.write("half a li")
				s.awaitScreen("half a li")
				s.replaceEngine()
				_, err := s.exec(api.SessionExecInput{Command: "echo x"})
				wantError(s.t, err, api.CodeConflict, "already typed")
			})
		})
	}
}

func TestExecKeepsTheUsersPartialInput(t *testing.T) {
	for _, c := range shellCases[:len(shellCases)-1] { // not sh: its terminal keeps the line
		t.Run(c.name, func(t *testing.T) {
			replayShell(t, c, func(s *session) {
				s.sh("true")
				s.write("half a li")
				s.awaitScreen("half a li")
				_, err := s.exec(api.SessionExecInput{Command: "echo x"})
				wantError(s.t, err, api.CodeConflict, "already typed")
				s.write("\x03")
				s.awaitPrompt()
				s.sh("true")
				s.wantRun("echo x", "x\n", 0)
				s.resize(50, 10)
				s.wantRun("echo resized", "resized\n", 0)
			})
		})
	}
}

func TestFishErrorAboutARefusedLineIsItsOutput(t *testing.T) {
	replayShell(t, program("fish"), func(s *session) {
		s.sh("true")
		for _, c := range [][2]string{
			{"echo $?", "fish: $? is not the exit status. In fish, please use $status.\necho $?\n      ^\n"},
			{"(exit 7)", "fish: command substitutions not allowed here\n"},
			{"cat <<EOF", "fish: Expected a string, but found a redirection\ncat <<EOF\n     ^\n"},
		} {
			s.wantRun(c[0], c[1], 127)
			s.wantRun("echo next", "next\n", 0)
		}
		s.wantRun("echo fish: no mistake", "fish: no mistake\n", 0)
		_, err := s.exec(api.SessionExecInput{Command: "if true"})
		wantError(s.t, err, api.CodeInvalid, "is incomplete")
	})
}

func TestNestedShellRunsCommandsWithAMarker(t *testing.T) {
	replayShell(t, program("bash", "--norc"), func(s *session) {
		s.sh("true")
		s.write("sh\r")
		s.wait(api.SessionWaitInput{Input: true})
		out := s.wantRun("echo inner; false", "inner\n", 1)
		if text := s.logText()[out.OutputStart:out.NextCursor]; out.Method != "marker" || !strings.HasPrefix(text, "inner\r\n") || strings.Contains(text, "printf") {
			s.t.Errorf("%+v, printed %q", out, text)
		}
		s.write("exit\r")
		s.awaitPrompt()
		if out := s.wantRun("echo outer", "outer\n", 0); out.Method != "marks" {
			s.t.Errorf("%+v", out)
		}
	})
}

func TestMarkerLeavesTheShellStateUnchanged(t *testing.T) {
	for name, c := range map[string]struct {
		shellCase
		strict     []string // lines that make the shell exit, tell or trace more
		line, want string   // run by the user and by exec, after a command; its output
	}{
		"sh":   {program("sh", "-c", "exec sh"), []string{"readonly s=1", "set -eu"}, `echo "$?"`, "7\n"},
		"bash": {program("sh", "-c", "exec bash --norc"), []string{"readonly s=1", "trap 'echo failed' ERR", "set -eu"}, `echo "$? $_"`, "7 b\n"},
		"zsh":  {program("sh", "-c", "exec zsh -f"), []string{"readonly s=1", "trap 'echo failed' ERR", "set -eu"}, `echo "$?"`, "7\n"},
		"fish": {program("sh", "-c", "exec fish --no-config"), nil, `echo $status`, "7\n"},
	} {
		t.Run(name, func(t *testing.T) {
			replayShell(t, c.shellCase, func(s *session) {
				s.wait(api.SessionWaitInput{Input: true})
				const failed = `sh -c "exit 7" a b`
				s.wantRun(failed, "", 7)
				s.write(c.line + "\r")
				s.awaitScreen(strings.TrimSuffix(c.want, "\n"))
				s.wait(api.SessionWaitInput{Input: true})
				s.wantRun(failed, "", 7)
				s.wantRun(c.line, c.want, 0)

				for _, line := range c.strict {
					s.wantRun(line, "", 0)
				}
				if c.strict != nil {
					s.wantRun("[ -f /nonexistent ] && echo there", "", 1)
					s.wantRun("echo alive", "alive\n", 0)
				}
			})
		})
	}
}

// An interrupted command was stopped by the user, whatever its exit status.
func TestInterruptedCommandCountsAsStopped(t *testing.T) {
	// A process that this sh forks after the interrupt has not received it, and sh waits for it.
	const waits = `; echo be"g"un; while :; do sleep 0.02; done`
	for name, c := range map[string]struct {
		command string
		code    int
		stopped bool
	}{
		"killed":       {`sh -c 'echo be"g"un; exec sleep 1000'`, 130, true},
		"exits with 2": {`sh -c 'trap "exit 2" INT` + waits + `'`, 2, true},
		"exits with 0": {`sh -c 'trap "exit 0" INT` + waits + `'`, 0, false},
		"reads ctrl+c": {`sh -c 'stty raw; echo be"g"un; head -c 1; exit 3'`, 3, false},
	} {
		t.Run(name, func(t *testing.T) {
			replayShell(t, program("bash", "--norc"), func(s *session) {
				s.sh("true")
				s.write(c.command + "\n")
				s.awaitScreen("begun")
				s.write("\x03")
				if all := s.commands(1); all[0].ExitCode == nil || *all[0].ExitCode != c.code || all[0].Stopped != c.stopped {
					s.t.Errorf("%+v, want code %d, stopped %v", all, c.code, c.stopped)
				}
			})
		})
	}
}
