package settings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// A Setting documents a key of config.toml. The default file, the manual, error messages and the
// list of settings in effect are generated from it.
type Setting struct {
	Key     string // with its table: "agents.sandbox"
	Want    string // description of valid values, after "must be"
	Doc     string
	Default string // in TOML; "" if there is none. All takes it from Defaults
	Example string // in TOML, without a default
	None    string // behaviour without the key and without a default
}

// All returns all settings, in the order of the file.
func All() []Setting {
	all := slices.Concat(dashboardRows(), keyboardRows(), engineRows(), attachRows(), historyRows(), attentionRows(),
		agentRows(), fleetRows(), machineRows(), keyRows())
	defaults := Defaults()
	for i := range all {
		all[i].Default = all[i].ValueIn(defaults)
	}
	return all
}

// Named reports whether a setting is a table with keys chosen by the user.
func (s Setting) Named() bool { return s.Default == "" && s.Example == "" }

// ValueIn returns the setting's value in c, as TOML. If it has none there, ValueIn returns the
// default that c cannot express, or "".
func (s Setting) ValueIn(c Config) string {
	v := reflect.ValueOf(c)
	for name := range strings.SplitSeq(s.Key, ".") {
		v = fieldOf(v, name)
	}
	if v.Kind() == reflect.Map || v.IsZero() && v.Kind() != reflect.Bool {
		return s.Default
	}
	return TOML(v.Interface())
}

// fieldOf returns the field of a struct that has this name in the file.
func fieldOf(v reflect.Value, name string) reflect.Value {
	for _, f := range reflect.VisibleFields(v.Type()) {
		if f.Tag.Get("toml") == name {
			return v.FieldByIndex(f.Index)
		}
	}
	return reflect.Value{}
}

// Find returns the setting of a key.
func Find(key string) (Setting, bool) {
	if strings.HasPrefix(key, "keys.") {
		key = "keys"
	}
	if rest, ok := strings.CutPrefix(key, "machines."); ok {
		_, field, _ := strings.Cut(rest, ".")
		return Setting{Key: key, Want: map[string]string{"ssh": "text in quotes", "transport": "a list of words", "env": "a table of texts"}[field]}, field != ""
	}
	for _, s := range All() {
		if s.Key == key {
			return s, true
		}
	}
	return Setting{}, false
}

// wrapNames joins names into lines of a comment.
func wrapNames(names []string) string {
	var b strings.Builder
	width := 0
	for i, name := range names {
		if width+len(name) > 90 {
			b.WriteString("\n")
			width = 0
		} else if i > 0 {
			b.WriteString(" ")
		}
		b.WriteString(name)
		if i < len(names)-1 {
			b.WriteString(",")
		}
		width += len(name) + 2
	}
	return b.String() + "."
}

// TOML encodes a string, number, boolean or list of strings. Strings are encoded as in JSON,
// because its escapes are valid in TOML.
func TOML(v any) string {
	if list, ok := v.([]string); ok {
		words := make([]string, len(list))
		for i, s := range list {
			words[i] = TOML(s)
		}
		return "[" + strings.Join(words, ", ") + "]"
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSuffix(strings.ReplaceAll(b.String(), "\u007f", `\u007f`), "\n")
}

// Values returns the value in effect of each key. It is null for a key without a value or default.
func (c Config) Values() map[string]any {
	values := map[string]any{"keys": c.Keys}
	if c.Keys == nil {
		values["keys"] = map[string][]string{}
	}
	machines := map[string]map[string]any{}
	for name, m := range c.Machines {
		machines[name] = map[string]any{"ssh": m.SSH, "transport": m.Transport, "env": m.Env}
	}
	values["machines"] = machines
	for _, s := range All() {
		text := s.ValueIn(c)
		switch {
		case s.Named():
		case s.Key == "prefix" && len(c.Keys["prefix"]) > 0:
		case text == "":
			values[s.Key] = nil
		default:
			values[s.Key] = json.RawMessage(text)
		}
	}
	return values
}
