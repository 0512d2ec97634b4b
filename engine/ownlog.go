package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// maxOwnLog is the size in bytes at which engine.log is rotated. The keeper also rotates it when it
// starts an engine. Only one old log is kept.
const maxOwnLog = 1 << 20

// An ownLog limits the size of engine.log while the engine runs. The keeper directs the engine's
// standard error to that file.
type ownLog struct {
	path  string
	out   *os.File // standard error, except in tests
	limit int64

	mu       sync.Mutex
	rotateAt int64 // rotate at this size; above limit after a failure
}

func newOwnLog(path string, out *os.File) *ownLog {
	return &ownLog{path: path, out: out, limit: maxOwnLog, rotateAt: maxOwnLog}
}

func (l *ownLog) Write(p []byte) (int, error) {
	l.rotateIfLarge()
	return l.out.Write(p)
}

// rotateIfLarge rotates the log if it is too large. If that fails, the log keeps growing, and the
// next attempt is made once it has grown by another limit bytes.
func (l *ownLog) rotateIfLarge() {
	l.mu.Lock()
	defer l.mu.Unlock()
	info, err := l.out.Stat()
	if err != nil || info.Size() < l.rotateAt {
		return
	}
	l.rotateAt = l.limit
	if err := l.rotate(info); err != nil {
		l.rotateAt = info.Size() + l.limit
		fmt.Fprintf(l.out, "rotate %s: %v\n", l.path, err)
	}
}

// rotate renames the log and makes its descriptor refer to a new file. A new descriptor would not
// do, because the runtime writes panics to descriptor 2. If the log is standard error, standard
// output is redirected as well.
func (l *ownLog) rotate(info os.FileInfo) error {
	if there, err := os.Stat(l.path); err == nil && !os.SameFile(info, there) {
		return errors.New("another file is there")
	}
	if err := os.Rename(l.path, l.path+".old"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	next, err := os.OpenFile(l.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer next.Close()
	// The keeper has directed standard output to the same file as standard error.
	if l.out == os.Stderr {
		if err := unix.Dup3(int(next.Fd()), 1, 0); err != nil {
			return err
		}
	}
	return unix.Dup3(int(next.Fd()), int(l.out.Fd()), 0)
}
