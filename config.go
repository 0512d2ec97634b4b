package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"tandem/keys"
	"tandem/themes"
)

// Config is what config.toml may say. Every key is optional; zero values mean
// the default that the package which uses them documents.
type Config struct {
	Shell      []string            `toml:"shell"`       // argv of new sessions
	Emulator   string              `toml:"emulator"`    // "native" or "vt10x"
	Scrollback int                 `toml:"scrollback"`  // lines a session
	LogLimit   int64               `toml:"log_limit"`   // bytes kept of a session's output
	Theme      string              `toml:"theme"`       // "auto" or the name of a theme
	ThemeDark  string              `toml:"theme_dark"`  // of "auto" on a dark background
	ThemeLight string              `toml:"theme_light"` // of "auto" on a light one
	DirectKeys *bool               `toml:"direct_keys"` // alt+1…4 and alt+arrows without the prefix
	CopyKeys   string              `toml:"copy_keys"`   // "vi" or "emacs": keys of scroll and copy mode
	Keys       map[string][]string `toml:"keys"`        // action = keys
	History    HistoryConfig       `toml:"history"`

	ShellIntegration *bool `toml:"shell_integration"` // interactive shells are made to mark their prompts; default true

	ProcessLogLimit int64 `toml:"process_log_limit"` // bytes kept of the log of what has no terminal

	Agents AgentsConfig `toml:"agents"` // defaults for agents
}

// configPath is $XDG_CONFIG_HOME/tandem/config.toml.
func configPath() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("find configuration folder: %w", err)
	}
	return filepath.Join(dir, "tandem", "config.toml"), nil
}

// loadConfig reads config.toml; a file that is not there is an empty one.
func loadConfig() (Config, error) {
	path, err := configPath()
	if err != nil {
		return Config{}, err
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Config{}, nil
	}
	if err != nil {
		return Config{}, fmt.Errorf("read configuration: %w", err)
	}
	c, err := parseConfig(text)
	if err != nil {
		return Config{}, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// parseConfig decodes config.toml. Its errors show the line with a caret under
// what is wrong; a key that does not exist is one of them.
func parseConfig(text []byte) (Config, error) {
	var c Config
	decoder := toml.NewDecoder(strings.NewReader(string(text))).DisallowUnknownFields()
	if err := decoder.Decode(&c); err != nil {
		return Config{}, explainTOML(err)
	}
	return c, c.check()
}

func explainTOML(err error) error {
	var unknown *toml.StrictMissingError
	if errors.As(err, &unknown) {
		line, _ := unknown.Errors[0].Position()
		return fmt.Errorf("line %d: no such key\n%s", line, unknown.Errors[0].String())
	}
	var wrong *toml.DecodeError
	if errors.As(err, &wrong) {
		line, _ := wrong.Position()
		return fmt.Errorf("line %d\n%s", line, wrong.String())
	}
	return err
}

func (c Config) check() error {
	switch c.Emulator {
	case "", "native", "vt10x":
	default:
		return fmt.Errorf(`emulator = %q: want "native" or "vt10x"`, c.Emulator)
	}
	switch c.CopyKeys {
	case "", "vi", "emacs":
	default:
		return fmt.Errorf(`copy_keys = %q: want "vi" or "emacs"`, c.CopyKeys)
	}
	if c.Scrollback < 0 {
		return fmt.Errorf("scrollback = %d: want 0 or more lines", c.Scrollback)
	}
	if c.LogLimit != 0 && c.LogLimit < 1<<20 {
		return fmt.Errorf("log_limit = %d: want at least %d bytes", c.LogLimit, 1<<20)
	}
	if c.ProcessLogLimit != 0 && c.ProcessLogLimit < 64<<10 {
		return fmt.Errorf("process_log_limit = %d: want at least %d bytes", c.ProcessLogLimit, 64<<10)
	}
	for key, name := range map[string]string{"theme": c.Theme, "theme_dark": c.ThemeDark, "theme_light": c.ThemeLight} {
		if name == "" || name == "auto" && key == "theme" {
			continue
		}
		if _, err := themes.ByName(name, true); err != nil {
			return fmt.Errorf("%s = %q: %w", key, name, err)
		}
	}
	if err := c.Agents.check(); err != nil {
		return fmt.Errorf("[agents]: %w", err)
	}
	if err := c.History.check(); err != nil {
		return fmt.Errorf("[history]: %w", err)
	}
	if _, err := c.bindings(); err != nil {
		return fmt.Errorf("[keys]: %w", err)
	}
	return nil
}

// bindings are the catalogue's with the configured changes.
func (c Config) bindings() (keys.Bindings, error) {
	changes := make(map[keys.Action][]string, len(c.Keys))
	for action, names := range c.Keys {
		changes[keys.Action(action)] = names
	}
	bindings := keys.DefaultBindings()
	if c.CopyKeys == "emacs" {
		bindings = bindings.EmacsCopy()
	}
	bindings, err := bindings.Rebind(changes)
	if err != nil {
		return keys.Bindings{}, err
	}
	if c.DirectKeys != nil && !*c.DirectKeys {
		bindings = bindings.WithoutDirect()
	}
	return bindings, nil
}
