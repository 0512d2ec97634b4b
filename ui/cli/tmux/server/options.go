package server

import (
	_ "embed"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Options are values by name, as they were set.
type Options map[string]string

// A Level is where an option is kept.
type Level string

const (
	LevelServer  Level = "server"
	LevelSession Level = "session"
	LevelWindow  Level = "window"
	LevelPane    Level = "pane" // and of a window, for those of its panes that have none
)

// Value is what an option is worth.
type Value string

// Int is the value as a number.
func (v Value) Int() int {
	n, _ := strconv.Atoi(string(v))
	return n
}

// On reports whether a switch is on.
func (v Value) On() bool { return v == "on" || v == "1" }

//go:embed options.txt
var optionsText string

// A Known is an option of tmux with its default.
type Known struct {
	Level   Level
	Name    string // with its index, where it has one
	Default string
}

// Table is tmux's options in its order.
var Table = sync.OnceValue(func() (table []Known) {
	for line := range strings.Lines(optionsText) {
		level, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		name, value, _ := strings.Cut(rest, " ")
		table = append(table, Known{Level(level), name, unquote(value)})
	}
	return table
})

// unquote reads a default as show-options prints it.
func unquote(text string) string {
	if text == "''" {
		return ""
	}
	if plain, err := strconv.Unquote(text); err == nil {
		return plain
	}
	return strings.Trim(text, `"`)
}

// Base is an option's name without an index.
func Base(name string) string {
	base, _, _ := strings.Cut(name, "[")
	return base
}

// Resolve finds an option by its name or the beginning of it. One with an @ is the person's own.
func Resolve(name string) (full string, level Level, err error) {
	if strings.HasPrefix(name, "@") {
		return name, "", nil
	}
	base, index, indexed := strings.Cut(name, "[")
	var found []Known
	for _, k := range Table() {
		own := Base(k.Name)
		if own == base {
			found = []Known{{k.Level, own, ""}}
			break
		}
		if strings.HasPrefix(own, base) && (len(found) == 0 || found[len(found)-1].Name != own) {
			found = append(found, Known{k.Level, own, ""})
		}
	}
	switch {
	case len(found) == 0:
		return "", "", fault("invalid option: %s", name)
	case len(found) > 1:
		return "", "", fault("ambiguous option: %s", name)
	}
	full = found[0].Name
	if indexed {
		full += "[" + index
	}
	return full, found[0].Level, nil
}

// Default is what an option is worth when nobody has set it.
func Default(name string) (string, bool) {
	for _, k := range Table() {
		if k.Name == name {
			return k.Default, true
		}
	}
	return "", false
}

// IsSwitch reports whether an option is on or off, and IsNumber whether it is a number.
func IsSwitch(name string) bool {
	value, _ := Default(name)
	return (value == "on" || value == "off") && Choices(name) == nil
}

// IsNumber reports whether an option is a number.
func IsNumber(name string) bool {
	value, _ := Default(name)
	_, err := strconv.Atoi(value)
	return err == nil && name != "main-pane-height" && name != "main-pane-width" && name != "other-pane-height" && name != "other-pane-width" && Choices(name) == nil
}

// IsArray reports whether an option has values by index.
func IsArray(name string) bool {
	switch Base(name) {
	case "command-alias", "terminal-features", "terminal-overrides", "user-keys", "update-environment", "pane-colours", "status-format":
		return true
	}
	return false
}

// Chain are the sets in which an option is looked for, nearest first.
func (s *State) Chain(level Level, at Place) (chain []Options) {
	add := func(o Options) { chain = append(chain, o) }
	switch level {
	case LevelServer:
		add(s.Options)
	case LevelSession:
		if at.Session != nil {
			add(at.Session.Options)
		}
		add(s.Global)
	case LevelPane, LevelWindow:
		if level == LevelPane && at.Pane != nil {
			add(at.Pane.Options)
		}
		if at.Window != nil {
			add(at.Window.Options)
		}
		add(s.Windows)
	}
	return chain
}

// Lookup is what an option is worth at a place.
func (s *State) Lookup(level Level, at Place, name string) Value {
	for _, o := range s.Chain(level, at) {
		if v, ok := o[name]; ok {
			return Value(v)
		}
	}
	v, _ := Default(name)
	return Value(v)
}

// Any is what an option is worth, wherever it is kept.
func (s *State) Any(at Place, name string) (string, bool) {
	if strings.HasPrefix(name, "@") {
		for _, level := range []Level{LevelPane, LevelSession, LevelServer} {
			for _, o := range s.Chain(level, at) {
				if v, ok := o[name]; ok {
					return v, true
				}
			}
		}
		return "", false
	}
	for _, k := range Table() {
		if k.Name == name {
			level := k.Level
			if level == LevelWindow {
				level = LevelPane
			}
			return string(s.Lookup(level, at, name)), true
		}
	}
	return "", false
}

// Set is where options of a level are written: those of a place, or the global ones.
func (s *State) Set(level Level, at Place, global bool) *Options {
	switch {
	case level == LevelServer:
		return &s.Options
	case level == LevelSession && global:
		return &s.Global
	case level == LevelSession:
		return &at.Session.Options
	case global:
		return &s.Windows
	case level == LevelPane:
		return &at.Pane.Options
	}
	return &at.Window.Options
}

// Shown are the names of a set, and with all those of the table that it would inherit, in tmux's
// order: its own table's, and those with an @ last.
func Shown(set Options, level Level, all bool) (names []string) {
	seen := map[string]bool{}
	add := func(name string) {
		if !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	for _, k := range Table() {
		if k.Level != level && !(level == LevelWindow && k.Level == LevelPane) {
			continue
		}
		if _, own := set[k.Name]; own || all {
			add(k.Name)
		}
		if IsArray(k.Name) {
			for _, name := range slices.Sorted(maps.Keys(set)) {
				if Base(name) == Base(k.Name) && name != Base(name) {
					add(name)
				}
			}
		}
	}
	var own []string
	for name := range set {
		if strings.HasPrefix(name, "@") {
			own = append(own, name)
		}
	}
	slices.Sort(own)
	return append(own, names...)
}
