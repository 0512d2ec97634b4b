package server

import (
	_ "embed"
	"fmt"
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

// Value is the value of an option.
type Value string

// Int returns the value as a number.
func (v Value) Int() int {
	n, _ := strconv.Atoi(string(v))
	return n
}

// On reports whether a switch is on.
func (v Value) On() bool { return v == "on" || v == "1" }

//go:embed options.txt
var optionsText string

// A Known is an option of tmux with its default. One with an @ is the user's own and has only a name.
type Known struct {
	Level   Level
	Name    string
	Default string
	Choices []string // allowed values, in tmux's order; none for other options
	text    bool     // neither a number nor a switch
}

// Table returns tmux's options in its order. A line has the level, the name and the default; choices
// follow the name in braces, empty ones mark text that looks like a number.
var Table = sync.OnceValue(func() (table []Known) {
	for line := range strings.Lines(optionsText) {
		level, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		name, value, _ := strings.Cut(rest, " ")
		k := Known{Level: Level(level), Default: unquote(value)}
		var choices string
		k.Name, choices, k.text = strings.Cut(strings.TrimSuffix(name, "}"), "{")
		if choices != "" {
			k.Choices = strings.Split(choices, ",")
		}
		table = append(table, k)
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

// Resolve finds an option by its name or the beginning of it.
func Resolve(name string) (Known, error) {
	if strings.HasPrefix(name, "@") {
		return Known{Name: name}, nil
	}
	if strings.HasSuffix(name, "]") {
		return Known{}, fmt.Errorf("option %s: indexes are not supported by tandem", name)
	}
	var found []Known
	for _, k := range Table() {
		if k.Name == name {
			return k, nil
		}
		if strings.HasPrefix(k.Name, name) {
			found = append(found, k)
		}
	}
	switch len(found) {
	case 0:
		return Known{}, fmt.Errorf("invalid option: %s", name)
	case 1:
		return found[0], nil
	}
	return Known{}, fmt.Errorf("ambiguous option: %s", name)
}

// IsSwitch reports whether the option is on or off.
func (k Known) IsSwitch() bool { return !k.text && (k.Default == "on" || k.Default == "off") }

// IsNumber reports whether the option is a number.
func (k Known) IsNumber() bool {
	_, err := strconv.Atoi(k.Default)
	return err == nil && !k.text
}

// Check returns the value to keep for one that was given; "" changes a switch or a choice from
// before to the other one.
func (k Known) Check(value, before string) (string, error) {
	switch {
	case k.Choices != nil && value == "":
		if i := slices.Index(k.Choices, before); i == 0 || i == 1 {
			return k.Choices[1-i], nil
		}
		return before, nil
	case k.Choices != nil && !slices.Contains(k.Choices, value):
		return "", fmt.Errorf("unknown value: %s", value)
	case k.IsSwitch():
		switch strings.ToLower(value) {
		case "":
			return map[bool]string{true: "off", false: "on"}[before == "on"], nil
		case "on", "yes", "1":
			return "on", nil
		case "off", "no", "0":
			return "off", nil
		}
		return "", fmt.Errorf("bad value: %s", value)
	case k.IsNumber():
		n, err := strconv.Atoi(value)
		if err != nil {
			return "", fmt.Errorf("value is invalid: %s", value)
		}
		if n < 0 {
			return "", fmt.Errorf("value is too small: %s", value)
		}
		return strconv.Itoa(n), nil
	}
	return value, nil
}

// sets returns where an option may be set for a place, nearest first. A name belongs to one level,
// so no set of another one has it.
func (s *State) sets(at Place) (sets []Options) {
	if at.Pane != nil {
		sets = append(sets, at.Pane.Options)
	}
	if at.Window != nil {
		sets = append(sets, at.Window.Options)
	}
	sets = append(sets, s.Windows)
	if at.Session != nil {
		sets = append(sets, at.Session.Options)
	}
	return append(sets, s.Global, s.Options)
}

// Lookup returns the value of an option at a place, and whether it was set or has a default.
func (s *State) Lookup(at Place, name string) (value Value, set, known bool) {
	for _, o := range s.sets(at) {
		if v, ok := o[name]; ok {
			return Value(v), true, true
		}
	}
	for _, k := range Table() {
		if k.Name == name {
			return Value(k.Default), false, true
		}
	}
	return "", false, false
}

// Set returns the options of a level: those of a place, or the global ones.
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

// Listed returns the options that a list of a level's may have: the user's own of the set, then
// tmux's.
func (o Options) Listed(level Level) (all []Known) {
	for name := range o {
		if strings.HasPrefix(name, "@") {
			all = append(all, Known{Name: name})
		}
	}
	slices.SortFunc(all, func(a, b Known) int { return strings.Compare(a.Name, b.Name) })
	for _, k := range Table() {
		if k.Level == level || level == LevelWindow && k.Level == LevelPane {
			all = append(all, k)
		}
	}
	return all
}
