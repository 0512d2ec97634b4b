// Package linelog reads logs that others append to: their lines, those that
// match an expression, and the freed head. It holds little of a log in memory.
package linelog

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"tandem/persist/sparse"
	"tandem/persist/store"
)

// firstLineWindow is how far behind a freed head the first whole line is
// looked for.
const firstLineWindow = 64 << 10

// A Reader reads a log by absolute offsets. ReadAt gives
// io.EOF at the end and ErrDropped before what is kept; both ends only ever
// grow. File and ptylog.Log are Readers.
type Reader interface {
	io.ReaderAt
	Start() int64 // of the first byte kept
	End() int64   // behind the last byte
}

// A File is a log file that others append to: a process that has it as its
// standard output, or a ptylog.Log. Any number may be open on a file, and all methods
// but Close can be called by any goroutine at any time.
//
// What has been dropped is a hole at the head of the file, so every File on
// it knows where it starts, whoever made the hole.
type File struct {
	f         *os.File
	disk      sparse.Disk
	limit     int64
	committed func() int64
	first     atomic.Pointer[firstLine]

	trimming  sync.Mutex  // held during a Trim
	unbounded atomic.Bool // the head could not be freed
}

// firstLine is where the first whole line behind a freed head begins.
type firstLine struct{ hole, start int64 }

// Options say how a log file is used.
type Options struct {
	// Limit is how many bytes Trim keeps at least; 0 is all, and then the file
	// is only ever read.
	Limit int64

	// End returns the committed end of a ptylog.Log that is open on the file and has
	// preallocated more. Without it the log ends with the file.
	End func() int64
}

// Open opens the log at path, which must exist.
func Open(path string, o Options) (*File, error) {
	return open(path, o, sparse.System())
}

func open(path string, o Options, d sparse.Disk) (*File, error) {
	mode := os.O_RDONLY
	if o.Limit > 0 {
		mode = os.O_RDWR
	}
	f, err := openRegular(path, mode)
	if err != nil {
		return nil, fmt.Errorf("open log %s: %w", path, err)
	}
	return &File{f: f, disk: d, limit: max(o.Limit, 0), committed: o.End}, nil
}

// openRegular opens a regular file. Anything else at path is refused without
// waiting for somebody at its other end.
func openRegular(path string, mode int) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, store.Cause(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	f, err := os.OpenFile(path, mode, 0)
	if err != nil {
		return nil, store.Cause(err)
	}
	return f, nil
}

// End is the absolute offset behind the last byte.
func (l *File) End() int64 {
	if l.committed != nil {
		return l.committed()
	}
	size, err := l.disk.Size(l.f)
	if err != nil {
		return 0
	}
	return size
}

// Start is the absolute offset of the first byte kept. If the head was freed,
// it is the first line that is whole, provided that one begins nearby; the rest
// of the line before it can still be read.
func (l *File) Start() int64 {
	for {
		hole := l.hole()
		if hole == 0 || l.committed != nil {
			return hole
		}
		if f := l.first.Load(); f != nil && f.hole == hole {
			return f.start
		}
		if start, ok := l.firstLine(hole); ok {
			return start
		}
	}
}

// firstLine finds the first line behind the head that was freed up to hole. It
// fails if more was freed meanwhile.
func (l *File) firstLine(hole int64) (int64, bool) {
	at, err := nextNewline(l, hole, min(hole+firstLineWindow, l.End()))
	if errors.Is(err, sparse.ErrDropped) {
		return 0, false
	}
	if err != nil || at < 0 {
		return hole, true // not kept in mind, it may come yet
	}
	l.first.Store(&firstLine{hole, at + 1})
	return at + 1, true
}

// hole is the offset up to which the head was freed.
func (l *File) hole() int64 {
	end := l.End() // asked first: what is appended then is not a hole
	at, err := l.disk.NextData(l.f, 0)
	switch {
	case err == io.EOF:
		return end
	case err != nil:
		return 0
	}
	return min(at, l.End())
}

// ReadAt copies bytes from absolute offset off; io.EOF at the end, ErrDropped
// for what has been dropped. Bytes of the hole are never given.
func (l *File) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fmt.Errorf("read log %s: negative offset %d", l.f.Name(), off)
	}
	var short error
	if rest := max(l.End()-off, 0); int64(len(p)) > rest {
		p, short = p[:rest], io.EOF
	}
	n, err := l.f.ReadAt(p, off)
	if err != nil && err != io.EOF {
		return 0, fmt.Errorf("read log %s: %w", l.f.Name(), store.Cause(err))
	}
	// Asked last: NUL may have been read where there was something before.
	if hole := l.hole(); off < hole {
		return 0, fmt.Errorf("read log %s at %d, which starts at %d: %w", l.f.Name(), off, hole, sparse.ErrDropped)
	}
	if err == nil {
		err = short
	}
	return n, err
}

// Written is when something was written to the file last.
func (l *File) Written() (time.Time, error) {
	info, err := l.f.Stat()
	if err != nil {
		return time.Time{}, fmt.Errorf("read log %s: %w", l.f.Name(), store.Cause(err))
	}
	return info.ModTime(), nil
}

// Bounded reports whether the log stays within its limit. It does not where
// the file system cannot free the head of a file, which the first Trim that has
// something to free finds out.
func (l *File) Bounded() bool { return !l.unbounded.Load() }

// Close closes the file. Reads that go on are interrupted.
func (l *File) Close() error {
	if err := l.f.Close(); err != nil {
		return fmt.Errorf("close log %s: %w", l.f.Name(), store.Cause(err))
	}
	return nil
}
