// Package inputnotes records how much of the input of each viewer of a session has reached the
// terminal. The notes are in a mapped file, so they outlive a crash of the engine.
package inputnotes

import (
	"crypto/sha256"
	"errors"
	"os"
	"runtime/debug"
	"unsafe"

	"golang.org/x/sys/unix"

	"tandem/persist/sparse"
)

// capacity is how many viewers of a session have a note.
const capacity = 64

// A Note says how much of the input of one viewer has reached the terminal. Messages are numbered
// from 1. Save the note before and after each write to the terminal. Then the next engine knows,
// after a crash, which input may have been written.
type Note struct {
	State
	saved *State // in the mapping; nil without one
}

// A State is the part of a note that is saved.
type State struct {
	viewer [16]byte // from the viewer's name; zero if the note is free

	Connected int64  // time of the viewer's last connection, in nanoseconds since 1970
	Begun     uint64 // number of the last message that may have been written, even in part
	Done      uint64 // number of the last message written or discarded
	Paste     bool   // the terminal may have the start of a bracketed paste of this viewer and not its end
	Cut       bool   // the engine has ended that paste for the viewer
	_         [6]byte
	Part      uint64 // bytes of message Begun written before the engine stopped; 0 if unknown
	_         [64 - 16 - 5*8]byte
}

// Save saves the note for the next engine. If the file was truncated, or its disk became read-only,
// the note is only in memory from then on.
func (n *Note) Save() {
	if n.saved != nil && guard(func() { *n.saved = n.State }) != nil {
		n.saved = nil
	}
}

// guard calls f, which accesses a mapping. It returns EFAULT if a page of the file is missing.
func guard(f func()) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if recover() != nil {
			err = unix.EFAULT
		}
	}()
	f()
	return nil
}

// Notes are the notes of one session. They are not safe for concurrent use.
type Notes struct {
	all  [capacity]Note
	page []byte // the mapping; nil if the notes are only in memory
}

// New returns notes that are only in memory, for a file that cannot be mapped.
func New() *Notes { return new(Notes) }

// Open opens the file of notes, or creates it. Notes must not be saved after Close.
func Open(path string) (*Notes, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	const size = int(unsafe.Sizeof([capacity]State{}))
	disk := sparse.System()
	// Without room on the disk, a write to the mapping would be a fault.
	err = disk.Allocate(f, 0, int64(size))
	n := new(Notes)
	if err == nil {
		n.page, err = disk.MapRange(f, 0, size)
	}
	if err == nil {
		saved := (*[capacity]State)(unsafe.Pointer(&n.page[0]))
		err = guard(func() {
			for i := range n.all {
				n.all[i] = Note{saved[i], &saved[i]}
			}
		})
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return n, nil
}

// Close releases the mapping.
func (n *Notes) Close() error {
	if n.page == nil {
		return nil
	}
	return sparse.System().Unmap(n.page)
}

// Find returns the note of a viewer. If the viewer is new, known is false, and the note replaces
// the one connected longest ago. A note is not replaced if busy returns true for it. If no note can
// be replaced, Find returns nil.
func (n *Notes) Find(viewer string, busy func(*Note) bool) (note *Note, known bool) {
	sum := sha256.Sum256([]byte(viewer))
	key := [16]byte(sum[:])
	for i := range n.all {
		switch at := &n.all[i]; {
		case at.viewer == key:
			return at, true
		case busy(at):
		case note == nil || at.Connected < note.Connected:
			note = at
		}
	}
	if note != nil {
		note.State = State{viewer: key}
		note.Save()
	}
	return note, false
}

// DropParts forgets messages written in part, because their rest belongs to a program that has
// exited.
func (n *Notes) DropParts() {
	for i := range n.all {
		if note := &n.all[i]; note.Part > 0 {
			note.Part = 0
			note.Save()
		}
	}
}

// Pasting returns the note with an unfinished paste, or nil.
func (n *Notes) Pasting() *Note {
	for i := range n.all {
		if n.all[i].Paste {
			return &n.all[i]
		}
	}
	return nil
}
