package server

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Options maps the names of options that were set to their values.
type Options map[string]string

// A Value is the text of an option's value.
type Value string

// Int returns the value as a number; 0 if it is not one.
func (v Value) Int() int {
	n, _ := strconv.Atoi(string(v))
	return n
}

// IsOn reports whether the value turns a switch on.
func (v Value) IsOn() bool { return v == "on" || v == "1" }

//go:embed options.txt
var optionsText string

// A Definition describes one of tmux's options. A user option (@name) has a name only.
type Definition struct {
	Name    string
	Default string
	Choices []string // allowed values; nil if any will do
	isText  bool     // text, even if the default looks like a number or a switch
}

// Definitions returns tmux's options in its order. A line of options.txt has the name and the
// default. Choices follow the name in braces; empty braces mark text that looks like a number or a
// switch.
var Definitions = sync.OnceValue(func() (table []Definition) {
	for line := range strings.Lines(optionsText) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		k := Definition{Default: unquoteDefault(value)}
		var choices string
		k.Name, choices, k.isText = strings.Cut(strings.TrimSuffix(name, "}"), "{")
		if choices != "" {
			k.Choices = strings.Split(choices, ",")
		}
		table = append(table, k)
	}
	return table
})

// unquoteDefault removes the quotes of a default as show-options prints it.
func unquoteDefault(text string) string {
	if text == "''" {
		return ""
	}
	if plain, err := strconv.Unquote(text); err == nil {
		return plain
	}
	return text
}

// ResolveOption returns the option called name, or the only one whose name begins with it. A user
// option always resolves.
func ResolveOption(name string) (Definition, error) {
	if strings.HasPrefix(name, "@") {
		return Definition{Name: name}, nil
	}
	if strings.HasSuffix(name, "]") {
		return Definition{}, fmt.Errorf("option %s: indexes are not supported by tandem; set the whole option", name)
	}
	var found []Definition
	for _, k := range Definitions() {
		// A full name wins even if it begins others (status, status-left).
		if k.Name == name {
			return k, nil
		}
		if strings.HasPrefix(k.Name, name) {
			found = append(found, k)
		}
	}
	switch len(found) {
	case 0:
		return Definition{}, fmt.Errorf("invalid option: %s", name)
	case 1:
		return found[0], nil
	}
	return Definition{}, fmt.Errorf("ambiguous option: %s", name)
}

// IsSwitch reports whether the option is on or off.
func (k Definition) IsSwitch() bool { return !k.isText && (k.Default == "on" || k.Default == "off") }

// IsNumber reports whether the option takes a number.
func (k Definition) IsNumber() bool {
	_, err := strconv.Atoi(k.Default)
	return err == nil && !k.isText
}

// ParseValue checks value and returns it in the form to store.
func (k Definition) ParseValue(value string) (string, error) {
	switch {
	case k.Choices != nil && !slices.Contains(k.Choices, value):
		return "", fmt.Errorf("unknown value: %s", value)
	case k.Choices == nil && k.IsSwitch():
		switch strings.ToLower(value) {
		case "on", "yes", "1":
			return "on", nil
		case "off", "no", "0":
			return "off", nil
		}
		return "", fmt.Errorf("bad value: %s", value)
	case k.Choices == nil && k.IsNumber():
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

// LookupOption returns the value of an option that applies to at: the one set on its pane, window
// or session, else the global one, else the default. set reports whether the value was set, and
// known whether the option exists.
func (s *State) LookupOption(at Target, name string) (value Value, set, known bool) {
	for _, o := range s.optionSets(at) {
		if v, ok := o[name]; ok {
			return Value(v), true, true
		}
	}
	for _, k := range Definitions() {
		if k.Name == name {
			return Value(k.Default), false, true
		}
	}
	return "", false, false
}

// optionSets returns what was set on the parts of a target, smallest first, and globally.
func (s *State) optionSets(at Target) (sets []Options) {
	if at.Pane != nil {
		sets = append(sets, at.Pane.Options)
	}
	if at.Window != nil {
		sets = append(sets, at.Window.Options)
	}
	if at.Session != nil {
		sets = append(sets, at.Session.Options)
	}
	return append(sets, s.Global)
}

// List returns the options in o: user options sorted by name, then tmux's own in its order.
func (o Options) List() (all []Definition) {
	for name := range o {
		if strings.HasPrefix(name, "@") {
			all = append(all, Definition{Name: name})
		}
	}
	slices.SortFunc(all, func(a, b Definition) int { return strings.Compare(a.Name, b.Name) })
	for _, k := range Definitions() {
		if _, ok := o[k.Name]; ok {
			all = append(all, k)
		}
	}
	return all
}
