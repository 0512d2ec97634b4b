package regular

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestReadFileRejectsEverythingButFiles(t *testing.T) {
	dir := t.TempDir()
	file, link, pipe, socket := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "pipe"), filepath.Join(dir, "s")
	if err := os.WriteFile(file, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(pipe, link+"-to-pipe"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, path := range []string{file, link} {
		if text, err := ReadFile(path); err != nil || string(text) != "text" {
			t.Errorf("%s: %q, %v", path, text, err)
		}
	}
	for _, path := range []string{pipe, link + "-to-pipe", socket, dir, os.DevNull} {
		var p *fs.PathError
		if text, err := ReadFile(path); !errors.As(err, &p) || p.Path != path || path != socket && !errors.Is(err, ErrNotRegular) {
			t.Errorf("%s: %q, %v", path, text, err)
		}
	}
	if _, err := ReadFile(filepath.Join(dir, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}
