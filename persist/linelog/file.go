// Package linelog reads and searches logs while other processes append to them, line by line and in
// both directions. It also frees the start of a log. It holds at most a few megabytes in memory.
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

// firstLineWindow is how many bytes after a freed start are searched for the first whole line.
const firstLineWindow = 64 << 10

// A Reader reads a log by absolute offsets. ReadAt returns io.EOF at the end, and ErrDropped before
// Start. Start and End never decrease. File and ptylog.Log are Readers.
type Reader interface {
	io.ReaderAt
	Start() int64 // offset of the first byte kept
	End() int64   // offset after the last byte
}

// A File is a log to which other processes or a ptylog.Log append. Several may be open on one file.
// All methods except Close are safe for concurrent use.
//
// Dropped bytes are a hole at the start of the file. So every File finds the same start, no matter
// which process made the hole.
type File struct {
	f         *os.File
	disk      sparse.Disk
	limit     int64
	committed func() int64
	first     atomic.Pointer[firstLine]

	trimming  sync.Mutex  // held during Trim
	unbounded atomic.Bool // the file system cannot free the head
}

// firstLine caches the start of the first whole line after a hole.
type firstLine struct{ hole, start int64 }

// Options configure a log file.
type Options struct {
	// Limit is how many bytes Trim keeps at least. 0 means all, and then the file is opened
	// read-only.
	Limit int64

	// End returns the committed end of a ptylog.Log, which allocates space ahead. If End is nil,
	// the log ends with the file.
	End func() int64

	// Open opens the file at a path with the flags of os.OpenFile. If Open is nil, the file is on
	// disk and must be a regular one.
	Open func(path string, flag int) (*os.File, error)
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
	if o.Open == nil {
		o.Open = openRegular
	}
	f, err := o.Open(path, mode)
	if err != nil {
		return nil, fmt.Errorf("open log %s: %w", path, err)
	}
	return &File{f: f, disk: d, limit: max(o.Limit, 0), committed: o.End}, nil
}

// openRegular opens a regular file. It rejects anything else before opening it, because opening a
// FIFO would block.
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

// Start returns the offset of the first byte kept. If the start of the file was freed, that is the
// first whole line, if one begins within firstLineWindow. The rest of the partial line before it
// stays readable.
func (l *File) Start() int64 {
	for {
		hole := l.holeEnd()
		if hole == 0 || l.committed != nil {
			return hole
		}
		if f := l.first.Load(); f != nil && f.hole == hole {
			return f.start
		}
		if start, ok := l.findFirstLine(hole); ok {
			return start
		}
	}
}

// findFirstLine finds the first line after the end of a hole. ok is false if more was freed during
// the search.
func (l *File) findFirstLine(hole int64) (int64, bool) {
	at, err := nextNewline(l, hole, min(hole+firstLineWindow, l.End()))
	if errors.Is(err, sparse.ErrDropped) {
		return 0, false
	}
	// Not cached: a newline may still be appended.
	if err != nil || at < 0 {
		return hole, true
	}
	l.first.Store(&firstLine{hole, at + 1})
	return at + 1, true
}

// holeEnd returns the offset up to which the start of the file was freed.
func (l *File) holeEnd() int64 {
	// Read the end first, so bytes appended meanwhile cannot look like a hole.
	end := l.End()
	at, err := l.disk.NextData(l.f, 0)
	switch {
	case err == io.EOF:
		return end
	case err != nil:
		return 0
	}
	return min(at, l.End())
}

// ReadAt reads at the absolute offset off. It returns io.EOF at the end, and ErrDropped for dropped
// bytes. It never returns the NULs of the hole.
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
	// Check this after the read, which may have returned NULs of a new hole.
	if hole := l.holeEnd(); off < hole {
		return 0, fmt.Errorf("read log %s at %d, which starts at %d: %w", l.f.Name(), off, hole, sparse.ErrDropped)
	}
	if err == nil {
		err = short
	}
	return n, err
}

// Written returns the time of the last write to the file.
func (l *File) Written() (time.Time, error) {
	info, err := l.f.Stat()
	if err != nil {
		return time.Time{}, fmt.Errorf("read log %s: %w", l.f.Name(), store.Cause(err))
	}
	return info.ModTime(), nil
}

// Bounded reports whether the size of the log is limited. It becomes false once Trim finds that the
// file system cannot free the start of a file.
func (l *File) Bounded() bool { return !l.unbounded.Load() }

// Close closes the file and interrupts reads in progress.
func (l *File) Close() error {
	if err := l.f.Close(); err != nil {
		return fmt.Errorf("close log %s: %w", l.f.Name(), store.Cause(err))
	}
	return nil
}
