package setup

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// A tomlFile is a settings file in TOML. Whole tables are added to the end of the text and cut out of
// it, because go-toml cannot write a file with its comments.
type tomlFile struct {
	text []byte
	all  map[string]any // the decoded text
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
	t.text, t.all = text, all
	return nil
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

// set puts v, which must be fields, into a table at the end of the text, as users write it. An
// existing table is removed.
func (t *tomlFile) set(path []string, v any) error {
	if err := t.remove(path); err != nil {
		return err
	}
	eol := lineEnding(t.text)
	text := string(t.text)
	if text != "" {
		text = strings.TrimSuffix(text, eol) + eol + eol
	}
	text += "[" + strings.Join(path, ".") + "]" + eol
	for _, f := range v.(fields) {
		text += f.name + " = " + formatTOMLValue(f.value) + eol
	}
	if t.setText([]byte(text)) != nil {
		return unsupportedForm(path) // the outer table is written inline and cannot be extended
	}
	return nil
}

// remove removes a table and its subtables. path holds the names of the outer table and of the table
// itself. The settings in the result are checked, because lines in a string can look like a table.
func (t *tomlFile) remove(path []string) error {
	outer, name := path[0], path[1]
	tables, _ := t.all[outer].(map[string]any)
	if _, found := tables[name]; !found {
		return nil
	}
	rest := maps.Clone(tables)
	delete(rest, name)
	want := maps.Clone(t.all)
	want[outer] = rest
	header := regexp.MustCompile(`(?m)^[ \t]*\[[ \t]*` + outer + `[ \t]*\.[ \t]*["']?` + name + `["']?[ \t]*[\].]`)
	text := t.text
	for loc := header.FindIndex(text); loc != nil; loc = header.FindIndex(text) {
		text = cutTable(text, loc[0], loc[1])
	}
	if t.setText(text) != nil {
		return unsupportedForm(path)
	}
	if _, left := t.all[outer]; !left && len(rest) == 0 {
		delete(want, outer) // the outer table has disappeared with its last entry
	}
	if !reflect.DeepEqual(t.all, want) {
		return unsupportedForm(path)
	}
	return nil
}

// cutTable cuts out the table whose header is text[start:end], with the empty lines before it.
// Comments above the next table stay.
func cutTable(text []byte, start, end int) []byte {
	to := len(text)
	if next := anyHeader.FindIndex(text[end:]); next != nil {
		to = end + next[0]
	}
	to = start + len(trailingComments.ReplaceAll(text[start:to], nil))
	from := len(bytes.TrimRight(text[:start], whitespace))
	if lineEnd := bytes.IndexByte(text[from:], '\n'); from > 0 && lineEnd >= 0 {
		from += lineEnd + 1 // keep the line break of the last line before the table
	}
	return slices.Concat(text[:from], text[to:])
}

var (
	anyHeader        = regexp.MustCompile(`(?m)^[ \t]*\[`)
	trailingComments = regexp.MustCompile(`(?m)(^[ \t]*(#.*)?\r?\n?)*\z`)
)

// unsupportedForm returns the error for a value in a form that setup does not edit.
func unsupportedForm(path []string) error {
	return fmt.Errorf("%s: not a table with a header of its own; edit it by hand", strings.Join(path, "."))
}

// formatTOMLValue returns v on one line. A value that JSON does not have gives invalid text, which
// fails only when the result is parsed.
func formatTOMLValue(v any) string {
	members, ok := v.(fields)
	if decoded, isTable := v.(map[string]any); isTable {
		members, ok = fields{}.withUserMembers(decoded, nil), true
	}
	if !ok {
		return compactJSON(v)
	}
	all := make([]string, len(members))
	for i, f := range members {
		all[i] = f.name + " = " + formatTOMLValue(f.value)
	}
	return "{ " + strings.Join(all, ", ") + " }"
}
