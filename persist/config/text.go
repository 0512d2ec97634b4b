package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"tandem/persist/config/settings"
	"tandem/persist/diag"
)

// namedExamples are the examples of tables with names, for the default file.
var namedExamples = map[string]string{
	"machines": `[machines.box]
ssh = "me@box.example.org"
`,
	"keys": `"session.new" = ["c", "sessions n"] # after the prefix, and in the list of sessions
"split.beside" = ["v", "%"]
`,
}

// Default returns the file written by `tandem config init`: every key with its default, as a
// comment.
func Default() string {
	var b strings.Builder
	b.WriteString("# The configuration of Tandem. Each commented-out line is the default, or an example where it says\n" +
		"# so. Changes apply immediately; `tandem config check` shows mistakes.\n")
	table := ""
	for _, s := range settings.All() {
		name := inTable(&b, &table, s.Key)
		if s.Key == "keys" {
			b.WriteString("[keys]\n")
		}
		for line := range strings.SplitSeq(s.Doc, "\n") {
			fmt.Fprintf(&b, "# %s\n", line)
		}
		switch {
		case s.Named():
			for line := range strings.Lines(namedExamples[s.Key]) {
				b.WriteString("#" + line)
			}
		case s.None != "":
			fmt.Fprintf(&b, "#%s = %s # an example; without it: %s\n", name, s.Example, s.None)
		default:
			fmt.Fprintf(&b, "#%s = %s\n", name, s.Default)
		}
	}
	return b.String()
}

// inTable begins the paragraph of a key. If the key is in another table than the previous one, the
// table's header comes first. inTable returns the key's name within the table.
func inTable(b *strings.Builder, table *string, key string) (name string) {
	b.WriteString("\n")
	in, name, ok := strings.Cut(key, ".")
	if !ok {
		return key
	}
	if in != *table {
		fmt.Fprintf(b, "[%s]\n", in)
		*table = in
	}
	return name
}

// Effective returns the settings in effect if the file has the content text. file has them as TOML,
// with defaults marked as such, and values by key.
func Effective(text []byte) (file string, values map[string]any, err error) {
	c, err := Parse(text)
	if err != nil {
		return "", nil, err
	}
	var set map[string]any
	if err := toml.Unmarshal(diag.TrimBOM(text), &set); err != nil {
		return "", nil, err
	}
	return inEffect(c, set), c.Values(), nil
}

// inEffect returns c as TOML. set is the decoded content of the file.
func inEffect(c settings.Config, set map[string]any) string {
	var b strings.Builder
	table := ""
	for _, s := range settings.All() {
		if s.Named() {
			continue
		}
		name := s.Key
		if in, rest, ok := strings.Cut(s.Key, "."); ok {
			if name = rest; in != table {
				fmt.Fprintf(&b, "\n[%s]\n", in)
				table = in
			}
		}
		switch value := s.ValueIn(c); {
		case s.Key == "prefix" && len(c.Keys["prefix"]) > 0:
		case isSet(set, s.Key):
			fmt.Fprintf(&b, "%s = %s\n", name, value)
		case s.None != "":
			fmt.Fprintf(&b, "%-34s # default: %s\n", "# "+name, s.None)
		default:
			fmt.Fprintf(&b, "%-34s # default\n", name+" = "+value)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Machines)) {
		b.WriteString("\n" + machineTable(name, c.Machines[name]))
	}
	if len(c.Keys) > 0 {
		b.WriteString("\n[keys]\n")
	}
	for _, action := range slices.Sorted(maps.Keys(c.Keys)) {
		fmt.Fprintf(&b, "%s = %s\n", settings.TOML(action), settings.TOML(c.Keys[action]))
	}
	return b.String()
}

// isSet reports whether table sets a key. An empty text and 0 do not set it.
func isSet(table map[string]any, key string) bool {
	if in, name, ok := strings.Cut(key, "."); ok {
		within, _ := table[in].(map[string]any)
		return isSet(within, name)
	}
	value, ok := table[key]
	return ok && value != "" && value != int64(0)
}

// withValue returns text with another value for a top-level key. Other lines, and a comment after
// the value, are unchanged.
func withValue(text, key, value string) string {
	if at := locate([]byte(text), []string{key}, true); at.Line > 0 {
		lines := strings.Split(text, "\n")
		line := lines[at.Line-1]
		// Keep the comment after the value.
		lines[at.Line-1] = line[:at.Column-1] + value + line[at.Column-1+at.Width:]
		return strings.Join(lines, "\n")
	}
	entry := key + " = " + value + "\n"
	offset := 0
	for line := range strings.Lines(text) {
		end := offset + len(line)
		switch trimmed := strings.TrimSpace(line); {
		case strings.HasPrefix(strings.TrimLeft(trimmed, "# "), key+" ") && strings.HasPrefix(trimmed, "#"):
			// Insert the value below its commented-out default.
			if !strings.HasSuffix(line, "\n") {
				entry = "\n" + entry
			}
			return text[:end] + entry + text[end:]
		case strings.HasPrefix(trimmed, "["):
			return text[:offset] + entry + "\n" + text[offset:]
		}
		offset = end
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + entry
}
