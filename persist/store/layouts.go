package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

const layoutsName = "layouts.json"

// Layouts are how terminals are laid out, as whoever shows them writes it down.
type Layouts struct {
	Schema  int                        `json:"schema"`
	Current json.RawMessage            `json:"current,omitempty"`
	Saved   map[string]json.RawMessage `json:"saved,omitempty"` // by name
}

// SaveLayouts replaces layouts.json. It does not wait for the disk: after a loss
// of power an earlier one may be there.
func (s *Store) SaveLayouts(l Layouts) error {
	path := filepath.Join(s.dir, layoutsName)
	l.Schema = SchemaVersion
	b, err := json.Marshal(l)
	if err == nil {
		err = replaceFile(path, false, append(b, '\n'))
	}
	if err != nil {
		return fmt.Errorf("save layouts %s: %w", path, err)
	}
	return nil
}

// LoadLayouts reads the layouts; without a file there are none. A damaged file
// is set aside as layouts.json.bad and is an error.
func (s *Store) LoadLayouts() (l Layouts, err error) {
	path := filepath.Join(s.dir, layoutsName)
	err = loadFile(path, func(b []byte) error { return decodeSchema(b, &l) })
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Layouts{}, fmt.Errorf("load layouts %s: %w", path, err)
	}
	return l, nil
}
