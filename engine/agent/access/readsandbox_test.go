package access

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadSandboxRejectsFilesOfOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agents.json")
	if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSandbox(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o606); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSandbox(path); err == nil || !strings.Contains(err.Error(), "anyone can write to it") {
		t.Errorf("everybody's: %v", err)
	}
}
