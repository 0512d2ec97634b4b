package mcp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"tandem/engine/agent/mcp/toolkit"
	"tandem/tests/needs"
)

// Escape sequences could hide text from the user while agents still read it.
func TestToolsStripTerminalSequences(t *testing.T) {
	needs.FullRun(t)
	t.Parallel()
	const print = `printf 'a\033[31mred\033[0m\033]52;c;QQ==\007\000b\302\233c\b\n'; printf 'e\033[2Kf\n' >&2`
	line := object{"command": "sh ./print"}
	argv := object{"command": []string{"sh", "./print"}}
	for _, c := range []struct {
		profile toolkit.Profile
		tool    string
		args    object
	}{
		{toolkit.Native, "exec", line}, {toolkit.Plugin, "exec", line}, {toolkit.Core, "execute-command", argv},
		{toolkit.Android, "local_run_shell", line}, {toolkit.Android, "termux_run_shell", line},
		{toolkit.OS, "shell_cmd", line}, {toolkit.Terminal, "run_terminal_command", line},
	} {
		t.Run(string(c.profile)+" "+c.tool, func(t *testing.T) {
			r := newSharedRig(t, c.profile)
			if err := os.WriteFile(filepath.Join(r.home, "print"), []byte(print), 0o600); err != nil {
				t.Fatal(err)
			}
			text := resultText(r.call(c.tool, c.args))
			if !strings.Contains(text, "aredb") {
				t.Errorf("tool returned %q, want the text aredb in it", text)
			}
			for _, hidden := range []string{`\u001b`, `\u0000`, `\x1b`, `\0`, "[31m", "52;c"} {
				if strings.Contains(text, hidden) {
					t.Errorf("tool returned %q, which contains %s", text, hidden)
				}
			}
			if strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }) {
				t.Errorf("tool returned control characters: %q", text)
			}
		})
	}
}

func TestStatusToolStripsTerminalSequences(t *testing.T) {
	t.Parallel()
	r := newSharedRig(t, toolkit.Core)
	started := resultText(r.call("start-command-async", object{"command": []string{"printf", `a\033[31mred\033[0m\000b\033]0;no end\n`}}))
	id := idAtEnd.FindString(started)
	r.waitForExit(id)
	if text := resultText(r.call("check-command-status", object{"processId": id})); !strings.Contains(text, "COMPLETED") || !strings.Contains(text, "aredb]0;no end") {
		t.Errorf("check-command-status returned %q", text)
	}
}
