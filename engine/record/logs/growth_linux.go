package logs

import (
	"encoding/binary"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// newGrowth watches files with inotify(7). If the user has too many instances, it polls instead. It
// has an instance of its own, because the goroutine of package inotify wakes for each burst of
// events. During a flood, occasional reads are enough.
func newGrowth() growth {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return newPollOnly()
	}
	// The kernel merges consecutive events for the same file.
	return &inotify{f: os.NewFile(uintptr(fd), "inotify"), fd: fd, events: make([]byte, 4096)}
}

// inotify implements growth with inotify(7). Its file is registered with the runtime's poller, so a
// deadline can interrupt a wait.
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
	return unix.InotifyAddWatch(w.fd, path, unix.IN_MODIFY|unix.IN_ATTRIB)
}

// remove ignores errors, because they mean that the file was deleted and is no longer watched.
func (w *inotify) remove(id int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.ended {
		_, _ = unix.InotifyRmWatch(w.fd, uint32(id))
	}
}

func (w *inotify) wait(until time.Time) (ids, gone []int, all bool) {
	if !w.arm(until) {
		return nil, nil, false
	}
	n, err := w.f.Read(w.events)
	w.mu.Lock()
	w.woken = false
	w.mu.Unlock()
	if err != nil {
		return nil, nil, false
	}
	return parseEvents(w.events[:n])
}

// arm sets the deadline for a wait. It returns false if wake was called already.
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
		_ = w.f.SetReadDeadline(time.Unix(1, 0)) // an error means it is closed, which ends the wait too
	}
}

func (w *inotify) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	w.f.Close()
}

// parseEvents returns the watches in a buffer of events. gone are those whose file may have been
// deleted. all is set if the kernel's queue overflowed.
func parseEvents(p []byte) (ids, gone []int, all bool) {
	for len(p) >= unix.SizeofInotifyEvent {
		id, mask := int32(binary.NativeEndian.Uint32(p)), binary.NativeEndian.Uint32(p[4:])
		name := int(binary.NativeEndian.Uint32(p[12:]))
		if mask&unix.IN_Q_OVERFLOW != 0 {
			all = true
		}
		if mask&unix.IN_MODIFY != 0 {
			ids = append(ids, int(id))
		}
		// Deleting a file changes its number of links, which is an attribute. The watch lasts while
		// the file is open.
		if mask&(unix.IN_ATTRIB|unix.IN_IGNORED) != 0 {
			gone = append(gone, int(id))
		}
		p = p[min(unix.SizeofInotifyEvent+name, len(p)):]
	}
	return ids, gone, all
}
