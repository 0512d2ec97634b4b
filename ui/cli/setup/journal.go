package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"tandem/persist/datadir"
	"tandem/persist/regular"
)

// An undoRecord is a change to a file made by Tandem 0.2.0, which replaced Before by After. It recorded
// its changes in a JSON object of undoRecords by path; that of hooks has the prefix hooksRecord.
type undoRecord struct {
	Before []byte `json:"before,omitempty"`
	After  []byte `json:"after,omitempty"`
}

const hooksRecord = "hooks in "

// originalText returns the file's text without the change that Tandem 0.2.0 recorded under key, keeping
// the user's later edits elsewhere. ok is false if there is no such change, or if it was edited.
func (m Machine) originalText(p *Plan, key string) (text []byte, ok bool, err error) {
	file := filepath.Join(m.DataDir, datadir.AgentSetup)
	all := map[string]undoRecord{}
	recorded, err := regular.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(recorded, &all)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, false, fmt.Errorf("read record of settings %s: %w", file, err)
	}
	u := all[key]
	if len(u.After) == 0 || bytes.Count(p.before, u.After) != 1 {
		return nil, false, nil
	}
	text = bytes.Replace(p.before, u.After, u.Before, 1)
	// The user's edits around the change may depend on it, on a comma for example.
	_, err = p.parse(text)
	return text, err == nil, nil
}
