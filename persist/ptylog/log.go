// Package ptylog is the log of a terminal, written through a mapping so that
// no crash loses what was read from the PTY.
package ptylog

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"tandem/persist/sparse"
	"tandem/persist/store"
)

// MaxSpace is the largest minimum that can be asked of Log.Space.
const MaxSpace = 64 << 10

// A Log is the output of one terminal: a file that is written through a shared
// mapping, so that a byte is in the page cache as soon as it was read from the
// PTY and no crash of this process can lose it. One goroutine appends; any
// number of readers read what is committed. Where the file system cannot
// preallocate, the log falls back to plain writes.
//
// Only one Log may be open on a file at a time. While it is, the file is longer
// than the log: the rest is NUL.
type Log struct {
	f     *os.File
	disk  sparse.Disk
	limit int64
	start atomic.Int64
	end   atomic.Int64

	unbounded atomic.Bool // the head could not be freed

	// The rest is the appender's alone.
	window  []byte // a mapping from offset base on, or a heap buffer if plain
	base    int64
	space   int       // length of the last Space
	size    int       // of the next window
	placed  time.Time // when the window was
	plain   bool      // no mapping: window is written to the file by Commit
	pending int       // plain: bytes of window that are committed and not yet written
	noPunch bool      // the file system cannot free the head
	closed  bool
}

// Options bound a log.
type Options struct {
	Limit int64 // bytes kept; the head is freed by punching holes, offsets stay. 0: no bound

	// Committed is an offset that the log is known to have reached, as when the
	// terminal was resized. NULs after it that a program wrote last are taken for
	// the preallocated tail after a crash. An offset after the end of the file is
	// ignored.
	Committed int64
}

// Open opens or creates the log at path. After a crash its end is the last
// byte that is not NUL.
func Open(path string, o Options) (*Log, error) {
	return open(path, o, sparse.System())
}

func open(path string, o Options, d sparse.Disk) (*Log, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open log %s: %w", path, store.Cause(err))
	}
	l := &Log{f: f, disk: d, limit: max(o.Limit, 0), size: minWindow, placed: time.Now()}
	if err := l.recover(o.Committed); err != nil {
		return nil, fmt.Errorf("open log %s: %w", path, errors.Join(err, f.Close()))
	}
	return l, nil
}

// recover finds start and end in the file.
func (l *Log) recover(committed int64) error {
	info, err := l.f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("not a regular file")
	}
	data, err := sparse.DataRanges(l.f, l.disk, info.Size())
	if err != nil {
		return err
	}
	end, err := sparse.LastByte(l.f, data)
	if err != nil {
		return err
	}
	if committed <= info.Size() {
		end = max(end, committed)
	}
	start := end
	if len(data) > 0 {
		start = min(end, data[0].From)
	}
	l.start.Store(start)
	l.end.Store(end)
	return nil
}

// Start and End are the absolute offsets of the first byte kept and behind the
// last one.
func (l *Log) Start() int64 { return l.start.Load() }
func (l *Log) End() int64   { return l.end.Load() }

// Bounded reports whether the log stays within its limit. It does not where
// the file system cannot free the head of a file.
func (l *Log) Bounded() bool { return !l.unbounded.Load() }

// ReadAt copies committed bytes from absolute offset off; io.EOF at the end,
// ErrDropped before Start. Any goroutine may call it while another one appends.
func (l *Log) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fmt.Errorf("read log %s: negative offset %d", l.f.Name(), off)
	}
	if off < l.Start() {
		return 0, l.dropped(off)
	}
	var short error
	if rest := max(l.End()-off, 0); int64(len(p)) > rest {
		p, short = p[:rest], io.EOF
	}
	n, err := l.f.ReadAt(p, off)
	if err != nil && err != io.EOF {
		return n, fmt.Errorf("read log %s: %w", l.f.Name(), store.Cause(err))
	}
	// The head may have been freed meanwhile, and NUL read for what was there.
	if off < l.Start() {
		return 0, l.dropped(off)
	}
	if err == nil {
		err = short
	}
	return n, err
}

func (l *Log) dropped(off int64) error {
	return fmt.Errorf("read log %s at %d, which starts at %d: %w", l.f.Name(), off, l.Start(), sparse.ErrDropped)
}

// Close unmaps, cuts the preallocated tail off and closes the file. The last
// Space must not be in use any more.
func (l *Log) Close() error {
	if l.closed {
		return nil
	}
	l.closed = true
	if err := errors.Join(l.trim(), l.f.Close()); err != nil {
		return fmt.Errorf("close log %s: %w", l.f.Name(), err)
	}
	return nil
}

// Finish gives back what was allocated ahead, so that whoever reads the file
// finds the log and nothing behind it. It is for the one who writes; Space
// allocates again.
func (l *Log) Finish() error {
	if l.closed {
		return nil
	}
	if err := l.trim(); err != nil {
		return fmt.Errorf("finish log %s: %w", l.f.Name(), err)
	}
	return nil
}

// trim ends the window and the file where the log ends.
func (l *Log) trim() error {
	err := l.flush()
	if !l.plain && l.window != nil {
		err = errors.Join(err, l.disk.Unmap(l.window))
	}
	l.window, l.space = nil, 0
	if info, statErr := l.f.Stat(); statErr != nil || info.Size() > l.End() {
		err = errors.Join(err, statErr, l.f.Truncate(l.End()))
	}
	return err
}
