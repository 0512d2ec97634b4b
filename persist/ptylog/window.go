package ptylog

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"tandem/persist/sparse"
	"tandem/persist/store"
)

const (
	// A window is the mapped and preallocated part of the file. It grows while
	// output comes fast and shrinks when it does not, so that an idle log holds
	// little of disk and memory. Larger ones than these append no faster.
	minWindow = 64 << 10
	maxWindow = 256 << 10

	// fastWindow is how soon a window must be full for the next to be larger.
	fastWindow = time.Second
)

// Space returns a writable part of the mapping behind the end, at least min
// bytes long (min ≤ MaxSpace; the smaller it is, the more of a window gets
// used). It is valid until the next Space or Close. What is written there is
// safe from a crash even before Commit. Disk full is an error here and never a
// fault; Space can be tried again. Should somebody cut the file while a read
// into the space waits, that read fails with EFAULT, and Space makes new room.
func (l *Log) Space(min int) ([]byte, error) {
	l.space = 0
	s, err := l.makeSpace(min)
	if err != nil {
		return nil, fmt.Errorf("append to log %s: %w", l.f.Name(), err)
	}
	l.space = len(s)
	return s, nil
}

func (l *Log) makeSpace(least int) ([]byte, error) {
	if l.closed {
		return nil, os.ErrClosed
	}
	if least < 0 || least > MaxSpace {
		return nil, fmt.Errorf("space of %d bytes was asked for, there are 0 to %d", least, MaxSpace)
	}
	least = max(least, 1)
	ok, err := l.fits(least)
	if err != nil {
		return nil, err
	}
	if !ok && !l.plain {
		err = l.placeWindow(least)
	}
	if l.plain {
		err = l.placeBuffer()
	}
	if err != nil {
		return nil, err
	}
	return l.window[l.End()-l.base:], nil
}

// Commit makes the first n bytes of the last Space part of the log. More than
// it held is a mistake of the caller's and panics.
func (l *Log) Commit(n int) {
	if n < 0 || n > l.space {
		panic(fmt.Sprintf("persist: commit of %d bytes, the space has %d", n, l.space))
	}
	l.space = 0
	if !l.plain {
		l.end.Add(int64(n))
		return
	}
	l.pending = n
	// An error comes back with the next Space: the bytes are kept until then.
	_ = l.flush()
}

// fits reports whether the window has least bytes behind the end and the file
// is still long enough to carry it.
func (l *Log) fits(least int) (bool, error) {
	if l.plain || l.window == nil {
		return false, nil
	}
	size, err := l.disk.Size(l.f)
	if err != nil {
		return false, err
	}
	if size < l.base+int64(len(l.window)) {
		l.noteCut(size)
		return false, nil
	}
	return l.End()+int64(least) <= l.base+int64(len(l.window)), nil
}

// noteCut takes note that somebody has cut the file to size bytes. What is
// gone reads as NUL, because offsets must go on; if all is, it counts as
// dropped.
func (l *Log) noteCut(size int64) {
	if size <= l.Start() {
		l.start.Store(l.End())
	}
}

// placeWindow maps and preallocates a window that has at least least bytes
// behind the end. It switches to plain writes where that cannot be had.
func (l *Log) placeWindow(least int) error {
	l.dropHead()
	page := int64(os.Getpagesize())
	base := l.End() &^ (page - 1)
	need := (l.End() - base + int64(least) + page - 1) &^ (page - 1)
	size := max(l.nextSize(), 4*need) // of which a caller with large spaces uses most
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

// nextSize is the size of the next window, by how soon the last one was full.
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

// placeBuffer makes the buffer of plain mode start at the end of the log.
func (l *Log) placeBuffer() error {
	if err := l.flush(); err != nil {
		return err
	}
	if l.window == nil {
		l.window = make([]byte, MaxSpace)
	}
	l.base = l.End()
	l.dropHead()
	return nil
}

// flush writes what plain mode has committed. What could not be written stays
// pending, and the end moves only over what was.
func (l *Log) flush() error {
	for l.pending > 0 {
		from := l.End() - l.base
		n, err := l.f.WriteAt(l.window[from:from+int64(l.pending)], l.End())
		l.pending -= n
		l.end.Add(int64(n))
		if err != nil {
			return store.Cause(err)
		}
		if n == 0 {
			return io.ErrShortWrite
		}
	}
	return nil
}

// dropHead frees the head of a log that has outgrown its limit, in steps: a
// hole for every few bytes would cost more than it gives.
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
	// Moved first, so that a reader that got NUL from the hole can tell.
	l.start.Store(to)
	err := l.disk.Punch(l.f, from, to-from)
	if err != nil {
		l.start.Store(start)
	}
	l.noPunch = errors.Is(err, errors.ErrUnsupported)
	l.unbounded.Store(err != nil)
}
