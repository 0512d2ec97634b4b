package engine

import (
	"regexp"
	"strings"
	"testing"

	"tandem/engine/api"
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

func TestShellHooksLeaveNoTrace(t *testing.T) {
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
			m := startMachine(t)
			p := c.start(m)
			if p == nil {
				return
			}
			for _, line := range c.lines {
				m.sessionWait(api.SessionWaitInput{ID: p.ID, Prompt: true})
				m.write(p.ID, line+"\r")
			}
			m.sessionWait(api.SessionWaitInput{ID: p.ID, Prompt: true})
			log := m.logOf(*p)
			shown := strings.ReplaceAll(marksAnywhere.ReplaceAllString(log, ""), "\r\n", "\n")
			nonce := regexp.MustCompile(`aid=([0-9a-f]{32})`).FindStringSubmatch(log)
			if nonce == nil {
				t.Fatalf("there are no marks: %q", log)
			}
			for _, none := range append(c.none, nonce[1], "__tandem_first", "__tandem_line", "printf") {
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
