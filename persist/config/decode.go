package config

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"tandem/persist/diag"
)

// brokenMost is how many expressions that are no TOML are told of.
const brokenMost = 50

// decodeConfig reads config.toml as far as it can be read, and tells of the
// rest: what is not TOML, keys that do not exist, values of another type.
func decodeConfig(text []byte, wrong *mistakes) Config {
	var c Config
	if decodeStrictly(text, &c) == nil {
		return c
	}
	c = Config{}
	c.take(readable(text, wrong), nil, wrong)
	return c
}

func decodeStrictly(text []byte, c *Config) error {
	return toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields().Decode(c)
}

// take decodes a table key by key, so that a wrong one costs no other.
func (c *Config) take(table map[string]any, path []string, wrong *mistakes) {
	for _, name := range slices.Sorted(maps.Keys(table)) {
		key := append(slices.Clone(path), name)
		within, isTable := table[name].(map[string]any)
		value := table[name]
		if isTable {
			value = map[string]any{}
		}
		if err := c.takeOne(key, value); err != nil {
			wrong.ofKey(key, err)
		} else if isTable {
			c.take(within, key, wrong)
		}
	}
}

// takeOne decodes one key, and changes nothing if that fails.
func (c *Config) takeOne(key []string, value any) error {
	for _, name := range slices.Backward(key) {
		value = map[string]any{name: value}
	}
	text, err := toml.Marshal(value)
	if err != nil {
		return err
	}
	var alone Config
	if err := decodeStrictly(text, &alone); err != nil {
		return err
	}
	return decodeStrictly(text, c)
}

// ofKey adds what the decoder says of a key, in words of the configuration and
// not of the program.
func (m *mistakes) ofKey(key []string, err error) {
	name := strings.Join(key, ".")
	var unknown *toml.StrictMissingError
	if errors.As(err, &unknown) {
		place, _ := locateKey(m.legible(), key)
		m.list = append(m.list, mistake{place, fmt.Sprintf("unknown key %q", name) + suggestion(name)})
		return
	}
	want := "a table"
	if s, ok := settingOf(name); ok {
		want = s.Want
	}
	place, _ := locate(m.legible(), key)
	m.list = append(m.list, mistake{place, fmt.Sprintf("%s: must be %s", name, want)})
}

// readable decodes a text without what is not TOML in it, which it tells of.
func readable(text []byte, wrong *mistakes) map[string]any {
	text = bytes.Clone(text)
	last, open := 0, false
	for range brokenMost {
		var all map[string]any
		err := toml.Unmarshal(text, &all)
		if err == nil {
			wrong.read = text
			return all
		}
		var broken *toml.DecodeError
		if !errors.As(err, &broken) {
			wrong.list = append(wrong.list, mistake{text: strings.TrimPrefix(err.Error(), "toml: ")})
			return nil
		}
		line, column := broken.Position()
		from, to, next := around(text, line, last)
		// What follows the beginning of a list or text that does not end is no
		// TOML by itself, which is not another mistake.
		if !open || !next {
			says := diag.Syntax(broken)
			if open = line > from; open {
				says += fmt.Sprintf(", in what begins on line %d", from)
			}
			wrong.list = append(wrong.list, mistake{diag.Span{Line: line, Column: column, Width: 1}, says})
		}
		if !blank(text, from, to) {
			return nil
		}
		last = to
	}
	return nil
}

// around tells the first and the last line of the expression that cannot be
// read because of a line; of one that has no end the first one alone. next
// tells whether it is what comes next after a line that was made blank.
func around(text []byte, line, blanked int) (from, to int, next bool) {
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
	for from = end + 1; from < line && idle(lines[from-1]); from++ {
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

// idle reports whether a line is empty or a comment.
func idle(line []byte) bool {
	line = bytes.TrimSpace(line)
	return len(line) == 0 || line[0] == '#'
}

// blank makes spaces of some lines, and tells whether that changed anything.
func blank(text []byte, from, to int) (changed bool) {
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
