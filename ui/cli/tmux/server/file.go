package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"tandem/persist/regular"
)

// A File holds a server's state between calls. Its lock is exclusive: calls take turns, just as
// tmux runs one command at a time.
type File struct {
	*State
	path  string
	lock  *flock.Flock
	saved []byte // contents of the file on disk
}

// NewFile returns the server at path, unlocked and without its state.
func NewFile(path string) *File {
	return &File{path: path, lock: flock.New(path+".lock", flock.SetPermissions(0o600)), State: &State{Path: path}}
}

// Acquire locks the server, waiting for other calls to release it, and loads its state. A missing
// file is a server without sessions. Pointers into a state loaded before are stale afterwards, but
// State itself stays.
func (f *File) Acquire() error {
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return fmt.Errorf("open server: %w", err)
	}
	if err := f.lock.Lock(); err != nil {
		return fmt.Errorf("open server: %w", err)
	}
	text, err := regular.ReadFile(f.path + ".json")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(fmt.Errorf("open server: %w", err), f.lock.Unlock())
	}
	state := State{Path: f.path}
	if err == nil {
		// An unreadable file must not block every later call: start with an empty server.
		if err := json.Unmarshal(text, &state); err != nil {
			state = State{Path: f.path}
		}
	}
	f.saved, *f.State = text, state
	return nil
}

// Release writes the state if it changed and unlocks the server.
func (f *File) Release() error {
	text, err := json.Marshal(f.State)
	if err == nil && string(text) != string(f.saved) {
		// Rename replaces the file at once, so a crash cannot leave half of it.
		temporary := f.path + ".new"
		if err = os.WriteFile(temporary, text, 0o600); err == nil {
			err = os.Rename(temporary, f.path+".json")
		}
		f.saved = text
	}
	if err != nil {
		err = fmt.Errorf("keep server: %w", err)
	}
	return errors.Join(err, f.lock.Unlock())
}
