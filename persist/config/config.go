// Package config is config.toml: what it may say, what is wrong with it, and the
// file as it changes. It decides nothing: main hands what it says on.
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

// Config is what config.toml may say. Every key is optional; zero values mean
// the default that the package which uses them documents. What each key is for
// is told to the person by Settings.
type Config struct {
	Theme      string   `toml:"theme"`       // "auto" or the name of a theme
	ThemeDark  string   `toml:"theme_dark"`  // of "auto" on a dark background
	ThemeLight string   `toml:"theme_light"` // of "auto" on a light one
	Background *bool    `toml:"background"`  // the theme's own is painted; default false
	Mouse      *bool    `toml:"mouse"`       // the dashboard takes the mouse; default true
	Pictures   string   `toml:"pictures"`    // "auto", "kitty", "sixel", "blocks" or "off"
	Clipboard  *bool    `toml:"clipboard"`   // programs may write to the clipboard; default true
	Icons      *bool    `toml:"icons"`       // files have icons; default false
	OpenWith   []string `toml:"open_with"`   // command lines that files can be opened with
	Tips       *bool    `toml:"tips"`        // the line for newcomers; default true
	Tabs       *bool    `toml:"tabs"`        // a bar of the tabs above the panes; default true

	Preset     string              `toml:"preset"`      // name of a set of keys
	Prefix     string              `toml:"prefix"`      // the prefix key
	DirectKeys *bool               `toml:"direct_keys"` // alt+1…4 and alt+arrows without the prefix
	CopyKeys   string              `toml:"copy_keys"`   // "vi" or "emacs": keys of scroll and copy mode
	Keys       map[string][]string `toml:"keys"`        // action = keys

	Shell            []string `toml:"shell"`             // argv of new sessions
	ShellIntegration *bool    `toml:"shell_integration"` // interactive shells are made to mark their prompts; default true
	Emulator         string   `toml:"emulator"`          // "native" or "vt10x"
	Scrollback       int      `toml:"scrollback"`        // lines a session
	LogLimit         int64    `toml:"log_limit"`         // bytes kept of a session's output
	ProcessLogLimit  int64    `toml:"process_log_limit"` // bytes kept of the log of what has no terminal

	Attach    Attach    `toml:"attach"`
	History   History   `toml:"history"`
	Attention Attention `toml:"attention"`
	Agents    Agents    `toml:"agents"` // defaults for agents

	Fleet    Fleet              `toml:"fleet"`
	Machines map[string]Machine `toml:"machines"` // by name
}

// Attach is the table attach: a terminal that is a session.
type Attach struct {
	Predict string `toml:"predict"` // "auto", "always" or "off"
}

// Path returns config.toml in $TANDEM_CONFIG_DIR, or in tandem in $XDG_CONFIG_HOME or ~/.config.
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

// Load reads config.toml; a file that is not there is an empty one.
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

// readConfig is the text of a configuration; none, if no such file.
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

// Parse decodes config.toml. Its error is a *mistakes: all that is wrong,
// in the order of lines; a key that does not exist is one of them.
func Parse(text []byte) (Config, error) {
	text = diag.TrimBOM(text)
	wrong := &mistakes{text: text}
	c := decodeConfig(text, wrong)
	c.check(wrong)
	if err := wrong.found(); err != nil {
		return Config{}, err
	}
	return c, nil
}

// parseDuration reads a time that a key may have; 0 is none.
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

// check looks for values that make no sense.
func (c Config) check(wrong *mistakes) {
	choice := func(key, value string, from ...string) {
		if value != "" && !slices.Contains(from, value) {
			says := "want " + strings.Join(from, ", ")
			if like := diag.Nearest(value, from); like != "" {
				says = "did you mean " + strconv.Quote(like) + "?"
			}
			wrong.at(key, "unknown %s %q; %s", strings.ReplaceAll(key, "_", " "), value, says)
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
		wrong.at("scrollback", "scrollback = %d: must be 0 or more lines", c.Scrollback)
	}
	if c.LogLimit != 0 && c.LogLimit < 1<<20 {
		wrong.at("log_limit", "log_limit = %d: must be at least %d bytes", c.LogLimit, 1<<20)
	}
	if c.ProcessLogLimit != 0 && c.ProcessLogLimit < 64<<10 {
		wrong.at("process_log_limit", "process_log_limit = %d: must be at least %d bytes", c.ProcessLogLimit, 64<<10)
	}
	if len(c.Shell) > 0 && c.Shell[0] == "" {
		wrong.at("shell", "shell: must have a program before its arguments")
	}
	c.Agents.check(wrong)
	c.History.check(wrong)
	c.Attention.check(wrong)
	c.checkKeys(wrong)
	c.checkMachines(wrong)
	c.Fleet.check(wrong)
}

// NoClipboard says whether programs are kept from the clipboard.
func (c Config) NoClipboard() bool { return c.Clipboard != nil && !*c.Clipboard }
