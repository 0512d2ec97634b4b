// Package inotify watches files and folders through one instance of inotify(7) for the whole
// process. By default, the kernel grants each user only 128 instances for all programs.
package inotify

import (
	"encoding/binary"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// These are the events of a folder: changes of its entries, and its own deletion or move.
const (
	Entries = unix.IN_CREATE | unix.IN_DELETE | unix.IN_MODIFY | unix.IN_ATTRIB | unix.IN_MOVED_FROM | unix.IN_MOVED_TO
	Gone    = unix.IN_DELETE_SELF | unix.IN_MOVE_SELF
)

// A Pool makes watchers that share one inotify instance. The zero value is ready to use.
type Pool struct {
	// changing is held while watches are added or removed, which may have to wait for a network
	// folder. mu is held only briefly. Lock changing before mu.
	changing sync.Mutex
	mu       sync.Mutex
	current  *instance // nil without watchers
}

// An instance is an inotify instance, open as long as it has watchers.
type instance struct {
	pool   *Pool
	events *os.File
	fd     int
	refs   int
	byID   map[int32]map[*Watcher]watch // by watch descriptor
}

// A watch is what a watcher wants to know of a file.
type watch struct {
	path string
	mask uint32
}

// A Watcher signals events at any of its paths. Its methods are safe for concurrent use.
type Watcher struct {
	in      *instance     // nil once closed
	pool    *Pool         // that in belongs to
	changes chan struct{} // has room for one
}

// New returns a watcher without paths. It returns an error if the user has too many inotify
// instances.
func (p *Pool) New() (*Watcher, error) {
	p.changing.Lock()
	defer p.changing.Unlock()
	if p.current == nil {
		fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
		if err != nil {
			return nil, os.NewSyscallError("inotify_init1", err)
		}
		p.current = &instance{pool: p, events: os.NewFile(uintptr(fd), "inotify"), fd: fd, byID: map[int32]map[*Watcher]watch{}}
		go p.current.read()
	}
	p.current.refs++
	return &Watcher{in: p.current, pool: p, changes: make(chan struct{}, 1)}, nil
}

// Add watches a path for the events in mask, as in inotify_add_watch(2). If a path is added again,
// it is watched for both masks. Add returns an error if there is no such file, or the user has too
// many watches.
func (w *Watcher) Add(path string, mask uint32) error {
	w.pool.changing.Lock()
	defer w.pool.changing.Unlock()
	if w.in == nil {
		return os.ErrClosed
	}
	// Add to the mask, because another watcher may watch the same file for other events.
	id, err := unix.InotifyAddWatch(w.in.fd, path, mask|unix.IN_MASK_ADD)
	if err != nil {
		return &os.PathError{Op: "watch", Path: path, Err: err}
	}
	w.pool.mu.Lock()
	defer w.pool.mu.Unlock()
	if w.in.byID[int32(id)] == nil {
		w.in.byID[int32(id)] = map[*Watcher]watch{}
	}
	w.in.byID[int32(id)][w] = watch{path, mask | w.in.byID[int32(id)][w].mask}
	return nil
}

// Changes returns a channel that receives a value after one or more events.
func (w *Watcher) Changes() <-chan struct{} { return w.changes }

// Close ends the watches. Further calls have no effect.
func (w *Watcher) Close() {
	w.pool.changing.Lock()
	defer w.pool.changing.Unlock()
	in := w.in
	if in == nil {
		return
	}
	w.in = nil
	for id, others := range in.drop(w) {
		in.narrow(id, others)
	}
	if in.refs--; in.refs == 0 {
		w.pool.current = nil
		_ = in.events.Close()
	}
}

// drop removes a watcher. It returns the watches that other watchers still have on the same files.
func (in *instance) drop(w *Watcher) map[int32][]watch {
	in.pool.mu.Lock()
	defer in.pool.mu.Unlock()
	left := map[int32][]watch{}
	for id, watchers := range in.byID {
		if _, watched := watchers[w]; !watched {
			continue
		}
		delete(watchers, w)
		left[id] = nil
		for _, other := range watchers {
			left[id] = append(left[id], other)
		}
		if len(watchers) == 0 {
			delete(in.byID, id)
		}
	}
	return left
}

// narrow limits the watch of a file to the events in wanted. If there are none, it removes the
// watch.
func (in *instance) narrow(id int32, wanted []watch) {
	if len(wanted) == 0 {
		_, _ = unix.InotifyRmWatch(in.fd, uint32(id)) // it fails if the file was deleted
		return
	}
	mask := uint32(0)
	for _, one := range wanted {
		mask |= one.mask
	}
	for _, one := range wanted {
		now, err := unix.InotifyAddWatch(in.fd, one.path, mask)
		if err == nil && int32(now) == id {
			return
		}
		if err == nil && !in.knows(int32(now)) { // the path leads to another file by now
			_, _ = unix.InotifyRmWatch(in.fd, uint32(now))
		}
	}
}

func (in *instance) knows(id int32) bool {
	in.pool.mu.Lock()
	defer in.pool.mu.Unlock()
	return in.byID[id] != nil
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

// always are events that occur without being requested: a watch was lost, or events were.
const always = unix.IN_IGNORED | unix.IN_UNMOUNT

// signal passes events on to the watchers. inotify(7) describes their form.
func (in *instance) signal(events []byte) {
	in.pool.mu.Lock()
	defer in.pool.mu.Unlock()
	for len(events) >= unix.SizeofInotifyEvent {
		id, mask := int32(binary.NativeEndian.Uint32(events)), binary.NativeEndian.Uint32(events[4:])
		size := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(events[12:]))
		events = events[min(size, len(events)):]
		if mask&unix.IN_Q_OVERFLOW != 0 {
			for _, watchers := range in.byID {
				wake(watchers, ^uint32(0))
			}
		}
		wake(in.byID[id], mask)
		if mask&unix.IN_IGNORED != 0 { // the file is gone
			delete(in.byID, id)
		}
	}
}

func wake(watchers map[*Watcher]watch, event uint32) {
	for w, wanted := range watchers {
		if event&(wanted.mask|always) == 0 {
			continue
		}
		select {
		case w.changes <- struct{}{}:
		default:
		}
	}
}
