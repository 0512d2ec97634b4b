package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTracesListWhatUninstallingMustRemove(t *testing.T) {
	r := newRig(t)
	home := t.TempDir()
	r.options.Environ = append(r.options.Environ, "HOME="+home)
	for name, text := range map[string]string{
		".bashrc": "alias ls='ls -F'\neval \"$(tandem init bash)\"\n", ".config/fish/completions/tandem.fish": "complete -c tandem\n", ".zshrc": "setopt x\n",
		".local/share/man/man1/tandem.1": ".TH\n", ".claude.json": `{"mcpServers": {"tandem": {"command": "tandem"}}}`,
	} {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	stdout, _, _ := r.run("doctor")
	_, got, _ := strings.Cut(stdout, "installed")
	want := []string{"data folder /", "/.bashrc, line 2", "completions /", "/man1/tandem.1", "server for Claude Code in"}
	for _, trace := range want {
		if !strings.Contains(got, trace) {
			t.Errorf("%s is not listed in\n%s", trace, got)
		}
	}
	if strings.Contains(got, ".zshrc") {
		t.Errorf("listed:\n%s", got)
	}
}
