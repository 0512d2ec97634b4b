package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"tandem/persist/datadir"
)

// ErrWithdrawn is the fault of a config.toml that set agents.sandbox and is now empty or gone.
// An editor may be saving it, so agents must not run without a sandbox because of it.
var ErrWithdrawn = errors.New(`it set agents.sandbox and is now empty or missing; write it again, or [agents] and sandbox = "" for none`)

// LoadAgents is Load for whoever confines agents. A note in dir, the data folder, says that the
// last file with any text set agents.sandbox; one without any then gives ErrWithdrawn.
func LoadAgents(dir string) (Config, error) {
	path, err := Path()
	if err != nil {
		return Config{}, err
	}
	text, err := readConfig(path)
	if err != nil {
		return Config{}, err
	}
	c, err := Parse(text)
	if err == nil && dir != "" {
		err = noteSandbox(filepath.Join(dir, datadir.Sandboxed), c.Agents.Sandbox != "", text)
	}
	if err != nil {
		return Config{}, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// noteSandbox keeps the note at path of a configuration that is set to confine agents or not.
func noteSandbox(path string, confined bool, text []byte) error {
	_, err := os.Lstat(path)
	noted := !errors.Is(err, fs.ErrNotExist)
	switch {
	case confined && !noted:
		err = os.WriteFile(path, nil, 0o600)
	case confined, !noted:
		return nil
	case saysNothing(text):
		return ErrWithdrawn
	default:
		err = os.Remove(path)
	}
	if errors.Is(err, fs.ErrNotExist) { // another process was faster, or the engine has yet to make the folder
		return nil
	}
	return err
}

// saysNothing reports whether a configuration has only comments.
func saysNothing(text []byte) bool {
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return false
		}
	}
	return true
}
