// Package memfile holds files in memory: descriptors with all operations of a file, but without a
// name in a file system. They are lost with the process.
package memfile

import (
	"fmt"
	"io/fs"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// Files are files in memory by path. No file is created at that path. The zero value is empty and
// ready to use. It is safe for concurrent use.
type Files struct {
	mu   sync.Mutex
	open map[string]*os.File
}

// Open returns a new descriptor of the file at path, for reading and writing. If there is none, it
// is created if flag contains os.O_CREATE; otherwise the error is fs.ErrNotExist. The descriptors of
// a file share one position, so only ReadAt and WriteAt may be used.
func (f *Files) Open(path string, flag int) (*os.File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	held := f.open[path]
	if held == nil {
		if flag&os.O_CREATE == 0 {
			return nil, &fs.PathError{Op: "open in memory", Path: path, Err: fs.ErrNotExist}
		}
		fd, err := unix.MemfdCreate("tandem", unix.MFD_CLOEXEC)
		if err != nil {
			return nil, &fs.PathError{Op: "create in memory", Path: path, Err: err}
		}
		if held = os.NewFile(uintptr(fd), path); f.open == nil {
			f.open = map[string]*os.File{}
		}
		f.open[path] = held
	}
	fd, err := unix.FcntlInt(held.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open in memory %s: %w", path, err)
	}
	return os.NewFile(uintptr(fd), path), nil
}

// Has reports whether there is a file at path.
func (f *Files) Has(path string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.open[path] != nil
}

// Remove removes the file at path, if there is one. Its memory is freed once all its descriptors are
// closed.
func (f *Files) Remove(path string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if held := f.open[path]; held != nil {
		delete(f.open, path)
		held.Close()
	}
}
