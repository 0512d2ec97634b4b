package config

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
)

// defaultConfig is the file that `tandem config init` writes: every key with its
// default, as a comment.
func Default() string {
	var b strings.Builder
	b.WriteString("# The configuration of Tandem. Each commented-out line is the default, or an example where it says\n" +
		"# so. Changes apply immediately; `tandem config check` shows mistakes.\n")
	table := ""
	for _, s := range settings() {
		name := inTable(&b, &table, s.key)
		if s.key == "keys" {
			b.WriteString("[keys]\n")
		}
		for line := range strings.SplitSeq(s.doc, "\n") {
			fmt.Fprintf(&b, "# %s\n", line)
		}
		switch {
		case s.key == "keys":
			for line := range strings.Lines(keyExamples) {
				b.WriteString("#" + line)
			}
		case s.none != "":
			fmt.Fprintf(&b, "#%s = %s # an example; without it: %s\n", name, s.value, s.none)
		default:
			fmt.Fprintf(&b, "#%s = %s\n", name, s.value)
		}
	}
	return b.String()
}

// inTable begins the paragraph of a key, and its table if it is another one than
// before. It returns the key's name in the table.
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

// Effective is a configuration with all defaults, as TOML; what the file does
// not say is marked.
func (c Config) Effective() string {
	var b strings.Builder
	table := ""
	for _, s := range settings() {
		if s.key == "keys" {
			continue
		}
		name := s.key
		if in, rest, ok := strings.Cut(s.key, "."); ok {
			if name = rest; in != table {
				fmt.Fprintf(&b, "\n[%s]\n", in)
				table = in
			}
		}
		switch value := valueOf(c, s.key); {
		case s.key == "prefix" && len(c.Keys["prefix"]) > 0:
		case value != "":
			fmt.Fprintf(&b, "%s = %s\n", name, value)
		case s.none != "":
			fmt.Fprintf(&b, "%-34s # default: %s\n", "# "+name, s.none)
		default:
			fmt.Fprintf(&b, "%-34s # default\n", name+" = "+s.value)
		}
	}
	if len(c.Keys) > 0 {
		b.WriteString("\n[keys]\n")
	}
	for _, action := range slices.Sorted(maps.Keys(c.Keys)) {
		fmt.Fprintf(&b, "%s = %s\n", inTOML(action), inTOML(c.Keys[action]))
	}
	return b.String()
}

// configReference is the page about the keys of config.toml.
func Reference() string {
	var b strings.Builder
	b.WriteString(configHead)
	for _, s := range settings() {
		holds := "`" + s.value + "`"
		switch {
		case s.key == "keys":
			holds = ""
		case s.none != "":
			holds = s.none + "; for example " + holds
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", s.key, holds, strings.ReplaceAll(s.doc, "\n", " "))
	}
	b.WriteString(configTail)
	return b.String()
}

const configHead = `# Configuration

This page is made from the table of settings in the program.

The file is ` + "`$XDG_CONFIG_HOME/tandem/config.toml`, or `~/.config/tandem/config.toml`" + `. Every key is optional.

| command | does |
|---|---|
| ` + "`tandem config`" + ` | prints where the file is and the settings in effect, defaults included |
| ` + "`tandem config init`" + ` | writes a file with every default in comments; ` + "`--force`" + ` replaces an existing one |
| ` + "`tandem config check [FILE]`" + ` | shows every mistake with its line and a caret, and exits with 1 if there is one; without FILE it also checks ` + "`policy.toml`" + ` |
| ` + "`tandem config path`" + ` | prints only the path |

Changes apply within two seconds, without a restart: colours, keys and mouse in open dashboards, the rest to whatever starts from
then on. Servers for agents read ` + "`agents.sandbox`" + ` when they start. If the file has a mistake, Tandem keeps the old settings
and dashboards show the line.

| key | default | meaning |
|---|---|---|
`

const configTail = "\n## Keys of other programs\n" + `
` + "`preset = \"tmux\"`" + ` leaves every key but ctrl+b to programs and adds, after the prefix, ` + "`$` (rename), `&` (kill), `w` (list), `!` (close the\npane; its session keeps running), `pgup` (scroll) and `alt+arrows` (resize)" + `. Views are the prefix and 1 … 4.

` + "`preset = \"zellij\"`" + ` has zellij's direct keys and its leader, ctrl+g. A mode is one key after the leader:

| zellij | here |
|---|---|
| alt+n | a new pane beside this one |
| alt+h j k l, alt+arrows | focus |
| alt+f | zoom the pane |
| alt+i, alt+o | previous, next session (what is a tab there is a session here) |
| alt+- , alt+= | resize |
| ctrl+p n, r, d, x, f, c, p | ctrl+g n, r (beside), d (below), x (kill), f (zoom), c (rename), p (next pane) |
| ctrl+t n | ctrl+g t: a new session |
| ctrl+s | ctrl+g s: scroll and copy mode |
| ctrl+o w | ctrl+g w: the list of sessions |
| ctrl+o d, ctrl+q | ctrl+g q, ctrl+q: detach; everything keeps running |
| alt+1 … alt+4 | the four views |

Keys in ` + "`[keys]`, `prefix` and `direct_keys = false`" + ` take precedence over a preset.
`

// withValue is a configuration with another value of a key that is in no table.
// All other lines, and what is behind the value, stay.
func withValue(text, key, value string) string {
	if at, ok := locate([]byte(text), []string{key}); ok {
		lines := strings.Split(text, "\n")
		line := lines[at.line-1]
		lines[at.line-1] = line[:at.column-1] + value + line[at.column-1+at.width:]
		return strings.Join(lines, "\n")
	}
	entry := key + " = " + value + "\n"
	for offset, line := range linesOf(text) {
		switch trimmed := strings.TrimSpace(line); {
		case strings.HasPrefix(strings.TrimLeft(trimmed, "# "), key+" ") && strings.HasPrefix(trimmed, "#"):
			end := offset + len(line) // below the default that stands there as a comment
			if !strings.HasSuffix(line, "\n") {
				entry = "\n" + entry
			}
			return text[:end] + entry + text[end:]
		case strings.HasPrefix(trimmed, "["):
			return text[:offset] + entry + "\n" + text[offset:]
		}
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + entry
}

// linesOf yields each line with its offset.
func linesOf(text string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		offset := 0
		for line := range strings.Lines(text) {
			if !yield(offset, line) {
				return
			}
			offset += len(line)
		}
	}
}
