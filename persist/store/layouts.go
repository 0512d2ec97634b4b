package store

import (
	"encoding/json"

	"tandem/persist/datadir"
)

// Layouts are how terminals are laid out, as whoever shows them writes it down.
type Layouts struct {
	Schema  int                        `json:"schema"`
	Current json.RawMessage            `json:"current,omitempty"`
	Saved   map[string]json.RawMessage `json:"saved,omitempty"` // by name

	Revision int64 `json:"revision,omitempty"` // of Current; 0 in files from older releases
}

// SaveLayouts replaces layouts.json. It does not wait for the disk: after a loss
// of power an earlier one may be there.
func (s *Store) SaveLayouts(l Layouts) error {
	l.Schema = SchemaVersion
	return s.saveShared("layouts", datadir.Layouts, false, l)
}

// LoadLayouts reads the layouts; without a file there are none. A damaged file
// is set aside as layouts.json.bad and is an error.
func (s *Store) LoadLayouts() (l Layouts, err error) {
	if err = s.loadShared("layouts", datadir.Layouts, &l); err != nil {
		return Layouts{}, err
	}
	return l, nil
}
