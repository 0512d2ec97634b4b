package prompt

import (
	"regexp"
	"strings"
	"testing"

	"tandem/tests/needs"
)

// marksAnywhere matches the marks of shells, for Tandem and for any terminal.
var marksAnywhere = regexp.MustCompile(`\x1b\](133|633|7);[^\x07\x1b]*(\x07|\x1b\\)`)

// A trace is the output of a shell tracing its commands.
type trace struct {
	shellCase
	lines []string // input lines
	want  []string // must appear
	none  []string // must not appear
}

func TestShellHooksDoNotAppearInTraces(t *testing.T) {
	needs.FullRun(t)
	for name, c := range map[string]trace{
		"bash xtrace": {
			shellCase: shellCase{"bash", []string{"bash"}, map[string]string{".bashrc": "PS4='[mine] '\nPS1='$ '\n"}},
			lines:     []string{"set -x", "echo one", "PS1=\"x$PS1\"", "false", "echo $?$PS4", "set +x"},
			want:      []string{"[mine] echo one", "[mine] false", "[mine] echo '1[mine]'", "[mine] set +x"},
		},
		"bash xtrace and own hooks": {
			shellCase: shellCase{"bash", []string{"bash"}, map[string]string{".bashrc": "own() { seen=$?; PS1='$ '; }\nPROMPT_COMMAND=own\n"}},
			lines:     []string{"set -x", "false", "echo $seen", "set +x"},
			want:      []string{"+ own\n", "+ seen=1\n", "+ echo 1\n"},
		},
		"bash xtrace from the start": {
			shellCase: shellCase{"bash", []string{"bash"}, map[string]string{".bashrc": "PS1='$ '\nset -x\nmine=1\n"}},
			lines:     []string{"echo two"},
			want:      []string{"+ mine=1\n", "+ echo two\n"},
		},
		"bash xtrace elsewhere": {
			shellCase: shellCase{"bash", []string{"bash"}, map[string]string{".bashrc": "PS1='$ '\n"}},
			lines:     []string{"exec 9>trace", "BASH_XTRACEFD=9", "set -x", "cd .", "set +x", "cat trace"},
			want:      []string{"+ cd ."},
		},
		"bash DEBUG trap": {
			shellCase: shellCase{"bash", []string{"bash"}, map[string]string{".bashrc": "PS1='$ '\nPROMPT_COMMAND=:\n"}},
			lines:     []string{"trap 'n=$((n+1)); echo debug: $BASH_COMMAND' DEBUG", "true", "trap - DEBUG", "echo n=$n"},
			want:      []string{"debug: true\n", "debug: :\n", "n=4\n"}, // true, trap, and two prompts
		},
		"bash verbose": {
			shellCase: shellCase{"bash", []string{"bash"}, map[string]string{".bashrc": "PS1='$ '\n"}},
			lines:     []string{"set -v", "echo three", "set +v"},
			want:      []string{"echo three\n"},
			none:      []string{"PS1="},
		},
		"zsh xtrace": {
			shellCase: shellCase{"zsh", []string{"zsh"}, map[string]string{".zshrc": "PS4='[mine] '\nPS1='$ '\nprecmd() { seen=$? }\n"}},
			lines:     []string{"set -x", "false", "echo $seen", "set +x"},
			want:      []string{"[mine] false", "[mine] seen=1", "[mine] echo 1", "[mine] set +x"},
		},
		"zsh xtrace from the start": {
			shellCase: shellCase{"zsh", []string{"zsh"}, map[string]string{".zshrc": "PS1='$ '\nset -x\nmine=1\n"}},
			lines:     []string{"echo two"},
			want:      []string{"mine=1", "echo two"},
		},
		"zsh verbose": {
			shellCase: shellCase{"zsh", []string{"zsh"}, map[string]string{".zshrc": "PS1='$ '\n"}},
			lines:     []string{"set -v", "echo three", "set +v"},
			want:      []string{"echo three\n"},
		},
		"fish trace": {
			shellCase: shellCase{"fish", []string{"fish"}, map[string]string{".config/fish/config.fish": ""}},
			lines:     []string{"set -g fish_trace 1", "echo four", "set -g fish_trace"},
			want:      []string{"> echo four"},
		},
		"sh xtrace": {
			shellCase: shellCase{"sh", []string{"sh"}, map[string]string{".shrc": "PS1='$ '\n"}},
			lines:     []string{"set -x", "echo five", "set +x"},
			want:      []string{"+ echo five"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startLive(t, c.shellCase)
			for _, line := range c.lines {
				s.awaitPrompt()
				s.write(line + "\r")
			}
			s.awaitPrompt()
			log := s.logText()
			if !strings.Contains(log, "aid="+s.nonce) {
				t.Fatalf("there are no marks: %q", log)
			}
			shown := strings.ReplaceAll(marksAnywhere.ReplaceAllString(log, ""), "\r\n", "\n")
			for _, none := range append(c.none, s.nonce, "__tandem_first", "__tandem_line", "printf") {
				if strings.HasSuffix(name, "verbose") && none == "__tandem_first" {
					continue // bash prints PROMPT_COMMAND
				}
				if strings.Contains(shown, none) {
					t.Errorf("%q is in what is shown:\n%s", none, shown)
				}
			}
			for _, want := range c.want {
				if !strings.Contains(shown, want) {
					t.Errorf("%q is not in what is shown:\n%q", want, shown)
				}
			}
		})
	}
}

func TestUsersPromptHooksKeepWorking(t *testing.T) {
	t.Parallel()
	s := startLive(t, shellCase{"bash", []string{"bash"}, map[string]string{".bashrc": `
set -u
HISTCONTROL=ignoreboth
status() { code=$?; seen=$code; PS1="[$code]\n\$ "; }
after() { count=$((${count-0}+1)); }
PROMPT_COMMAND=(status after)
PS0='<ps0>'
trap 'debugged=$BASH_COMMAND' DEBUG
`}})
	s.wantRun("true", "", 0)
	s.wantRun("false", "", 1)
	s.wantRun("echo $seen", "1\n", 0)
	s.wantRun("[ $count -gt 2 ]", "", 0)
	s.wantRun("echo $debugged", "echo $debugged\n", 0)
	s.wantRun("PS1=x; PS0=; echo new", "new\n", 0)
	s.wantRun(" echo secret", "secret\n", 0)
	if out := s.sh("history"); strings.Contains(out.Output, "secret") || strings.Contains(out.Output, "tandem") || !strings.Contains(out.Output, "echo new") {
		t.Errorf("%s", out.Output)
	}
	s.awaitScreen(`\[0\]\n\$`)
}

func TestUsersZshPromptsKeepWorking(t *testing.T) {
	t.Parallel()
	s := startLive(t, shellCase{"zsh", []string{"zsh"}, map[string]string{".zshenv": "ENVREAD=yes\n", ".zshrc": `
setopt prompt_subst nounset ksh_arrays
PROMPT_EOL_MARK=''
count=0
precmd() { seen=$?; PROMPT=$'[%?]\n%% ' }
hook() { count=$((count + 1)) }
preexec_functions=(hook)
RPROMPT=right
`}})
	s.wantRun("false", "", 1)
	s.wantRun("echo $seen $ENVREAD", "1 yes\n", 0)
	s.wantRun("[ $count -gt 1 ]", "", 0)
	s.wantRun("printf x", "x", 0)
	s.wantRun("printf '%s\\n' \"${ZDOTDIR-none}\"", "none\n", 0)
	s.awaitScreen(`\[0\]\n%`)
}

func TestReplacedHooksCauseNoFalseStatus(t *testing.T) {
	needs.FullRun(t)
	for _, c := range []lossCase{
		{"before", "bash", `PROMPT_COMMAND="history -a; $PROMPT_COMMAND"`},
		{"line before", "bash", `PROMPT_COMMAND=true$'\n'"$PROMPT_COMMAND"`},
		{"behind", "bash", `PROMPT_COMMAND="$PROMPT_COMMAND; true"`},
		{"array", "bash", `PROMPT_COMMAND=(true "${PROMPT_COMMAND[@]}" true)`},
		{"function", "bash", `old=$PROMPT_COMMAND; all() { true; eval "$old"; }; PROMPT_COMMAND=all`},
		{"element", "bash", `PROMPT_COMMAND='history -a'`},
		{"sourced", "bash", `source ./dotfile`},
		{"functions", "zsh", `precmd() { true }; one() { true }; precmd_functions=(one $precmd_functions)`},
		{"event", "fish", `function mine --on-event fish_postexec; true; end`},
	} {
		t.Run(c.shell+" "+c.name, func(t *testing.T) {
			t.Parallel()
			s := startLive(t, c.shellCase())
			s.wantStatus(c.line, s.sh(c.line), 0)
			for _, line := range []string{"false", "sh -c 'exit 3'", "ls /nope"} {
				s.wantStatus(line, s.sh(line), map[string]int{"false": 1, "sh -c 'exit 3'": 3, "ls /nope": 2}[line])
			}
			out := s.sh("false")
			if s.wantStatus("false", out, 1); out.ExitCode == nil {
				s.t.Errorf("the status stays unknown: %+v", out)
			}
			for _, r := range s.commands(5) {
				if r.ExitCode != nil && *r.ExitCode == 0 && r.Line != c.line {
					s.t.Errorf("reported %+v", r)
				}
			}
		})
	}
}

// Python environments, conda and others copy the prompt function, call the copy from their own, and
// later restore it.
func TestCopiedFishPromptKeepsItsMarksAndExitStatus(t *testing.T) {
	t.Parallel()
	s := startLive(t, shellCase{"fish", []string{"fish"}, map[string]string{
		".config/fish/config.fish": "function fish_prompt; echo -n \"[$status] mine> \"; end\n",
		"on":                       "functions -c fish_prompt _old\nfunction fish_prompt\n\tset -l code $status\n\techo -n '(env) '\n\t__tandem_again $code\n\t_old\nend\n",
		"off":                      "functions -e fish_prompt\nfunctions -c _old fish_prompt\nfunctions -e _old\n",
	}})
	for range 3 {
		s.wantRun("source on", "", 0)
		s.wantRun("sh -c 'exit 3'", "", 3)
		s.wantRun("echo in", "in\n", 0)
		s.wantRun("source off", "", 0)
		s.wantRun("echo out", "out\n", 0)
	}
	shown := marksAnywhere.ReplaceAllString(s.logText(), "")
	for text, count := range map[string]int{"(env) [3] mine> ": 3, "(env) [0] mine> ": 6, "(env) (env)": 0, "rror": 0} {
		if n := strings.Count(shown, text); n != count {
			t.Errorf("%q is shown %d times, want %d:\n%s", text, n, count, shown)
		}
	}
}

func TestFirstPromptSetByAHookHasMarks(t *testing.T) {
	t.Parallel()
	s := startLive(t, shellCase{"zsh", []string{"zsh"}, map[string]string{
		".zshrc": "autoload -Uz add-zsh-hook\nmine() { PROMPT='> ' }\nadd-zsh-hook precmd mine\n",
	}})
	s.wantRun("false", "", 1)
	s.wantRun("print ${PERIOD-none} $periodic_functions", "none\n", 0)
	if log := s.logText(); strings.Contains(log, "printf") {
		t.Errorf("a wrapper was typed: %q", log)
	}
}

// Shells that inherit an exported prompt print none of its marks.
func TestExportedPromptsCarryNoMarksIntoNestedShells(t *testing.T) {
	t.Parallel()
	for _, nested := range []string{"dash", "sh", "bash --norc", "bash --posix --norc"} {
		t.Run(nested, func(t *testing.T) {
			t.Parallel()
			needs.Program(t, strings.Fields(nested)[0], strings.Fields(nested)[0])
			s := startLive(t, shellCase{"bash", []string{"bash"}, map[string]string{".bashrc": "PS1='mine> '\nPS2='more> '\nexport PS1 PS2\n"}})
			s.wantRun("true", "", 0)
			before := len(s.logText())
			s.write("ENV= " + nested + "\r")
			s.awaitScreen(nested + `\n.*mine> ?$`)
			s.write("echo one \\\rtwo\r")
			s.awaitScreen(`one two\n.*mine> ?$`)
			shown := marksAnywhere.ReplaceAllString(s.logText()[before:], "")
			if strings.Contains(shown, "133") || strings.Contains(shown, "tandem") {
				t.Errorf("it shows %q", shown)
			}
			s.write("exit\r")
			s.wantRun("false", "", 1)
		})
	}
}

func TestNonceIsNotVisibleToCommands(t *testing.T) {
	t.Parallel()
	for _, c := range []shellCase{
		{"zsh", []string{"zsh"}, map[string]string{".zshrc": "PS1='$ '\n"}},
		{"bash", []string{"bash"}, map[string]string{".bashrc": "PS1='$ '\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := startLive(t, c)
			// Without its control characters, a mark in a value is printed as text.
			const text = ` | tr -d '\033\007'`
			for _, c := range []struct{ line, shown string }{
				{`PS1="(env) $PS1"; export PS1 PS2; env`, "PS1="},
				{`sh -c 'env; set'`, "(env) "},
				{`printf '%s|\n' "$PS1$PS2$PROMPT_EOL_MARK"`, "|\n"},
			} {
				out := s.sh(c.line + text)
				if strings.Contains(out.Output, s.nonce) || !strings.Contains(out.Output, c.shown) {
					t.Errorf("%q prints %q, which should contain %q and not the nonce", c.line, out.Output, c.shown)
				}
			}
		})
	}
}
