package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSetupAsksBeforeWriting(t *testing.T) {
	for answer, want := range map[string]int{"y\n": 0, "n\n": 1, "\n": 1} {
		r := newRig(t)
		home := t.TempDir()
		bin := filepath.Join(home, "bin", "tandem")
		if err := os.MkdirAll(filepath.Dir(bin), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(bin, nil, 0o755); err != nil {
			t.Fatal(err)
		}
		r.options.Environ = append(r.options.Environ, "HOME="+home, "PATH="+filepath.Dir(bin))
		master, slave := openTerminal(t)
		if _, err := master.WriteString(answer); err != nil {
			t.Fatal(err)
		}
		r.options.Stdin = slave
		_, stderr, status := r.run("agent", "setup", "gemini")
		_, err := os.Stat(filepath.Join(home, ".gemini", "settings.json"))
		if status != want || (err == nil) != (want == 0) || !strings.Contains(stderr, "Change this file? [y/N]") {
			t.Errorf("%q: status %d, %v: %s", answer, status, err, stderr)
		}
	}
}

func TestCompletionOffersClients(t *testing.T) {
	r := newRig(t)
	got, _, _ := r.run("__complete", "agent", "setup", "")
	if !strings.HasPrefix(got, "claude\tClaude Code\n") || !strings.Contains(got, "\nzed\tZed\n:4") {
		t.Error(got)
	}
	if got, _, _ := r.run("__complete", "agent", "setup", "zed", ""); !strings.HasPrefix(got, ":4") {
		t.Error(got)
	}
}
