package prompt

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"tandem/engine/api"
)

// A lossCase is a shell and a command line that removes its prompt hooks.
type lossCase struct {
	name, shell, line string
}

// lossCases are the ways in which a shell can end up at a prompt without some or all of its marks.
var lossCases = []lossCase{
	{"sourced file assigns hooks and prompt", "bash", "source ./dotfile"},
	{"unknown prompt", "bash", "PROMPT_COMMAND=(:); PS1='mine> '"},
	{"prompt of a theme", "bash", "PROMPT_COMMAND=(:); PS0=; PS1='➜ ~ '"},
	{"hooks", "bash", "unset PROMPT_COMMAND PS0"},
	{"hooks and prompt", "bash", "unset PROMPT_COMMAND PS0; PS1='$ '"},
	{"hook after the marks", "bash", "late() { PS1='late$ '; }; PROMPT_COMMAND+=(late)"},
	{"exec bash", "bash", "exec bash"},
	{"exec login shell", "bash", "exec bash -l"},
	{"exec with a dash", "bash", "exec -l bash"},
	{"exec zsh", "bash", "exec zsh"},
	{"exec fish", "bash", "exec fish"},
	{"exec dash", "bash", "exec dash"},
	{"exec without environment", "bash", "exec env -i TERM=xterm bash --norc"},
	{"hooks", "zsh", "precmd_functions=(); preexec_functions=()"},
	{"hooks and prompt", "zsh", "precmd_functions=(); preexec_functions=(); PS1='%% '"},
	{"hooks before commands", "zsh", "preexec_functions=()"},
	{"hooks before prompts", "zsh", "precmd_functions=()"},
	{"exec zsh", "zsh", "exec zsh"},
	{"exec bash", "zsh", "exec bash"},
	{"hooks", "fish", "functions -e __tandem_preexec __tandem_postexec __tandem_begin"},
	{"exec fish", "fish", "exec fish"},
	{"prompt", "sh", "PS1='$ '"},
	{"exec bash", "sh", "exec bash"},
}

// shellCase returns the case's shell.
func (c lossCase) shellCase() shellCase {
	shell := caseOf(c.shell)
	shell.files = maps.Clone(shell.files)
	shell.files["dotfile"] = "PROMPT_COMMAND=('history -a')\nPS1='\\w\\$ '\n"
	return shell
}

// replay runs a test with the case's shell at its prompt.
func (c lossCase) replay(t *testing.T, test func(s *session)) {
	t.Run(c.shell+" "+c.name, func(t *testing.T) {
		replayShell(t, c.shellCase(), func(s *session) {
			s.sh("true; rm -f out")
			test(s)
		})
	})
}

// linesOf returns the lines of commands.
func linesOf(all []Command) (lines []string) {
	for _, c := range all {
		lines = append(lines, c.Line)
	}
	return lines
}

// wantStatus fails if a result's exit status is known and differs from code.
func (s *session) wantStatus(command string, out api.SessionExecOutput, code int) {
	s.t.Helper()
	if out.TimedOut || out.Waits != "" || out.ExitCode != nil && *out.ExitCode != code {
		s.t.Errorf("%s: %+v, want exit status %d or unknown\nlog %q", command, out, code, s.logEnd())
	}
}

func TestExecRunsCommandsAfterAShellLosesItsMarks(t *testing.T) {
	for _, c := range lossCases {
		c.replay(t, func(s *session) {
			out := s.sh(c.line)
			if s.wantStatus(c.line, out, 0); c.name == "hook after the marks" && out.ExitCode == nil {
				s.t.Errorf("the marked status is lost: %+v", out)
			}
			s.awaitPrompt()
			want := []string{c.line, "false", "echo ran >> out", "cat out", "cd /", "false"}
			for _, line := range want[1:] {
				out := s.sh(line)
				s.wantStatus(line, out, map[string]int{"false": 1}[line])
				if text := map[string]string{"cat out": "ran\n"}[line]; out.Output != text {
					s.t.Errorf("%s: output %q, want %q\n%q", line, out.Output, text, s.logEnd())
				}
			}
			all := s.commands(len(want))
			if got := linesOf(all); !slices.Equal(got, want) {
				s.t.Errorf("ran %q, want %q\n%q", got, want, s.logEnd())
			}
			for _, r := range all {
				if r.Line == "false" && r.ExitCode != nil && *r.ExitCode != 1 {
					s.t.Errorf("reported %+v", r)
				}
			}
			_, err := s.exec(api.SessionExecInput{Command: "echo 'never", TimeoutMS: 60_000})
			wantError(s.t, err, api.CodeInvalid, "incomplete")
			s.wantStatus("true", s.sh("true"), 0)
		})
	}
}

func TestCommandsTypedWithoutMarksAreReported(t *testing.T) {
	loop := "for i in 1 2\rdo true\rdone\r"
	for _, c := range []struct {
		lossCase
		typed []string
		want  []string
	}{
		{lossCase{"hooks", "bash", "unset PROMPT_COMMAND PS0"}, []string{"echo one\r", loop, "half\x03", "echo 'open\r\x03"}, []string{"echo one", "for i in 1 2\ndo true\ndone"}},
		{lossCase{"hooks and prompt", "bash", "PROMPT_COMMAND=(); PS1='$ '"}, []string{"echo one\r", "sh -c 'exit 3'\r"}, []string{"echo one", "sh -c 'exit 3'"}},
		{lossCase{"history", "bash", "set +o history"}, []string{"false\r", loop}, []string{"false", "for i in 1 2\ndo true\ndone"}},
		{lossCase{"hooks", "zsh", "precmd_functions=(); preexec_functions=()"}, []string{"echo one\r", loop, "half\x03"}, []string{"echo one", "for i in 1 2\ndo true\ndone"}},
	} {
		c.replay(t, func(s *session) {
			s.sh(c.line)
			want := append([]string{c.line}, c.want...)
			ran := 1
			for _, typed := range c.typed {
				for part := range strings.SplitAfterSeq(strings.TrimSuffix(typed, "\r"), "\r") {
					s.write(part)
				}
				if strings.HasSuffix(typed, "\r") {
					ran++
					s.write("\r")
					s.commands(ran)
				}
				s.awaitPrompt()
			}
			s.sh("true")
			if got := linesOf(s.commands(ran)); !slices.Equal(got, want) {
				s.t.Errorf("ran %q, want %q\n%q", got, want, s.logEnd())
			}
		})
	}
}

// A command line must not be typed as the answer to a builtin's question.
func TestQuestionOfABuiltinIsNotMistakenForAPrompt(t *testing.T) {
	for _, c := range []lossCase{
		{"read", "bash", "read -p 'Go on? ' x"},
		{"read like a prompt", "bash", "read -p 'mine$ ' x"},
		{"line editor", "bash", "read -e -p 'Name: ' x"},
		{"line editor", "zsh", "vared -p 'Name: ' -c x"},
	} {
		c.replay(t, func(s *session) {
			if out := s.sh(c.line); out.Waits != "input" {
				s.t.Errorf("%+v", out)
			}
			_, err := s.exec(api.SessionExecInput{Command: "echo x"})
			wantError(s.t, err, api.CodeConflict, "")
			s.write("word\r")
			s.awaitPrompt()
			s.wantRun("echo $x", "word\n", 0)
		})
	}
}

func TestNextEngineDoesNotTrustLostMarks(t *testing.T) {
	lossCase{"exec", "bash", ""}.replay(t, func(s *session) {
		s.sh("exec bash --norc")
		s.replaceEngine()
		s.awaitPrompt()
		s.wantRun("echo on; false", "on\n", 1)
		if got, want := linesOf(s.commands(2)), []string{"exec bash --norc", "echo on; false"}; !slices.Equal(got, want) {
			s.t.Errorf("ran %q, want %q", got, want)
		}
	})
}

// script relays input, like ssh.
func TestCommandsRunThroughAnExecutedRelay(t *testing.T) {
	lossCase{"relay", "bash", ""}.replay(t, func(s *session) {
		s.sh("true; ln -s $(which script) ssh")
		s.sh("exec ./ssh -q -c 'exec bash --norc' /dev/null")
		s.wantRun("false", "", 1)
		if out := s.wantRun("echo one; (exit 3)", "one\n", 3); out.Method != "marker" {
			s.t.Errorf("%+v", out)
		}
		if got, want := linesOf(s.commands(2)), []string{"false", "echo one; (exit 3)"}; !slices.Equal(got, want) {
			s.t.Errorf("ran %q, want %q", got, want)
		}
	})
}
