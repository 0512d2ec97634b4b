// Package settings defines the settings in config.toml, with their defaults, documentation and
// rules. It reads no file: package config does.
package settings

import (
	"slices"
	"strconv"
	"strings"

	"tandem/persist/diag"
)

// Config is the decoded content of config.toml, on top of Defaults. All documents each key.
type Config struct {
	Dashboard
	Keyboard
	Engine

	History  History            `toml:"history"`
	Agents   Agents             `toml:"agents"`
	Fleet    Fleet              `toml:"fleet"`
	Machines map[string]Machine `toml:"machines"` // by name
}

// Defaults returns the settings of an empty file.
func Defaults() Config {
	return Config{Dashboard: dashboardDefaults(), Keyboard: keyboardDefaults(), Engine: engineDefaults(), History: historyDefaults(), Agents: agentDefaults()}
}

// A Report is called with a mistake in the value of a key such as "theme" or "agents.sandbox". If a
// part of the key contains a dot, the parts are joined by \x00 instead.
type Report func(key, format string, args ...any)

// Check reports invalid values.
func (c Config) Check(report Report) {
	c.Dashboard.check(report)
	c.Keyboard.check(report)
	c.Engine.check(report)
	c.History.check(report)
	c.Agents.check(report)
	c.Fleet.check(report)
	c.checkMachines(report)
}

// unknown reports value as a mistake unless it is one of the known values.
func (report Report) unknown(key, value string, known ...string) {
	if slices.Contains(known, value) {
		return
	}
	message := "must be one of " + strings.Join(known, ", ")
	if like := diag.Nearest(value, known); like != "" {
		message = "did you mean " + strconv.Quote(like) + "?"
	}
	report(key, "unknown %s %q; %s", strings.ReplaceAll(key, "_", " "), value, message)
}
