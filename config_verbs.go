package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"tandem/engine/policy"
	"tandem/ui/cli"
)

// configVerbs is what the command line can do with the configuration.
func configVerbs() cli.Config {
	return cli.Config{
		Path:    configPath,
		Default: defaultConfig,
		Check: func(text []byte) error {
			_, err := parseConfig(text)
			return err
		},
		Effective: func(text []byte) (string, map[string]any, error) {
			c, err := parseConfig(text)
			return c.effective(), c.values(), err
		},
		Policy: policyPath(),
		CheckPolicy: func(text []byte) error {
			_, err := policy.Parse(text)
			return err
		},
	}
}

// keepTheme writes the theme into the configuration and leaves the rest of the
// file as it is. It returns the file's path.
func keepTheme(name string) (path string, err error) {
	path, err = configPath()
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
	before, err := parseConfig(text)
	if err != nil {
		return path, fmt.Errorf("write theme: %s has a mistake already; `tandem config check` shows it", path)
	}
	changed := withValue(string(text), "theme", inTOML(name))
	after, err := parseConfig([]byte(changed))
	before.Theme = name
	if err != nil || before.effective() != after.effective() {
		return path, fmt.Errorf("write theme: %s is written in a way that only you can change", path)
	}
	return path, replaceFile(path, changed)
}

// replaceFile writes a file anew so that nobody ever sees a part of it.
func replaceFile(path, text string) error {
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("write configuration: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".config-*.toml")
	if err != nil {
		return fmt.Errorf("write configuration: %w", err)
	}
	_, err = f.WriteString(text)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("write configuration: %w", err)
	}
	return nil
}
