package store

import (
	"encoding/json"

	"tandem/persist/datadir"
)

// Layouts holds the arrangement of terminals, in the client's own format.
type Layouts struct {
	Schema  int                        `json:"schema"`
	Current json.RawMessage            `json:"current,omitempty"`
	Earlier []json.RawMessage          `json:"former,omitempty"` // earlier ones than Current, newest first
	Saved   map[string]json.RawMessage `json:"saved,omitempty"`  // by name

	Revision int64 `json:"revision,omitempty"` // of Current; 0 in files from older releases
}

// SaveLayouts replaces layouts.json. It does not wait for the disk: a power failure may restore an
// earlier version.
func (s *Store) SaveLayouts(l Layouts) error {
	l.Schema = SchemaVersion
	return s.saveShared("layouts", datadir.Layouts, false, l)
}

// LoadLayouts reads the layouts, which are empty without a file. It sets a damaged file aside as
// layouts.json.bad and returns an error.
func (s *Store) LoadLayouts() (l Layouts, err error) {
	if err = s.loadShared("layouts", datadir.Layouts, &l); err != nil {
		return Layouts{}, err
	}
	return l, nil
}
