package memfile

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestFileInMemoryIsSharedByItsDescriptors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	var files Files
	if _, err := files.Open(path, os.O_RDONLY); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("a missing file: %v", err)
	}
	w, err := files.Open(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := w.WriteAt([]byte("hello"), 3); err != nil {
		t.Fatal(err)
	}
	r, err := files.Open(path, os.O_RDONLY)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	got := make([]byte, 8)
	if _, err := r.ReadAt(got, 0); err != nil || !bytes.Equal(got, []byte("\x00\x00\x00hello")) {
		t.Errorf("read %q, %v", got, err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the path leads to a file: %v", err)
	}
	if files.Remove(path); files.Has(path) {
		t.Error("a removed file is still there")
	}
	if _, err := r.ReadAt(got, 0); err != nil {
		t.Errorf("an open descriptor of a removed file: %v", err)
	}
	if _, err := files.Open(path, os.O_RDWR); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a removed file: %v", err)
	}
}
