package store

import (
	"time"

	"tandem/persist/datadir"
)

// An Interruption is the end of a session by a reboot or crash. Its values are immutable.
type Interruption struct {
	By        string    `json:"by"` // "reboot" or "crash"
	At        time.Time `json:"at"`
	LastSign  time.Time `json:"last_sign,omitzero"`  // last sign of life of the engine before it
	Folder    string    `json:"folder,omitempty"`    // last one on this machine, if known
	Program   string    `json:"program,omitempty"`   // command line that ran; "" at the prompt, or if unknown
	Dismissed bool      `json:"dismissed,omitempty"` // not to be offered again
}

// A LastEngine describes the engine that ran last, for the next one.
type LastEngine struct {
	Schema    int       `json:"schema"`
	Keeper    Identity  `json:"keeper"`              // the keeper it started with
	StoppedAt time.Time `json:"stopped_at,omitzero"` // when it was told to exit
}

// SaveLastEngine replaces the description of the last engine. It does not wait for the disk.
func (s *Store) SaveLastEngine(e LastEngine) error {
	e.Schema = SchemaVersion
	return s.saveShared("description of this engine", datadir.LastEngine, false, e)
}

// LoadLastEngine returns the description of the last engine. It is zero if there is none.
func (s *Store) LoadLastEngine() (e LastEngine, err error) {
	err = s.loadShared("description of the last engine", datadir.LastEngine, &e)
	return e, err
}

// These say how the command in Terminal.Typed is typed: left for the user to run, or followed by
// Enter.
const (
	TypingInsert = "insert"
	TypingRun    = "run"
)
