package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Create writes a configuration with every default in comments, unless there is one already.
// It returns the file's path.
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
	return changeFile("write "+name, func(text string, c *Config) string {
		set(c)
		return withValue(text, name, inTOML(value))
	})
}
