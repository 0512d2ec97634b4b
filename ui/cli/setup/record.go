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
)

// recordName is the file in the data folder that tells what was done to which
// settings, so that it can be undone.
const recordName = datadir.AgentSetup

// An undo is what was done to a file: where After stands now, Before stood.
type undo struct {
	Before  []byte `json:"before,omitempty"`
	After   []byte `json:"after,omitempty"`
	Created bool   `json:"created,omitempty"` // the file was not there
	Made    string `json:"made,omitempty"`    // the first of the folders that were made for it
}

// next is what has been done to the file once the plan is carried out; the zero
// value if nothing.
func (p *Plan) next() undo {
	base := p.before
	u := undo{Created: !p.there}
	if back, ok := p.reverted(); ok {
		base, u.Created, u.Made = back, p.undo.Created, p.undo.Made
	}
	if bytes.Equal(base, p.after) {
		return undo{}
	}
	from, to := common(base, p.after)
	u.Before, u.After = base[from:len(base)-to], p.after[from:len(p.after)-to]
	if len(u.After) == 0 || bytes.Count(p.after, u.After) != 1 {
		return undo{}
	}
	return u
}

func readRecords(file string) (map[string]undo, error) {
	all := map[string]undo{}
	text, err := os.ReadFile(file)
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

// recorded is what was done to a file of settings; nil if nothing.
func recorded(file, path string) (*undo, error) {
	all, err := readRecords(file)
	if u, known := all[path]; known {
		return &u, err
	}
	return nil, err
}

// record keeps what has been done to a file of settings.
func record(file, path string, u undo) error {
	all, err := readRecords(file)
	if err != nil {
		return err
	}
	delete(all, path)
	if len(u.After) > 0 {
		all[path] = u
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
