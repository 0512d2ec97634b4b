package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestBashCompletesWithoutThePackage(t *testing.T) {
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
