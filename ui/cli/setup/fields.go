package setup

import (
	"bytes"
	"encoding/json"
	"strings"
)

// fields are the members of an object of settings, in the order in which they
// are written. A value is a string, a bool, an int, a []string, fields or []fields.
type fields []field

type field struct {
	name  string
	value any
}

// with adds a member that has members, if there are any.
func (f fields) with(name string, members fields) fields {
	if len(members) == 0 {
		return f
	}
	return append(f, field{name, members})
}

// get is the value of a member; nil if there is none.
func (f fields) get(name string) any {
	for _, m := range f {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// decoded returns v as encoding/json and go-toml decode it.
func decoded(v any) (all any) {
	_ = json.Unmarshal([]byte((&jsonFile{}).render(v, "", true)), &all) // render writes JSON
	return all
}

// wrapped is a value as the only member of objects within each other.
func wrapped(path []string, v any) any {
	for i := len(path) - 1; i >= 0; i-- {
		v = fields{{path[i], v}}
	}
	return v
}

// quoted is a text as JSON writes it, which is a basic string of TOML too.
func quoted(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // people read these files
	_ = e.Encode(s)        // a string can be encoded
	return strings.TrimSuffix(b.String(), "\n")
}

// list is a list on one line, in JSON and in TOML.
func list(items []string) string {
	all := make([]string, len(items))
	for i, s := range items {
		all[i] = quoted(s)
	}
	return "[" + strings.Join(all, ", ") + "]"
}
