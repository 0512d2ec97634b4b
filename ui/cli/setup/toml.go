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

// A tomlFile is the text of settings in TOML that is edited in place.
type tomlFile struct {
	text   []byte
	all    map[string]any
	tables []table // in their order; the first is the part before any header
}

// A table is a part of the text with a header.
type table struct {
	path     []string
	from, to int // of its lines, to the end of the last one that says something
	keys     []key
}

// A key is a line of a table, or several: name = value.
type key struct {
	name     []string
	from, to int
}

func openTOML(text []byte) (*tomlFile, error) {
	t := &tomlFile{}
	return t, t.replace(text)
}

func (t *tomlFile) bytes() []byte { return t.text }

// replace goes on with another text.
func (t *tomlFile) replace(text []byte) error {
	all := map[string]any{}
	if err := toml.Unmarshal(text, &all); err != nil {
		var wrong *toml.DecodeError
		if !errors.As(err, &wrong) {
			return err
		}
		line, column := wrong.Position()
		return &mistake{line, column, strings.TrimPrefix(wrong.Error(), "toml: ")}
	}
	t.text, t.all, t.tables = text, all, tablesOf(text)
	return nil
}

func (t *tomlFile) splice(from, to int, with string) error {
	return t.replace(slices.Concat(t.text[:from], []byte(with), t.text[to:]))
}

// tablesOf finds the tables of a text that is well-formed.
func tablesOf(text []byte) []table {
	tables := []table{{}}
	p := unstable.Parser{}
	p.Reset(text)
	for p.NextExpression() {
		e := p.Expression()
		var name []string
		at := len(text)
		for it := e.Key(); it.Next(); {
			name = append(name, string(it.Node().Data))
			at = min(at, int(it.Node().Raw.Offset))
		}
		if e.Kind == unstable.KeyValue {
			in := &tables[len(tables)-1]
			k := key{name, int(e.Raw.Offset), int(e.Raw.Offset + e.Raw.Length)}
			k.to = k.from + len(bytes.TrimRight(text[k.from:k.to], " \t\r\n"))
			in.keys = append(in.keys, k)
			in.to = lineAfter(text, k.to)
			continue
		}
		tables = append(tables, table{path: name, from: lineBefore(text, at), to: lineAfter(text, at)})
	}
	return tables
}

// lineBefore is where the line of an offset begins, lineAfter where the next does.
func lineBefore(text []byte, at int) int { return 1 + bytes.LastIndexByte(text[:at], '\n') }

func lineAfter(text []byte, at int) int {
	if n := bytes.IndexByte(text[at:], '\n'); n >= 0 {
		return at + n + 1
	}
	return len(text)
}

func (t *tomlFile) get(path []string) (any, bool, error) {
	var v any = t.all
	for _, name := range path {
		m, _ := v.(map[string]any)
		next, there := m[name]
		if !there {
			return nil, false, nil
		}
		v = next
	}
	return v, true, nil
}

// table is the table with a header; nil if there is none.
func (t *tomlFile) table(path []string) *table {
	for i := range t.tables {
		if slices.Equal(t.tables[i].path, path) {
			return &t.tables[i]
		}
	}
	return nil
}

func (t *tomlFile) set(path []string, v any) error {
	have, there, _ := t.get(path)
	if there && reflect.DeepEqual(have, decoded(v)) {
		return nil
	}
	if members, isTable := v.(fields); isTable && !there && len(path) == 2 {
		return t.append(path, members)
	}
	last := len(path) - 1
	in := t.table(path[:last])
	if in == nil {
		return t.setInline(path, v)
	}
	for _, k := range in.keys {
		if slices.Equal(k.name, path[last:]) {
			return t.splice(k.from, k.to, assignment(path[last], v))
		}
	}
	if there {
		return t.elsewhere(path)
	}
	line := assignment(path[last], v) + lineEnding(t.text)
	if in.to > 0 && t.text[in.to-1] != '\n' {
		line = lineEnding(t.text) + strings.TrimRight(line, "\r\n")
	}
	return t.splice(in.to, in.to, line)
}

// append adds a table to the end of the text.
func (t *tomlFile) append(path []string, members fields) error {
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
		b.WriteString(assignment(f.name, f.value) + eol)
	}
	if err := t.splice(len(t.text), len(t.text), b.String()); err != nil {
		return t.elsewhere(path) // the table above it is written as a value
	}
	return nil
}

// setInline sets a member of a value that is a table, env = { A = "b" }, or takes
// it out if v is nil.
func (t *tomlFile) setInline(path []string, v any) error {
	last := len(path) - 1
	have, _, _ := t.get(path[:last])
	members, _ := have.(map[string]any)
	if members == nil || t.table(path[:last-1]) == nil {
		return t.elsewhere(path)
	}
	all, ok := without(members, path[last])
	if !ok {
		return t.elsewhere(path)
	}
	if v != nil {
		all = append(all, field{path[last], v})
	}
	return t.set(path[:last], all)
}

// without are the members of a table of texts but one of them; ok is false if
// it holds anything else.
func without(have map[string]any, name string) (rest fields, ok bool) {
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
	if _, there, _ := t.get(path); !there {
		return nil
	}
	if t.table(path) != nil {
		return t.removeTables(path)
	}
	last := len(path) - 1
	if in := t.table(path[:last]); in != nil {
		for _, k := range in.keys {
			if slices.Equal(k.name, path[last:]) {
				return t.splice(lineBefore(t.text, k.from), lineAfter(t.text, k.to), "")
			}
		}
		return t.elsewhere(path)
	}
	return t.setInline(path, nil)
}

// removeTables takes out a table and those within it, with the empty lines
// before them.
func (t *tomlFile) removeTables(path []string) error {
	for i := len(t.tables) - 1; i >= 0; i-- {
		in := t.tables[i]
		if len(in.path) < len(path) || !slices.Equal(in.path[:len(path)], path) {
			continue
		}
		from := len(bytes.TrimRight(t.text[:in.from], " \t\r\n"))
		if from > 0 {
			from = lineAfter(t.text, from)
		}
		if err := t.splice(from, in.to, ""); err != nil {
			return err
		}
	}
	return nil
}

// elsewhere is the error for what is written in a form that is not edited.
func (t *tomlFile) elsewhere(path []string) error {
	for _, in := range t.tables {
		for _, k := range in.keys {
			if full := slices.Concat(in.path, k.name); full[0] == path[0] {
				return mistakeAt(t.text, k.from, "%s: not a table with a header of its own; edit it by hand", strings.Join(path[:2], "."))
			}
		}
	}
	return &mistake{1, 1, strings.Join(path[:2], ".") + ": not a table with a header of its own; edit it by hand"}
}

// assignment is a line that sets a key.
func assignment(name string, v any) string {
	if strings.Trim(name, bareKey) != "" {
		name = quoted(name)
	}
	return name + " = " + tomlValue(v)
}

// bareKey are the characters of names without quotes (TOML 1.0, Keys).
const bareKey = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

func tomlValue(v any) string {
	switch v := v.(type) {
	case string:
		return quoted(v)
	case []string:
		return list(v)
	case bool:
		if v {
			return "true"
		}
		return "false"
	}
	var members []string
	for _, f := range v.(fields) {
		members = append(members, assignment(f.name, f.value))
	}
	return "{ " + strings.Join(members, ", ") + " }"
}
