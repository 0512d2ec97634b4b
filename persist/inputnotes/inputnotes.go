// Package inputnotes notes how far the input of each viewer of a session has reached its terminal, in
// a mapping that outlives a crash of the engine.
package inputnotes

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"tandem/persist/sparse"
)

// capacity is how many viewers' input is noted for each session.
const capacity = 64

// A Note says how far the input of one viewer of a session has reached the terminal. Messages
// are numbered from 1. It is written before and after each write to the terminal, so that the engine
// after a crash knows what may have been written. Its fields are independent: no two change at once.
type Note struct {
	viewer [16]byte // from the viewer's name; zero if the note is free

	Connected atomic.Int64  // time of the viewer's last connection, in nanoseconds since 1970
	Begun     atomic.Uint64 // number of the last message that may have been written, even in part
	Done      atomic.Uint64 // number of the last message written or discarded
	Paste     atomic.Uint32 // 1 while the terminal may have the start of a bracketed paste of this viewer and not its end
	Cut       atomic.Uint32 // 1 if the engine has ended that paste for the viewer
	_         [64 - 16 - 4*8]byte
}

// Notes are those of one session.
type Notes struct {
	all  *[capacity]Note
	page []byte // the mapping of all; nil if the notes are only in memory
}

// New returns notes in memory, for when the file cannot be mapped.
func New() *Notes { return &Notes{all: new([capacity]Note)} }

// Open opens or creates the file of notes. Close must follow after the last use of a note.
func Open(path string) (*Notes, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	const size = int64(unsafe.Sizeof([capacity]Note{}))
	disk := sparse.System()
	// A write to a page without room on the disk would be a fault.
	err = disk.Allocate(f, 0, size)
	var page []byte
	if err == nil {
		page, err = disk.MapRange(f, 0, int(size))
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return &Notes{all: (*[capacity]Note)(unsafe.Pointer(&page[0])), page: page}, nil
}

// Close releases the mapping.
func (n *Notes) Close() error {
	if n.page == nil {
		return nil
	}
	return sparse.System().Unmap(n.page)
}

// Find returns the note of a viewer; known is false if it is new. That replaces the note of the
// viewer not connected for longest among those that are not busy; nil if all are.
func (n *Notes) Find(viewer string, busy func(*Note) bool) (note *Note, known bool) {
	sum := sha256.Sum256([]byte(viewer))
	key := [16]byte(sum[:])
	for i := range n.all {
		switch at := &n.all[i]; {
		case at.viewer == key:
			return at, true
		case busy(at):
		case note == nil || at.Connected.Load() < note.Connected.Load():
			note = at
		}
	}
	if note != nil {
		*note = Note{viewer: key}
	}
	return note, false
}

// Pasting returns the note with an unfinished paste; nil if there is none.
func (n *Notes) Pasting() *Note {
	for i := range n.all {
		if n.all[i].Paste.Load() != 0 {
			return &n.all[i]
		}
	}
	return nil
}
