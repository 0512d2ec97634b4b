package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestConfigurationOfOthersIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, []byte("scrollback = 77\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := File{path: path}
	if c, err := f.Load(); err != nil || c.Scrollback != 77 {
		t.Fatalf("%+v, %v", c.Scrollback, err)
	}
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	if !f.touched() {
		t.Error("another mode is no change")
	}
	if _, err := f.Load(); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "everybody can write it; run chmod o-w") {
		t.Errorf("everybody's: %v", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if !f.touched() {
		t.Error("mine again is no change")
	}
	if c, err := f.Load(); err != nil || c.Scrollback != 77 {
		t.Errorf("mine again: %+v, %v", c.Scrollback, err)
	}
}
