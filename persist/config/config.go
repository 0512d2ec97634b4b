// Package config reads, checks, follows and changes config.toml. Callers apply the settings.
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"tandem/persist/config/settings"
	"tandem/persist/diag"
	"tandem/persist/regular"
	"tandem/persist/trust"
)

// Path returns the path of config.toml: in $TANDEM_CONFIG_DIR, or else in the folder tandem of
// $XDG_CONFIG_HOME or ~/.config.
func Path() (string, error) {
	if dir := os.Getenv("TANDEM_CONFIG_DIR"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "config.toml"), nil
	}
	dir, err := configDir()
	if err != nil {
		return "", fmt.Errorf("find configuration folder: %w", err)
	}
	return filepath.Join(dir, "tandem", "config.toml"), nil
}

// configDir returns the user's configuration directory. A relative XDG_CONFIG_HOME counts as
// unset, as the XDG Base Directory Specification requires.
func configDir() (string, error) {
	if dir := os.Getenv("XDG_CONFIG_HOME"); dir == "" || filepath.IsAbs(dir) {
		return os.UserConfigDir()
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".config"), err
}

// Load reads config.toml. A missing file counts as empty. If it returns an error, the result is the
// defaults.
func Load() (settings.Config, error) { return new(File).Load() }

// readConfig returns the content of a configuration file, or nothing if it does not exist. It
// rejects a file that other users may have written.
func readConfig(path string) ([]byte, error) {
	text, err := regular.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	if err := trust.File(path); err != nil {
		return nil, fmt.Errorf("read configuration: %s: %w", path, err)
	}
	return diag.TrimBOM(text), nil
}

// Parse decodes the content of config.toml. Keys not set there have their defaults. The error is a
// *mistakes with all mistakes in the order of lines, including unknown keys.
func Parse(text []byte) (settings.Config, error) {
	text = diag.TrimBOM(text)
	wrong := &mistakes{text: text, readable: text}
	c := decodeConfig(text, wrong)
	c.Check(wrong.add)
	if err := wrong.asError(); err != nil {
		return afterMistake(c), err
	}
	return c, nil
}

// afterMistake returns the settings used if there is a mistake in the file, of which c is the readable
// part: the defaults, and the table for the history.
func afterMistake(c settings.Config) settings.Config {
	d := settings.Defaults()
	d.History = c.History.AfterMistake()
	return d
}

// ReplacedKeys returns a line for each default key that a configuration uses for another action.
func ReplacedKeys(text []byte) (notes []string) {
	c, err := Parse(text)
	if err != nil {
		return nil
	}
	bindings, err := c.Bindings()
	if err != nil {
		return nil
	}
	for _, r := range bindings.Replaced() {
		notes = append(notes, fmt.Sprintf("%s: used for %s, no longer for %s", r.Key, r.Now, r.Former))
	}
	return notes
}

// AgentRules returns the directory of the user's rules for coding agents,
// $XDG_CONFIG_HOME/tandem/agents.
func AgentRules() string {
	path, err := Path()
	if err != nil {
		return ""
	}
	return filepath.Join(filepath.Dir(path), "agents")
}

// PolicyPath returns the path of policy.toml, in the directory of config.toml.
func PolicyPath() string {
	path, err := Path()
	if err != nil {
		return ""
	}
	return filepath.Join(filepath.Dir(path), "policy.toml")
}
