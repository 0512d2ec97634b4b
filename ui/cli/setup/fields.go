package setup

import (
	"bytes"
	"encoding/json"
	"strings"
)

// fields are the members of an object in settings, in their written order.
// A value is a string, int, []string, fields or []fields.
type fields []field

type field struct {
	name  string
	value any
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

// genericValue converts v to the types decoded by encoding/json, for comparison with a decoded
// value of settings.
func genericValue(v any) (all any) {
	_ = json.Unmarshal([]byte((&jsonFile{}).renderValue(v, "", true)), &all) // renderValue writes valid JSON
	return all
}

// nestValue wraps v in an object for each name in path, the first outermost.
func nestValue(path []string, v any) any {
	for i := len(path) - 1; i >= 0; i-- {
		v = fields{{path[i], v}}
	}
	return v
}

// quoteString returns s as a JSON string, which is also a basic string in TOML.
func quoteString(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // people read these files
	_ = e.Encode(s)        // cannot fail for a string
	return strings.TrimSuffix(b.String(), "\n")
}

// formatList returns items as an array on one line, valid in JSON and TOML.
func formatList(items []string) string {
	quoted := make([]string, len(items))
	for i, s := range items {
		quoted[i] = quoteString(s)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}
