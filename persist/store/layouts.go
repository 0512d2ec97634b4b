package store

import (
	"encoding/json"

	"tandem/persist/datadir"
)

// Layouts holds the layouts of the dashboard, in the format of the API.
type Layouts struct {
	Schema  int                        `json:"schema"`
	Current json.RawMessage            `json:"current,omitempty"`
	Saved   map[string]json.RawMessage `json:"saved,omitempty"` // by name

	Revision int64 `json:"revision,omitempty"` // of Current; 0 in files from older releases
}

// SaveLayouts replaces layouts.json. It does not wait for the disk, so a power failure may restore
// an earlier version.
func (s *Store) SaveLayouts(l Layouts) error {
	l.Schema = SchemaVersion
	return s.saveShared("layouts", datadir.Layouts, false, l)
}

// LoadLayouts reads the layouts. A missing file counts as empty. It sets a damaged file aside as
// layouts.json.bad and returns an error.
func (s *Store) LoadLayouts() (l Layouts, err error) {
	if err = s.loadShared("layouts", datadir.Layouts, &l); err != nil {
		return Layouts{}, err
	}
	return l, nil
}
