// Package ptylog writes the log of a terminal through a mapping of the file, so output read from
// the PTY survives a crash.
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

// MaxSpace is the largest size that may be passed to Log.Space, in bytes.
const MaxSpace = 64 << 10

// A Log is the output of one terminal. The file is written through a shared mapping. A byte is in
// the page cache as soon as it was read from the PTY, so a crash of this process cannot lose it.
// One goroutine appends; any number of readers read committed bytes. If the file system cannot
// preallocate, the log uses plain writes.
//
// Only one Log may be open on a file at a time. Meanwhile the file is longer than the log, padded
// with NULs.
type Log struct {
	f     *os.File
	disk  sparse.Disk
	limit int64
	start atomic.Int64
	end   atomic.Int64

	unbounded atomic.Bool // the file system cannot free the head

	// The appender owns the remaining fields.
	window  []byte // a mapping from offset base on, or a heap buffer if plain
	base    int64
	space   int       // length of the slice the last Space returned
	size    int       // size of the next window
	placed  time.Time // when the window was mapped
	plain   bool      // no mapping: window is written to the file by Commit
	noPunch bool      // the file system cannot free the head
	closed  bool
}

type Options struct {
	Limit int64 // bytes kept, by punching holes into the head; 0 means all

	// Committed is an offset that the log is known to have reached, for example at a resize. After
	// a crash, NULs before it count as output, and NULs after it as preallocated space. It is
	// ignored if it is past the end of the file.
	Committed int64

	// Open opens the file at a path with the flags of os.OpenFile. If Open is nil, the file is on
	// disk.
	Open func(path string, flag int) (*os.File, error)
}

// Open opens the log at path, or creates it. After a crash, the log ends after its last byte that
// is not NUL.
func Open(path string, o Options) (*Log, error) {
	return open(path, o, sparse.System())
}

func open(path string, o Options, d sparse.Disk) (*Log, error) {
	if o.Open == nil {
		o.Open = func(path string, flag int) (*os.File, error) { return os.OpenFile(path, flag, 0o600) }
	}
	f, err := o.Open(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, fmt.Errorf("open log %s: %w", path, store.Cause(err))
	}
	l := &Log{f: f, disk: d, limit: max(o.Limit, 0), size: minWindow, placed: time.Now()}
	if err := l.recoverBounds(o.Committed); err != nil {
		return nil, fmt.Errorf("open log %s: %w", path, errors.Join(err, f.Close()))
	}
	return l, nil
}

// recoverBounds finds the start and end of the log in the file.
func (l *Log) recoverBounds(committed int64) error {
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

// Start returns the offset of the first byte kept, and End the offset after the last byte.
func (l *Log) Start() int64 { return l.start.Load() }
func (l *Log) End() int64   { return l.end.Load() }

// Bounded reports whether the size of the log is limited. It is false if the file system cannot
// free the start of a file.
func (l *Log) Bounded() bool { return !l.unbounded.Load() }

// ReadAt reads committed bytes at the absolute offset off. It returns io.EOF at the end, and
// ErrDropped before Start. It may be called while another goroutine appends.
func (l *Log) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, fmt.Errorf("read log %s: negative offset %d", l.f.Name(), off)
	}
	if off < l.Start() {
		return 0, l.errDropped(off)
	}
	var short error
	if rest := max(l.End()-off, 0); int64(len(p)) > rest {
		p, short = p[:rest], io.EOF
	}
	n, err := l.f.ReadAt(p, off)
	if err != nil && err != io.EOF {
		return n, fmt.Errorf("read log %s: %w", l.f.Name(), store.Cause(err))
	}
	// If the start was freed during the read, the read returned NULs.
	if off < l.Start() {
		return 0, l.errDropped(off)
	}
	if err == nil {
		err = short
	}
	return n, err
}

func (l *Log) errDropped(off int64) error {
	return fmt.Errorf("read log %s at %d, which starts at %d: %w", l.f.Name(), off, l.Start(), sparse.ErrDropped)
}

// Close unmaps the window, removes the preallocated space and closes the file. The slice returned
// by the last Space must not be used afterwards.
func (l *Log) Close() error {
	if l.closed {
		return nil
	}
	l.closed = true
	if err := errors.Join(l.truncateTail(), l.f.Close()); err != nil {
		return fmt.Errorf("close log %s: %w", l.f.Name(), err)
	}
	return nil
}

// Finish removes the preallocated space, so the file contains only the log. Only the appending
// goroutine may call it. The next Space preallocates again.
func (l *Log) Finish() error {
	if l.closed {
		return nil
	}
	if err := l.truncateTail(); err != nil {
		return fmt.Errorf("finish log %s: %w", l.f.Name(), err)
	}
	return nil
}

// truncateTail unmaps the window and truncates the file to the end of the log.
func (l *Log) truncateTail() error {
	err := l.DropWindow()
	l.window, l.space = nil, 0
	if info, statErr := l.f.Stat(); statErr != nil || info.Size() > l.End() {
		err = errors.Join(err, statErr, l.f.Truncate(l.End()))
	}
	return err
}
