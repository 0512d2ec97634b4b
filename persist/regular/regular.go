// Package regular opens and reads regular files in the configuration and data directories. It
// rejects anything else found in their place. Opening a named pipe, for example, would block.
package regular

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// ErrNotRegular is returned for anything but a regular file.
var ErrNotRegular = errors.New("not a regular file")

// Open opens the regular file at path, or the one it links to, for reading. It never blocks.
func Open(path string) (*os.File, fs.FileInfo, error) {
	// O_NONBLOCK opens a pipe without waiting for a writer, and O_NOCTTY a terminal without taking it.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// ReadFile returns the content of the regular file at path, or of the one it links to.
func ReadFile(path string) ([]byte, error) {
	f, _, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}
