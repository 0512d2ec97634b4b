package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"tandem/persist/config/settings"
	"tandem/persist/datadir"
)

// ErrWithdrawn is returned if config.toml used to set agents.sandbox, and is now empty or missing.
// An editor may be just saving it, so agents must stay in their sandbox.
var ErrWithdrawn = errors.New(`agents.sandbox was set, but the file is now empty or missing; restore it, or set sandbox = "" under [agents] for none`)

// LoadAgents is Load for callers that sandbox agents. If the file sets agents.sandbox, it leaves a
// note in the data directory dir. While there is a note, an empty or missing file is reported as
// ErrWithdrawn.
func LoadAgents(dir string) (settings.Config, error) {
	var f File
	c, err := f.Load()
	if err != nil || dir == "" {
		return c, err
	}
	if err := noteSandbox(filepath.Join(dir, datadir.Sandboxed), c.Agents.Sandbox != "", f.text); err != nil {
		return settings.Defaults(), fmt.Errorf("%s: %w", f.path, err)
	}
	return c, nil
}

// noteSandbox creates the note at path if the configuration confines agents, and otherwise removes
// it. If there is a note but text is blank, it returns ErrWithdrawn.
func noteSandbox(path string, confined bool, text []byte) error {
	_, err := os.Lstat(path)
	noted := !errors.Is(err, fs.ErrNotExist)
	switch {
	case confined && !noted:
		err = os.WriteFile(path, nil, 0o600)
	case confined, !noted:
		return nil
	case isBlank(text):
		return ErrWithdrawn
	default:
		err = os.Remove(path)
	}
	if errors.Is(err, fs.ErrNotExist) { // another process was faster, or the engine has not created the directory yet
		return nil
	}
	return err
}

// isBlank reports whether a configuration contains only comments.
func isBlank(text []byte) bool {
	for line := range bytes.Lines(text) {
		if !isIdle(line) {
			return false
		}
	}
	return true
}
