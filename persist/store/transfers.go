package store

import (
	"time"

	"tandem/persist/datadir"
)

// A Transfer is the state of a transfer of files, for reports by a later engine.
type Transfer struct {
	ID      string      `json:"id"`
	Kind    string      `json:"kind"`
	Owner   string      `json:"owner,omitempty"` // agent that began it
	State   string      `json:"state"`           // the State of an api.FileJob
	Error   string      `json:"error,omitempty"`
	Bytes   int64       `json:"bytes,omitempty"`
	Total   int64       `json:"total,omitempty"`
	Handled int         `json:"handled,omitempty"` // items finished or skipped
	Skipped int         `json:"skipped,omitempty"`
	Done    []MovedFile `json:"done,omitempty"`  // the first finished items
	Temps   []string    `json:"temps,omitempty"` // hidden incomplete copies, with their machines
	Ended   time.Time   `json:"ended,omitzero"`
}

// A MovedFile is a finished item of a Transfer.
type MovedFile struct {
	Path     string `json:"path"`
	To       string `json:"to,omitempty"`
	Replaced string `json:"replaced,omitempty"`
}

type transfersFile struct {
	Schema    int        `json:"schema"`
	Transfers []Transfer `json:"transfers"`
}

// SaveTransfers replaces transfers.json. It does not wait for the disk, so a power failure may
// restore an earlier version.
func (s *Store) SaveTransfers(all []Transfer) error {
	return s.saveShared("transfers", datadir.Transfers, false, transfersFile{SchemaVersion, all})
}

// LoadTransfers reads the transfers of earlier engines. It sets a damaged file aside as
// transfers.json.bad and returns an error.
func (s *Store) LoadTransfers() ([]Transfer, error) {
	var f transfersFile
	if err := s.loadShared("transfers", datadir.Transfers, &f); err != nil {
		return nil, err
	}
	return f.Transfers, nil
}
