package doctor

import (
	"os"
	"path/filepath"
	"testing"
)

func TestLogindKillSettingIsReadFromAllFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "logind.conf")
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if killsUserProcesses(path) {
		t.Error("true for a missing file")
	}
	write(path, "[Login]\n#KillUserProcesses=yes\n")
	if killsUserProcesses(path) {
		t.Error("true for a comment")
	}
	write(path, "[Login]\nKillUserProcesses=yes\n")
	if !killsUserProcesses(path) {
		t.Error("false for yes")
	}
	write(path+".d/90.conf", "[Login]\nKillUserProcesses = no\n")
	if killsUserProcesses(path) {
		t.Error("the last file does not win")
	}
}
