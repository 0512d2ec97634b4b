// Package inotify watches files and folders through one instance of inotify(7) for the whole process:
// the kernel grants each user 128 of them by default, for all programs.
package inotify

import (
	"encoding/binary"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// Events of a folder: the changes of its entries, and its own deletion or move.
const (
	Entries = unix.IN_CREATE | unix.IN_DELETE | unix.IN_MODIFY | unix.IN_ATTRIB | unix.IN_MOVED_FROM | unix.IN_MOVED_TO
	Gone    = unix.IN_DELETE_SELF | unix.IN_MOVE_SELF
)

// A Watcher signals events at any of its paths. Its methods are safe for concurrent use.
type Watcher struct {
	in      *instance
	changes chan struct{} // has room for one
}

// An instance is an inotify instance, open as long as it has watchers.
type instance struct {
	events *os.File
	fd     int
	refs   int
	byID   map[int32]map[*Watcher]bool // by watch descriptor
}

var (
	mu      sync.Mutex
	current *instance // nil without watchers
)

// New returns a watcher without paths. It fails if the user has too many instances.
func New() (*Watcher, error) {
	mu.Lock()
	defer mu.Unlock()
	if current == nil {
		fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
		if err != nil {
			return nil, os.NewSyscallError("inotify_init1", err)
		}
		current = &instance{events: os.NewFile(uintptr(fd), "inotify"), fd: fd, byID: map[int32]map[*Watcher]bool{}}
		go current.read()
	}
	current.refs++
	return &Watcher{in: current, changes: make(chan struct{}, 1)}, nil
}

// Add watches a path for events of a mask, as in inotify_add_watch(2); of other watchers' masks, too, if
// they watch the same file. A path added again is watched for both masks. Add fails if there is no such
// file, or the user has too many watches.
func (w *Watcher) Add(path string, mask uint32) error {
	mu.Lock()
	defer mu.Unlock()
	if w.in == nil {
		return os.ErrClosed
	}
	id, err := unix.InotifyAddWatch(w.in.fd, path, mask|unix.IN_MASK_ADD)
	if err != nil {
		return &os.PathError{Op: "watch", Path: path, Err: err}
	}
	if w.in.byID[int32(id)] == nil {
		w.in.byID[int32(id)] = map[*Watcher]bool{}
	}
	w.in.byID[int32(id)][w] = true
	return nil
}

// Changes returns a channel that signals one or more events.
func (w *Watcher) Changes() <-chan struct{} { return w.changes }

// Close ends the watches. Further calls have no effect.
func (w *Watcher) Close() {
	mu.Lock()
	defer mu.Unlock()
	in := w.in
	if in == nil {
		return
	}
	w.in = nil
	for id, watchers := range in.byID {
		if delete(watchers, w); len(watchers) == 0 {
			delete(in.byID, id)
			_, _ = unix.InotifyRmWatch(in.fd, uint32(id)) // it fails if the file was deleted
		}
	}
	if in.refs--; in.refs == 0 {
		current = nil
		_ = in.events.Close()
	}
}

// read signals events until the instance is closed.
func (in *instance) read() {
	buffer := make([]byte, 16<<10)
	for {
		n, err := in.events.Read(buffer)
		if err != nil {
			return
		}
		in.signal(buffer[:n])
	}
}

// signal passes on events, see inotify(7) for their form.
func (in *instance) signal(events []byte) {
	mu.Lock()
	defer mu.Unlock()
	for len(events) >= unix.SizeofInotifyEvent {
		id, mask := int32(binary.NativeEndian.Uint32(events)), binary.NativeEndian.Uint32(events[4:])
		size := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(events[12:]))
		events = events[min(size, len(events)):]
		if mask&unix.IN_Q_OVERFLOW != 0 {
			for _, watchers := range in.byID {
				wake(watchers)
			}
		}
		wake(in.byID[id])
		if mask&unix.IN_IGNORED != 0 { // the file is gone
			delete(in.byID, id)
		}
	}
}

func wake(watchers map[*Watcher]bool) {
	for w := range watchers {
		select {
		case w.changes <- struct{}{}:
		default:
		}
	}
}
