package setup

import (
	"bytes"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// A tomlFile is a settings file in TOML, edited in place. Keys and tables are located in the text, and
// text is replaced only there, because go-toml cannot write a file with its comments.
type tomlFile struct {
	text   []byte
	all    map[string]any // the decoded text
	tables []table        // in the order of the text; the first is the part before any header
}

// A table is a part of the text with a header such as [mcp_servers.tandem].
type table struct {
	path     []string
	from, to int // offsets of its lines, up to the end of the last one with a key
	keys     []key
}

// A key is a key and its value in a table, on one or more lines. from and to are offsets.
type key struct {
	name     []string
	from, to int
}

func openTOML(text []byte) (*tomlFile, error) {
	t := &tomlFile{}
	return t, t.setText(text)
}

func (t *tomlFile) bytes() []byte { return t.text }

// setText parses text and makes it the file's content. If it is invalid, the content stays.
func (t *tomlFile) setText(text []byte) error {
	all := map[string]any{}
	if err := toml.Unmarshal(text, &all); err != nil {
		var decodeErr *toml.DecodeError
		if !errors.As(err, &decodeErr) {
			return err
		}
		line, column := decodeErr.Position()
		return &positionError{line, column, strings.TrimPrefix(decodeErr.Error(), "toml: ")}
	}
	t.text, t.all, t.tables = text, all, parseTables(text)
	return nil
}

func (t *tomlFile) spliceText(from, to int, with string) error {
	return t.setText(slices.Concat(t.text[:from], []byte(with), t.text[to:]))
}

// parseTables returns the tables of text, which must be valid.
func parseTables(text []byte) []table {
	tables := []table{{}}
	p := unstable.Parser{}
	p.Reset(text)
	for p.NextExpression() {
		e := p.Expression()
		var name []string
		at := len(text) // offset of the key's first part, for a header
		for it := e.Key(); it.Next(); {
			name = append(name, string(it.Node().Data))
			at = min(at, int(it.Node().Raw.Offset))
		}
		if e.Kind == unstable.KeyValue {
			in := &tables[len(tables)-1]
			k := key{name, int(e.Raw.Offset), int(e.Raw.Offset + e.Raw.Length)}
			k.to = k.from + len(bytes.TrimRight(text[k.from:k.to], " \t\r\n"))
			in.keys = append(in.keys, k)
			in.to = nextLineStart(text, k.to)
			continue
		}
		tables = append(tables, table{path: name, from: lineStart(text, at), to: nextLineStart(text, at)})
	}
	return tables
}

// lineStart returns the offset of the line with offset at; nextLineStart returns that of the next line.
func lineStart(text []byte, at int) int { return 1 + bytes.LastIndexByte(text[:at], '\n') }

func nextLineStart(text []byte, at int) int {
	if n := bytes.IndexByte(text[at:], '\n'); n >= 0 {
		return at + n + 1
	}
	return len(text)
}

func (t *tomlFile) get(path []string) (any, bool, error) {
	var v any = t.all
	for _, name := range path {
		m, _ := v.(map[string]any)
		next, found := m[name]
		if !found {
			return nil, false, nil
		}
		v = next
	}
	return v, true, nil
}

// findTable returns the table with the header path, or nil if there is none.
func (t *tomlFile) findTable(path []string) *table {
	for i := range t.tables {
		if slices.Equal(t.tables[i].path, path) {
			return &t.tables[i]
		}
	}
	return nil
}

// findKey returns the key with a name that is not dotted, or nil if there is none.
func (t *table) findKey(name string) *key {
	for i := range t.keys {
		if slices.Equal(t.keys[i].name, []string{name}) {
			return &t.keys[i]
		}
	}
	return nil
}

func (t *tomlFile) set(path []string, v any) error {
	have, found, _ := t.get(path)
	if found && reflect.DeepEqual(have, genericValue(v)) {
		return nil
	}
	// A new server gets a table of its own at the end, as users write it.
	if members, isTable := v.(fields); isTable && !found && len(path) == 2 {
		return t.appendTable(path, members)
	}
	last := len(path) - 1
	in := t.findTable(path[:last])
	if in == nil {
		return t.setInline(path, v)
	}
	if k := in.findKey(path[last]); k != nil {
		return t.spliceText(k.from, k.to, formatAssignment(path[last], v))
	}
	// The value is there, but not as a key of the table: as a subtable or dotted keys.
	if found {
		return t.unsupportedForm(path)
	}
	line := formatAssignment(path[last], v) + lineEnding(t.text)
	if in.to > 0 && t.text[in.to-1] != '\n' {
		line = lineEnding(t.text) + strings.TrimRight(line, "\r\n")
	}
	return t.spliceText(in.to, in.to, line)
}

// appendTable adds a table to the end of the text, after an empty line.
func (t *tomlFile) appendTable(path []string, members fields) error {
	eol := lineEnding(t.text)
	var b strings.Builder
	if len(t.text) > 0 {
		if t.text[len(t.text)-1] != '\n' {
			b.WriteString(eol)
		}
		if !bytes.HasSuffix(t.text, []byte("\n"+eol)) {
			b.WriteString(eol)
		}
	}
	b.WriteString("[" + strings.Join(path, ".") + "]" + eol)
	for _, f := range members {
		b.WriteString(formatAssignment(f.name, f.value) + eol)
	}
	if err := t.spliceText(len(t.text), len(t.text), b.String()); err != nil {
		return t.unsupportedForm(path) // the outer table is written inline and cannot be extended
	}
	return nil
}

// setInline sets a member of an inline table such as env = { A = "b" }, or removes
// it if v is nil.
func (t *tomlFile) setInline(path []string, v any) error {
	last := len(path) - 1
	have, _, _ := t.get(path[:last])
	members, _ := have.(map[string]any)
	if members == nil || t.findTable(path[:last-1]) == nil {
		return t.unsupportedForm(path)
	}
	all, ok := withoutMember(members, path[last])
	if !ok {
		return t.unsupportedForm(path)
	}
	if v != nil {
		all = append(all, field{path[last], v})
	}
	return t.set(path[:last], all)
}

// withoutMember returns the members of have except name, sorted. ok is false if a
// member is not a string.
func withoutMember(have map[string]any, name string) (rest fields, ok bool) {
	for _, n := range slices.Sorted(maps.Keys(have)) {
		text, ok := have[n].(string)
		if !ok {
			return nil, false
		}
		if n != name {
			rest = append(rest, field{n, text})
		}
	}
	return rest, true
}

func (t *tomlFile) remove(path []string) error {
	if _, found, _ := t.get(path); !found {
		return nil
	}
	if t.findTable(path) != nil {
		return t.removeTables(path)
	}
	last := len(path) - 1
	if in := t.findTable(path[:last]); in != nil {
		if k := in.findKey(path[last]); k != nil {
			return t.spliceText(lineStart(t.text, k.from), nextLineStart(t.text, k.to), "")
		}
		return t.unsupportedForm(path)
	}
	return t.setInline(path, nil)
}

// removeTables removes a table and its subtables, with the empty lines before them.
func (t *tomlFile) removeTables(path []string) error {
	// Backward, because a removal shifts the offsets of later tables.
	for i := len(t.tables) - 1; i >= 0; i-- {
		in := t.tables[i]
		if len(in.path) < len(path) || !slices.Equal(in.path[:len(path)], path) {
			continue
		}
		from := len(bytes.TrimRight(t.text[:in.from], " \t\r\n"))
		if from > 0 {
			from = nextLineStart(t.text, from)
		}
		if err := t.spliceText(from, in.to, ""); err != nil {
			return err
		}
	}
	return nil
}

// unsupportedForm returns the error for a value in a form that setup does not edit, with the position of
// the first key at or below path[0].
func (t *tomlFile) unsupportedForm(path []string) error {
	const form = "%s: not a table with a header of its own; edit it by hand"
	server := strings.Join(path[:2], ".")
	for _, in := range t.tables {
		for _, k := range in.keys {
			if full := slices.Concat(in.path, k.name); full[0] == path[0] {
				return errorAt(t.text, k.from, form, server)
			}
		}
	}
	return errorAt(t.text, 0, form, server)
}

// formatAssignment returns a line for setting a key, without its end.
func formatAssignment(name string, v any) string {
	if strings.Trim(name, bareKeyChars) != "" {
		name = quoteString(name)
	}
	return name + " = " + formatTOMLValue(v)
}

// bareKeyChars are the characters allowed in keys without quotes (TOML 1.0, Keys).
const bareKeyChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

func formatTOMLValue(v any) string {
	switch v := v.(type) {
	case string:
		return quoteString(v)
	case []string:
		return formatList(v)
	}
	var members []string
	for _, f := range v.(fields) {
		members = append(members, formatAssignment(f.name, f.value))
	}
	return "{ " + strings.Join(members, ", ") + " }"
}
