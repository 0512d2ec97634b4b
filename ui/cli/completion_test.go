package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tandem/engine/api"

	"github.com/google/go-cmp/cmp"
)

func TestBashCompletionWorksWithoutBashCompletionPackage(t *testing.T) {
	r := newRig(t)
	script := filepath.Join(t.TempDir(), "tandem.bash")
	if err := os.WriteFile(script, []byte(r.succeeds("completion", "bash")), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ words, line, asked, want string }{
		{`tandem stop w`, "tandem stop w", "stop w", "web worker"},
		{`tandem stop ""`, "tandem  stop ", "stop ", "api web worker"},
		{`tandem stop web ""`, "tandem stop web ", "stop web ", "api web worker"},
		{`tandem start --restart = al`, "tandem start --restart=al", "start --restart=al", "always"},
		{`tandem start --restart = ""`, "tandem start --restart=", "start --restart=", "always"},
		{`tandem stop a : b ""`, "tandem stop a:b ", "stop a:b ", "api web worker"},
	} {
		program := `exec 9>&2; set -eu; source ` + script + `
tandem() { shift; printf '<%s>\n' "$*" >&9; case $* in *restart*) printf '%s\n' always;; *) printf '%s\n' web worker api;; esac; printf ':4\n'; }
COMP_WORDS=(` + c.words + `) COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE="` + c.line + `" COMP_POINT=${#COMP_LINE}
set +eu; compopt() { :; }; __start_tandem
for w in "${COMPREPLY[@]}"; do echo "${w%% *}"; done | sort | tr '\n' ' '`
		cmd := exec.Command("bash", "--norc", "--noprofile", "-c", program)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
		var asked strings.Builder
		cmd.Stderr = &asked
		out, err := cmd.Output()
		if got := strings.TrimSpace(string(out)); err != nil || got != c.want || asked.String() != "<"+c.asked+">\n" {
			t.Errorf("%q completes to %q, asking %q: %v", c.line, got, &asked, err)
		}
	}
}

func TestCompletionOffersSessions(t *testing.T) {
	r := newRig(t)
	r.sessions = []api.Process{
		{ID: "aaaaaaaaaaaa", Name: "build", State: api.StateRunning, Command: "make\x1b"},
		{ID: "bbbbbbbbbbbb", Name: "old", State: api.StateExited, ExitCode: code(1), Command: "sh"},
		{ID: "cccccccccccc", Name: "two words", State: api.StateRunning, Command: "sh"},
		{ID: "dddddddddddd", Name: "build", State: api.StateExited, ExitCode: code(0), Command: "make"},
	}
	r.processes = append(r.sessions, api.Process{ID: "eeeeeeeeeeee", Name: "waits", State: api.StateBackoff, Command: "false"})
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"attach", ""}, []string{"build\trunning: make^[", "cccccccccccc\ttwo words, running: sh"}},
		{[]string{"attach", "a"}, []string{"aaaaaaaaaaaa\tbuild, running: make^["}},
		{[]string{"attach", "build", ""}, nil},
		{[]string{"rm", ""}, []string{"old\texited 1: sh", "dddddddddddd\tbuild, exited 0: make"}},
		{[]string{"rm", "old", "b"}, nil},
		{[]string{"kill", "x", "b"}, []string{"build\trunning: make^["}},
		{[]string{"kill", "build", "b"}, nil},
		{[]string{"restart", "o"}, []string{"old\texited 1: sh"}},
		{[]string{"wait", "o"}, nil},
		{[]string{"stop", "w"}, []string{"waits\tbackoff: false"}},
		{[]string{"signal", "w"}, nil},
	} {
		out, _, status := r.run(append([]string{"__complete"}, c.args...)...)
		lines := strings.Split(strings.TrimSpace(out), "\n")
		var got []string
		if len(lines) > 1 {
			got = lines[:len(lines)-1]
		}
		if diff := cmp.Diff(c.want, got); diff != "" || status != 0 || lines[len(lines)-1] != ":4" {
			t.Errorf("%q: status %d, %q: %s", c.args, status, out, diff)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if got := r.succeeds("completion", shell); !strings.Contains(got, "tandem") {
			t.Errorf("completion %s prints %q", shell, got)
		}
	}
}
