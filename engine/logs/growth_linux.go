package logs

import (
	"encoding/binary"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// newGrowth watches files by inotify(7), or none if there are too many
// instances of it. It is read here and not by fsnotify, whose goroutine wakes for
// each burst of events: during a flood nobody looks but once in a while.
func newGrowth() growth {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return newPollOnly()
	}
	// Several events of one file in a row are one in the kernel's queue.
	return &inotify{f: os.NewFile(uintptr(fd), "inotify"), fd: fd, events: make([]byte, 4096)}
}

// inotify is a growth. Its file waits in the runtime's poller; a deadline ends
// a wait.
type inotify struct {
	f      *os.File
	fd     int
	events []byte

	mu    sync.Mutex
	woken bool
	ended bool
}

func (w *inotify) add(path string) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return 0, os.ErrClosed
	}
	return unix.InotifyAddWatch(w.fd, path, unix.IN_MODIFY)
}

// remove fails only for a file that was deleted, and is not watched any more.
func (w *inotify) remove(id int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.ended {
		_, _ = unix.InotifyRmWatch(w.fd, uint32(id))
	}
}

func (w *inotify) wait(until time.Time) (ids []int, all bool) {
	if !w.arm(until) {
		return nil, false
	}
	n, err := w.f.Read(w.events)
	w.mu.Lock()
	w.woken = false
	w.mu.Unlock()
	if err != nil {
		return nil, false
	}
	return parseEvents(w.events[:n])
}

// arm sets when a wait ends, unless it has been ended already.
func (w *inotify) arm(until time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.woken {
		w.woken = false
		return false
	}
	return w.f.SetReadDeadline(until) == nil
}

func (w *inotify) wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.woken = true
	if !w.ended {
		_ = w.f.SetReadDeadline(time.Unix(1, 0)) // it is closed, which ends the wait too
	}
}

func (w *inotify) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	w.f.Close()
}

// parseEvents gives the watches that a buffer of events is about; all is
// whether there were more than the queue could hold.
func parseEvents(p []byte) (ids []int, all bool) {
	for len(p) >= unix.SizeofInotifyEvent {
		id, mask := int32(binary.NativeEndian.Uint32(p)), binary.NativeEndian.Uint32(p[4:])
		name := int(binary.NativeEndian.Uint32(p[12:]))
		if mask&unix.IN_Q_OVERFLOW != 0 {
			all = true
		}
		if mask&unix.IN_MODIFY != 0 {
			ids = append(ids, int(id))
		}
		p = p[min(unix.SizeofInotifyEvent+name, len(p)):]
	}
	return ids, all
}
