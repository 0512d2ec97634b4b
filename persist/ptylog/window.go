package ptylog

import (
	"errors"
	"fmt"
	"os"
	"time"

	"tandem/persist/sparse"
	"tandem/persist/store"
)

const (
	// A window is the mapped and preallocated part of the file. It grows while output is fast and
	// shrinks otherwise, so an idle log uses little disk and memory. Still larger windows would not
	// be faster.
	minWindow = 64 << 10
	maxWindow = 256 << 10

	// fastWindow is how quickly a window must fill up for the next one to be larger.
	fastWindow = time.Second
)

// Space returns a writable part of the mapping after the end of the log, at least min bytes long.
// min is at most MaxSpace; a small one uses more of each window. The slice is valid until the next
// Space or Close. Bytes written there survive a crash even before Commit.
//
// If the disk is full, Space returns an error, and can be called again. Writing to the slice never
// faults. A read into it fails with EFAULT if another process truncates the file meanwhile, or the
// disk becomes read-only; see DropWindow.
func (l *Log) Space(min int) ([]byte, error) {
	l.space = 0
	s, err := l.makeSpace(min)
	if err != nil {
		return nil, fmt.Errorf("append to log %s: %w", l.f.Name(), err)
	}
	l.space = len(s)
	return s, nil
}

func (l *Log) makeSpace(needed int) ([]byte, error) {
	if l.closed {
		return nil, os.ErrClosed
	}
	if needed < 0 || needed > MaxSpace {
		return nil, fmt.Errorf("request space of %d bytes: must be 0 to %d", needed, MaxSpace)
	}
	needed = max(needed, 1)
	ok, err := l.hasRoom(needed)
	if err != nil {
		return nil, err
	}
	if !ok && !l.plain {
		err = l.placeWindow(needed)
	}
	if l.plain {
		l.placeBuffer()
	}
	if err != nil {
		return nil, err
	}
	return l.window[l.End()-l.base:], nil
}

// Commit appends the first n bytes of the last Space to the log, and returns how many it appended.
// If the file system cannot preallocate, these may be fewer, with an error. Commit panics if n is
// more than the length of the Space.
func (l *Log) Commit(n int) (int, error) {
	if n < 0 || n > l.space {
		panic(fmt.Sprintf("persist: commit of %d bytes, the space has %d", n, l.space))
	}
	l.space = 0
	var err error
	if l.plain {
		from := l.End() - l.base
		if n, err = l.f.WriteAt(l.window[from:from+int64(n)], l.End()); err != nil {
			err = fmt.Errorf("append to log %s: %w", l.f.Name(), store.Cause(err))
		}
	}
	l.end.Add(int64(n))
	return n, err
}

// DropWindow unmaps the window after a read into it has failed with EFAULT. The next Space maps a
// new one, or returns an error if it cannot.
func (l *Log) DropWindow() error {
	if l.plain || l.window == nil {
		return nil
	}
	old := l.window
	l.window, l.space = nil, 0
	return l.disk.Unmap(old)
}

// hasRoom reports whether the window has room for the needed number of bytes, and the file is still
// at least as long as the window.
func (l *Log) hasRoom(needed int) (bool, error) {
	if l.plain || l.window == nil {
		return false, nil
	}
	size, err := l.disk.Size(l.f)
	if err != nil {
		return false, err
	}
	// Writing to a mapping beyond the end of its file raises SIGBUS.
	if size < l.base+int64(len(l.window)) {
		l.noteCut(size)
		return false, nil
	}
	return l.End()+int64(needed) <= l.base+int64(len(l.window)), nil
}

// noteCut records that another process has truncated the file to size bytes. The missing bytes are
// read as NUL, because offsets must not decrease. If all bytes are missing, they count as dropped.
func (l *Log) noteCut(size int64) {
	if size <= l.Start() {
		l.start.Store(l.End())
	}
}

// placeWindow preallocates and maps a window with room for at least the needed number of bytes. If
// the file system does not support that, the log uses plain writes from then on.
func (l *Log) placeWindow(needed int) error {
	l.dropHead()
	page := int64(os.Getpagesize())
	base := l.End() &^ (page - 1)
	need := (l.End() - base + int64(needed) + page - 1) &^ (page - 1)
	// Four times as much as needed, so a caller with large spaces uses most of the window.
	size := max(l.nextSize(), 4*need)
	err := l.disk.Allocate(l.f, base, size)
	if errors.Is(err, sparse.ErrDiskFull) && size > need {
		size = need
		err = l.disk.Allocate(l.f, base, size)
	}
	var window []byte
	if err == nil {
		window, err = l.disk.MapRange(l.f, base, int(size))
	}
	if errors.Is(err, errors.ErrUnsupported) {
		l.plain = true
	} else if err != nil {
		return err
	}
	old := l.window
	l.window, l.base = window, base
	if old != nil {
		return l.disk.Unmap(old)
	}
	return nil
}

// nextSize returns the size of the next window, depending on how quickly the last one filled up.
func (l *Log) nextSize() int64 {
	now := time.Now()
	took := now.Sub(l.placed)
	l.placed = now
	switch {
	case l.window == nil:
	case took < fastWindow:
		l.size = min(2*l.size, maxWindow)
	default:
		l.size = max(l.size/2, minWindow)
	}
	return int64(l.size)
}

// placeBuffer moves the buffer for plain writes to the end of the log.
func (l *Log) placeBuffer() {
	if l.window == nil {
		l.window = make([]byte, MaxSpace)
	}
	l.base = l.End()
	l.dropHead()
}

// dropHead frees the start of a log that exceeds its limit. It does so in large steps, because a
// hole for every few bytes would cost more than it saves.
func (l *Log) dropHead() {
	if l.limit == 0 || l.noPunch {
		return
	}
	start := l.Start()
	if l.End()-start <= l.limit+sparse.Excess(l.limit) {
		return
	}
	page := int64(os.Getpagesize())
	to := (l.End() - l.limit) &^ (page - 1)
	from := start &^ (page - 1)
	// Move the start before making the hole, so a reader of the hole's NULs can detect it.
	l.start.Store(to)
	err := l.disk.Punch(l.f, from, to-from)
	if err != nil {
		l.start.Store(start)
	}
	l.noPunch = errors.Is(err, errors.ErrUnsupported)
	l.unbounded.Store(err != nil)
}
