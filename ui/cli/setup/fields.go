package setup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// fields are the members of an object in settings, in their written order.
// A value is a string, int, []string, fields or []fields, or one decoded from settings.
type fields []field

type field struct {
	name  string
	value any
}

// MarshalJSON returns the object with its members in order.
func (f fields) MarshalJSON() ([]byte, error) {
	members := make([]string, len(f))
	for i, m := range f {
		members[i] = compactJSON(m.name) + ":" + compactJSON(m.value)
	}
	return []byte("{" + strings.Join(members, ",") + "}"), nil
}

// withMembers appends an object called name, unless members is empty.
func (f fields) withMembers(name string, members fields) fields {
	if len(members) == 0 {
		return f
	}
	return append(f, field{name, members})
}

// get returns the value of a member, or nil if there is none.
func (f fields) get(name string) any {
	for _, m := range f {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// withUserMembers returns f with the members of existing, a decoded object, whose names are not in
// managed.
func (f fields) withUserMembers(existing any, managed []string) fields {
	members, _ := existing.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if !slices.Contains(managed, name) {
			f = append(slices.DeleteFunc(slices.Clone(f), func(m field) bool { return m.name == name }), field{name, members[name]})
		}
	}
	return f
}

// pairs returns the members in the form name=value.
func (f fields) pairs() (all []string) {
	for _, m := range f {
		all = append(all, fmt.Sprintf("%s=%v", m.name, m.value))
	}
	return all
}

// genericValue converts v to the types decoded by encoding/json, for comparison with a decoded
// value of settings.
func genericValue(v any) (all any) {
	_ = json.Unmarshal([]byte(compactJSON(v)), &all) // cannot fail: compactJSON writes valid JSON
	return all
}

// compactJSON returns v as JSON on one line. Strings and arrays of strings are valid in TOML too.
func compactJSON(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // people read these files
	if err := e.Encode(v); err != nil {
		panic(err) // v has only the types of fields
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// A positionError is a mistake in settings. line and column (in bytes) start at 1.
type positionError struct {
	line, column int
	text         string
}

func (e *positionError) Error() string { return fmt.Sprintf("%d:%d: %s", e.line, e.column, e.text) }

// errorAt returns a positionError for offset at of text.
func errorAt(text []byte, at int, format string, args ...any) error {
	before := text[:min(at, len(text))]
	return &positionError{1 + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n'), fmt.Sprintf(format, args...)}
}
