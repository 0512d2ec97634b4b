package store

import (
	"errors"
	"fmt"
	"io/fs"
	"time"
)

const exitName = "exit.json"

// Exit describes how a process ended. The keeper writes it as exit.json.
type Exit struct {
	Schema   int       `json:"schema"`
	Identity Identity  `json:"identity"`
	Code     *int      `json:"code"`             // nil if a signal killed the process or the status is unknown
	Signal   string    `json:"signal,omitempty"` // "SIGKILL"
	Unknown  bool      `json:"unknown,omitempty"`
	ExitedAt time.Time `json:"exited_at"`
}

// Exit reads the last exit of a process. ok is false if there is none. If an exit file has no
// result, Exit returns an error, never an exit status.
func (s *Store) Exit(id string) (e Exit, ok bool, err error) {
	path, err := s.pathOf(id, exitName)
	if err != nil {
		return Exit{}, false, err
	}
	b, err := readBounded(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Exit{}, false, nil
	}
	if err != nil {
		return Exit{}, false, fmt.Errorf("read exit %s: %w", path, Cause(err))
	}
	if e, err = decodeExit(b); err != nil {
		return Exit{}, false, fmt.Errorf("read exit %s: %w", path, err)
	}
	return e, true, nil
}

func decodeExit(b []byte) (Exit, error) {
	var e Exit
	if err := decodeSchema(b, &e); err != nil {
		return Exit{}, err
	}
	// Missing fields must not be read as exit status 0.
	if e.Code == nil && e.Signal == "" && !e.Unknown {
		return Exit{}, errors.New("it has no code and no signal")
	}
	return e, nil
}
