package config

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// KeepTheme writes the theme into the configuration and leaves the rest of the
// file as it is. It returns the file's path.
func KeepTheme(name string) (path string, err error) {
	return keep("theme", name, func(c *Config) { c.Theme = name })
}

// KeepPrefix writes the prefix key into the configuration, as KeepTheme does the
// theme.
func KeepPrefix(key string) (path string, err error) {
	return keep("prefix", key, func(c *Config) { c.Prefix = key })
}

// keep writes a text; set is what that is to do.
func keep(name, value string, set func(*Config)) (path string, err error) {
	path, err = Path()
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // a file that lies elsewhere is changed there
	}
	text, err := readConfig(path)
	if err != nil {
		return path, err
	}
	before, err := Parse(text)
	if err != nil {
		return path, fmt.Errorf("write %s: %s has a mistake; `tandem config check` shows it", name, path)
	}
	changed := withValue(string(text), name, inTOML(value))
	after, err := Parse([]byte(changed))
	set(&before)
	if err != nil || before.Effective() != after.Effective() {
		return path, fmt.Errorf("write %s: set it in %s yourself; the file is written in a way that Tandem cannot change", name, path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return path, fmt.Errorf("write configuration: %w", err)
	}
	if err := renameio.WriteFile(path, []byte(changed), 0o644, renameio.WithExistingPermissions()); err != nil {
		return path, fmt.Errorf("write configuration: %w", err)
	}
	return path, nil
}
