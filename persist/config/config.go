// Package config reads, checks, follows and changes config.toml. Callers apply the settings.
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"tandem/keys/keymap"
	"tandem/persist/diag"
	"tandem/persist/trust"
	"tandem/themes"
)

// Config is the content of config.toml. All keys are optional; a zero value selects the default
// documented by the package that uses it. Settings documents each key for the user.
type Config struct {
	Theme      string   `toml:"theme"`       // "auto" or the name of a theme
	ThemeDark  string   `toml:"theme_dark"`  // theme for "auto" on a dark background
	ThemeLight string   `toml:"theme_light"` // theme for "auto" on a light background
	Background *bool    `toml:"background"`  // paint the theme's own background; default false
	Mouse      *bool    `toml:"mouse"`       // handle the mouse in the dashboard; default true
	Pictures   string   `toml:"pictures"`    // "auto", "kitty", "sixel", "blocks" or "off"
	Clipboard  *bool    `toml:"clipboard"`   // programs may write to the clipboard; default true
	Icons      *bool    `toml:"icons"`       // show file icons; default false
	OpenWith   []string `toml:"open_with"`   // commands to open files with
	Tips       *bool    `toml:"tips"`        // show tips to newcomers; default true
	Tabs       *bool    `toml:"tabs"`        // show a tab bar above the panes; default true

	Preset     string              `toml:"preset"`      // name of a set of key bindings
	Prefix     string              `toml:"prefix"`      // the prefix key
	DirectKeys *bool               `toml:"direct_keys"` // alt+1…4 and alt+arrows without the prefix
	CopyKeys   string              `toml:"copy_keys"`   // "vi" or "emacs": keys of scroll and copy mode
	Keys       map[string][]string `toml:"keys"`        // keys by action

	Shell            []string `toml:"shell"`             // argv of new sessions
	ShellIntegration *bool    `toml:"shell_integration"` // make interactive shells mark their prompts; default true
	Emulator         string   `toml:"emulator"`          // "native" or "vt10x"
	Scrollback       int      `toml:"scrollback"`        // lines of scrollback per session
	LogLimit         int64    `toml:"log_limit"`         // bytes kept of a session's output
	ProcessLogLimit  int64    `toml:"process_log_limit"` // bytes kept of the log of a process without a terminal

	Attach    Attach    `toml:"attach"`
	History   History   `toml:"history"`
	Attention Attention `toml:"attention"`
	Agents    Agents    `toml:"agents"` // defaults for agents

	Fleet    Fleet              `toml:"fleet"`
	Machines map[string]Machine `toml:"machines"` // by name
}

// Attach is the table [attach], for a terminal that shows a single session.
type Attach struct {
	Predict string `toml:"predict"` // "auto", "always" or "off"
}

// Path returns the path of config.toml: in $TANDEM_CONFIG_DIR, else in tandem in $XDG_CONFIG_HOME
// or ~/.config.
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

// Load reads config.toml. A missing file counts as empty.
func Load() (Config, error) {
	path, err := Path()
	if err != nil {
		return Config{}, err
	}
	text, err := readConfig(path)
	if err != nil {
		return Config{}, err
	}
	c, err := Parse(text)
	if err != nil {
		return Config{}, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// readConfig returns the content of a configuration, or nothing if the file does not exist. It rejects a
// file that other users may have written.
func readConfig(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	if err := trust.File(path); err != nil {
		return nil, fmt.Errorf("read configuration: %s: %w", path, err)
	}
	return diag.TrimBOM(text), nil
}

// Parse decodes config.toml. Its error is a *mistakes with all mistakes, unknown keys included, in
// the order of lines.
func Parse(text []byte) (Config, error) {
	text = diag.TrimBOM(text)
	wrong := &mistakes{text: text}
	c := decodeConfig(text, wrong)
	c.check(wrong)
	if err := wrong.asError(); err != nil {
		return Config{}, err
	}
	return c, nil
}

// parseDuration parses the duration of a key; "" means 0.
func parseDuration(key, text, example string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%s = %q: must be a duration such as %s", key, text, example)
	}
	return d, nil
}

// check reports invalid values to wrong.
func (c Config) check(wrong *mistakes) {
	choice := func(key, value string, from ...string) {
		if value != "" && !slices.Contains(from, value) {
			message := "must be one of " + strings.Join(from, ", ")
			if like := diag.Nearest(value, from); like != "" {
				message = "did you mean " + strconv.Quote(like) + "?"
			}
			wrong.add(key, "unknown %s %q; %s", strings.ReplaceAll(key, "_", " "), value, message)
		}
	}
	choice("theme", c.Theme, append([]string{"auto"}, themes.Names()...)...)
	choice("theme_dark", c.ThemeDark, themes.Names()...)
	choice("theme_light", c.ThemeLight, themes.Names()...)
	choice("pictures", c.Pictures, "auto", "kitty", "sixel", "blocks", "off")
	choice("emulator", c.Emulator, "native", "vt10x")
	choice("copy_keys", c.CopyKeys, "vi", "emacs")
	choice("attach.predict", c.Attach.Predict, "auto", "always", "off")
	choice("preset", c.Preset, keymap.Presets()...)
	if c.Scrollback < 0 {
		wrong.add("scrollback", "scrollback = %d: must be 0 or more lines", c.Scrollback)
	}
	if c.LogLimit != 0 && c.LogLimit < 1<<20 {
		wrong.add("log_limit", "log_limit = %d: must be at least %d bytes", c.LogLimit, 1<<20)
	}
	if c.ProcessLogLimit != 0 && c.ProcessLogLimit < 64<<10 {
		wrong.add("process_log_limit", "process_log_limit = %d: must be at least %d bytes", c.ProcessLogLimit, 64<<10)
	}
	if len(c.Shell) > 0 && c.Shell[0] == "" {
		wrong.add("shell", "shell: must have a program before its arguments")
	}
	c.Agents.check(wrong)
	c.History.check(wrong)
	c.Attention.check(wrong)
	c.checkKeys(wrong)
	c.checkMachines(wrong)
	c.Fleet.check(wrong)
}

// NoClipboard reports whether programs may not write to the clipboard.
func (c Config) NoClipboard() bool { return c.Clipboard != nil && !*c.Clipboard }
