package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// ownLogMost is how large engine.log becomes before it is put aside, as the
// keeper does when it starts an engine; the one before that is dropped.
const ownLogMost = 1 << 20

// An ownLog is the engine's standard error, which the keeper has made engine.log.
// It keeps that within bounds while the engine lives.
type ownLog struct {
	path string
	out  *os.File // standard error, but in tests
	most int64

	mu  sync.Mutex
	due int64 // the size at which it is put aside; later than most after a failure
}

func newOwnLog(path string) *ownLog {
	return &ownLog{path: path, out: os.Stderr, most: ownLogMost, due: ownLogMost}
}

func (l *ownLog) Write(p []byte) (int, error) {
	l.bound()
	return l.out.Write(p)
}

// bound puts a log aside that is too long. What cannot be put aside goes on
// growing, which is the lesser evil, and is tried again when it has grown as
// much once more.
func (l *ownLog) bound() {
	l.mu.Lock()
	defer l.mu.Unlock()
	info, err := l.out.Stat()
	if err != nil || info.Size() < l.due {
		return
	}
	l.due = l.most
	if err := l.rotate(info); err != nil {
		l.due = info.Size() + l.most
		fmt.Fprintf(l.out, "rotate %s: %v\n", l.path, err)
	}
}

// rotate makes the descriptor of a log, and standard output with it, that of an
// empty one: the runtime writes to descriptors when it panics.
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
	if l.out == os.Stderr {
		if err := unix.Dup3(int(next.Fd()), 1, 0); err != nil {
			return err
		}
	}
	return unix.Dup3(int(next.Fd()), int(l.out.Fd()), 0)
}
