package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"

	"tandem/persist/datadir"
	"tandem/persist/regular"
)

// recordFileName is the file in the data directory with the changes made to
// settings, for undoing them. It is a JSON object of undoRecords by key.
const recordFileName = datadir.AgentSetup

// An undoRecord is a change to a file: setup replaced Before by After.
type undoRecord struct {
	Before     []byte `json:"before,omitempty"`
	After      []byte `json:"after,omitempty"`
	Created    bool   `json:"created,omitempty"` // setup created the file
	CreatedDir string `json:"made,omitempty"`    // the outermost directory created for it
}

// nextUndo returns the record of the planned change, from the original text where it
// is known. It is zero if nothing remains to undo, or if After would not be unique.
func (p *Plan) nextUndo() undoRecord {
	base := p.before
	u := undoRecord{Created: !p.exists}
	if original, ok := p.originalText(); ok {
		base, u.Created, u.CreatedDir = original, p.undo.Created, p.undo.CreatedDir
	}
	if bytes.Equal(base, p.after) {
		return undoRecord{}
	}
	from, to := commonEnds(base, p.after)
	u.Before, u.After = base[from:len(base)-to], p.after[from:len(p.after)-to]
	// Undoing looks for After in the text; it must be there exactly once.
	if len(u.After) == 0 || bytes.Count(p.after, u.After) != 1 {
		return undoRecord{}
	}
	return u
}

func readRecords(file string) (map[string]undoRecord, error) {
	all := map[string]undoRecord{}
	text, err := regular.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("read record of settings %s: %w", file, err)
	}
	return all, nil
}

// findUndo returns the change recorded under key in file, or nil if there is none.
func findUndo(file, key string) (*undoRecord, error) {
	all, err := readRecords(file)
	if u, known := all[key]; known {
		return &u, err
	}
	return nil, err
}

// saveUndo records u under key in file. A u without After deletes the record.
func saveUndo(file, key string, u undoRecord) error {
	all, err := readRecords(file)
	if err != nil {
		return err
	}
	delete(all, key)
	if len(u.After) > 0 {
		all[key] = u
	}
	text, err := json.MarshalIndent(all, "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o700)
	}
	if err == nil {
		err = renameio.WriteFile(file, text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("write record of settings: %w", err)
	}
	return nil
}
