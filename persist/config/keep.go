package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"tandem/persist/config/settings"
)

// Create writes a configuration file with all defaults as comments, unless the file exists. It
// returns the file's path.
func Create() (path string, err error) {
	path, err = Path()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return path, fmt.Errorf("write configuration: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return path, nil
	}
	if err != nil {
		return path, fmt.Errorf("write configuration: %w", err)
	}
	_, err = f.WriteString(Default())
	if err = errors.Join(err, f.Close()); err != nil {
		return path, fmt.Errorf("write configuration: %w", err)
	}
	return path, nil
}

// KeepTheme writes the theme to the configuration. It leaves the rest of the file unchanged, and
// returns its path.
func KeepTheme(name string) (path string, err error) {
	return keepString("theme", name, func(c *settings.Config) { c.Theme = name })
}

// KeepPrefix writes the prefix key to the configuration, like KeepTheme.
func KeepPrefix(key string) (path string, err error) {
	return keepString("prefix", key, func(c *settings.Config) { c.Prefix = key })
}

// keepString writes a string to the configuration. set makes the same change to the decoded
// configuration, so the result can be verified.
func keepString(name, value string, set func(*settings.Config)) (path string, err error) {
	return changeFile("write "+name, func(text string, c *settings.Config) string {
		set(c)
		return withValue(text, name, settings.TOML(value))
	})
}
