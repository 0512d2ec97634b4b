package config

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"tandem/persist/config/settings"
	"tandem/persist/diag"
)

// maxSyntaxErrors is how many syntax errors are reported.
const maxSyntaxErrors = 50

// decodeConfig decodes the valid parts of config.toml. It adds the rest to wrong: syntax errors,
// unknown keys, and values of the wrong type.
func decodeConfig(text []byte, wrong *mistakes) settings.Config {
	c := settings.Defaults()
	// Fast path: a valid file need not be decoded key by key.
	if decodeStrictly(text, &c) != nil {
		c = settings.Defaults()
		decodeTable(&c, decodeReadable(text, wrong), nil, wrong)
	}
	fillEmpty(reflect.ValueOf(&c).Elem(), reflect.ValueOf(settings.Defaults()))
	return c
}

// fillEmpty replaces empty texts and zeros in a struct by their defaults, because both count as
// unset.
func fillEmpty(c, defaults reflect.Value) {
	for i := range c.NumField() {
		switch field := c.Field(i); field.Kind() {
		case reflect.Struct:
			fillEmpty(field, defaults.Field(i))
		case reflect.String, reflect.Int, reflect.Int64:
			if field.IsZero() {
				field.Set(defaults.Field(i))
			}
		}
	}
}

func decodeStrictly(text []byte, c *settings.Config) error {
	return toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(c)
}

// decodeTable decodes a table key by key, so a wrong key does not affect the others.
func decodeTable(c *settings.Config, table map[string]any, path []string, wrong *mistakes) {
	for _, name := range slices.Sorted(maps.Keys(table)) {
		// Clone the path, because append could overwrite the key of a sibling.
		key := append(slices.Clone(path), name)
		within, isTable := table[name].(map[string]any)
		value := table[name]
		if isTable {
			value = map[string]any{}
		}
		if err := decodeKey(c, key, value); err != nil {
			wrong.addDecodeError(key, err)
		} else if isTable {
			decodeTable(c, within, key, wrong)
		}
	}
}

// decodeKey decodes one key into c. If it returns an error, c is unchanged.
func decodeKey(c *settings.Config, key []string, value any) error {
	for _, name := range slices.Backward(key) {
		value = map[string]any{name: value}
	}
	text, err := toml.Marshal(value)
	if err != nil {
		return err
	}
	// Decode into an empty Config first: a failed decode may leave c half changed.
	var alone settings.Config
	if err := decodeStrictly(text, &alone); err != nil {
		return err
	}
	return decodeStrictly(text, c)
}

// addDecodeError adds the decoder's error about a key, worded for the reader of the file.
func (m *mistakes) addDecodeError(key []string, err error) {
	name := strings.Join(key, ".")
	var unknown *toml.StrictMissingError
	if errors.As(err, &unknown) {
		m.addAt(key, false, fmt.Sprintf("unknown key %q", name)+suggestion(name))
		return
	}
	want := "a table"
	if s, ok := settings.Find(name); ok {
		want = s.Want
	}
	m.addAt(key, true, fmt.Sprintf("%s: must be %s", name, want))
}

// decodeReadable decodes text without its syntax errors, and adds these to wrong. It replaces each
// faulty expression by blanks and decodes again.
func decodeReadable(text []byte, wrong *mistakes) map[string]any {
	text = bytes.Clone(text)
	last, open := 0, false
	for range maxSyntaxErrors {
		var all map[string]any
		err := toml.Unmarshal(text, &all)
		if err == nil {
			wrong.readable = text
			return all
		}
		var broken *toml.DecodeError
		if !errors.As(err, &broken) {
			wrong.list = append(wrong.list, mistake{text: strings.TrimPrefix(err.Error(), "toml: ")})
			return nil
		}
		line, column := broken.Position()
		from, to, next := expressionLines(text, line, last)
		// After an unterminated list or string, its next lines are no valid TOML either. That is
		// not another mistake.
		if !open || !next {
			message := diag.Syntax(broken)
			if open = line > from; open {
				message += fmt.Sprintf(", in the value that begins on line %d", from)
			}
			wrong.list = append(wrong.list, mistake{diag.Span{Line: line, Column: column, Width: 1}, message})
		}
		if !blankLines(text, from, to) {
			return nil
		}
		last = to
	}
	return nil
}

// expressionLines returns the first and last line of the expression that contains the faulty line.
// If the expression is unterminated, it returns only the first line. next reports whether the
// expression directly follows the lines already blanked.
func expressionLines(text []byte, line, blanked int) (from, to int, next bool) {
	var p unstable.Parser
	p.Reset(bytes.Clone(text))
	end := 0
	for p.NextExpression() {
		first, last := linesOfExpression(&p)
		if first <= line && line <= last {
			return first, last, end <= blanked && first > blanked
		}
		end = max(end, last)
	}
	lines := bytes.Split(text, []byte("\n"))
	for from = end + 1; from < line && isIdle(lines[from-1]); from++ {
	}
	return from, from, end <= blanked && from > blanked
}

func linesOfExpression(p *unstable.Parser) (first, last int) {
	e := p.Expression()
	raw := e.Raw
	if e.Kind == unstable.Table || e.Kind == unstable.ArrayTable {
		_, raw = keyNames(e)
	}
	if raw.Length == 0 {
		return 0, 0
	}
	shape := p.Shape(raw)
	return shape.Start.Line, shape.End.Line
}

// isIdle reports whether a line is empty or only a comment.
func isIdle(line []byte) bool {
	line = bytes.TrimSpace(line)
	return len(line) == 0 || line[0] == '#'
}

// blankLines replaces lines by spaces. It reports whether that has changed the text.
func blankLines(text []byte, from, to int) (changed bool) {
	line := 1
	for i, b := range text {
		if b == '\n' {
			line++
		} else if line >= from && line <= to && b != ' ' {
			text[i], changed = ' ', true
		}
	}
	return changed
}
