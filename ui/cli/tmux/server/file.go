package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// A File is where a server is kept between calls. Whoever has it open has it alone, as tmux does
// one command at a time.
type File struct {
	*State
	path string
	lock *flock.Flock
	was  []byte
}

// Open waits for the server at a path to be free, and takes it.
func Open(path string) (*File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("open server: %w", err)
	}
	f := &File{path: path, lock: flock.New(path+".lock", flock.SetPermissions(0o600)), State: &State{}}
	if err := f.Take(); err != nil {
		return nil, err
	}
	return f, nil
}

// Take takes a server that was let go, and reads what it is now.
func (f *File) Take() error {
	if err := f.lock.Lock(); err != nil {
		return fmt.Errorf("open server: %w", err)
	}
	text, err := os.ReadFile(f.path + ".json")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(fmt.Errorf("open server: %w", err), f.lock.Unlock())
	}
	state := State{Path: f.path}
	if err == nil {
		if err := json.Unmarshal(text, &state); err != nil { // half of nothing is no server
			state = State{Path: f.path}
		}
	}
	f.was, *f.State = text, state
	return nil
}

// Release keeps what was changed and lets others have the server.
func (f *File) Release() error {
	text, err := json.Marshal(f.State)
	if err == nil && string(text) != string(f.was) {
		temporary := f.path + ".new"
		if err = os.WriteFile(temporary, text, 0o600); err == nil {
			err = os.Rename(temporary, f.path+".json")
		}
		f.was = text
	}
	if err != nil {
		err = fmt.Errorf("keep server: %w", err)
	}
	return errors.Join(err, f.lock.Unlock())
}

// Leave lets others have the server, which has not changed.
func (f *File) Leave() error { return f.lock.Unlock() }
