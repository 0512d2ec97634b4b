package config

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2/unstable"
)

// A span is a place in a text: a line and a column, both from 1, and a number
// of bytes. The zero value is nowhere.
type span struct{ line, column, width int }

// A mistake is one thing that is wrong with a configuration.
type mistake struct {
	span
	text string
}

// mistakes are what is wrong with a configuration, as an error.
type mistakes struct {
	text []byte // the configuration
	read []byte // the same without what is no TOML, if there is such
	list []mistake
}

// found is the error; nil if nothing is wrong.
func (m *mistakes) found() error {
	if len(m.list) == 0 {
		return nil
	}
	slices.SortStableFunc(m.list, func(a, b mistake) int { return cmp.Or(a.line-b.line, a.column-b.column) })
	return m
}

// at adds a mistake in the value of a key: "theme", "agents.sandbox", or with
// \x00 between parts that have dots themselves.
func (m *mistakes) at(key, format string, args ...any) {
	sep := "."
	if strings.Contains(key, "\x00") {
		sep = "\x00"
	}
	place, _ := locate(m.legible(), strings.Split(key, sep))
	m.list = append(m.list, mistake{place, fmt.Sprintf(format, args...)})
}

// legible is the text in which keys can be found.
func (m *mistakes) legible() []byte {
	if m.read != nil {
		return m.read
	}
	return m.text
}

// brief is the first mistake on one short line.
func (m *mistakes) brief() string {
	first := m.list[0]
	text, _, _ := strings.Cut(first.text, ";")
	if first.line == 0 {
		return text
	}
	return fmt.Sprintf("line %d: %s", first.line, text)
}

// Error shows each mistake with its line and a caret.
func (m *mistakes) Error() string {
	lines := strings.Split(string(m.text), "\n")
	var b strings.Builder
	for i, one := range m.list {
		if i > 0 {
			b.WriteString("\n")
		}
		if one.line == 0 {
			b.WriteString(one.text)
			continue
		}
		fmt.Fprintf(&b, "line %d: %s\n", one.line, one.text)
		writeExcerpt(&b, lines, one.span)
	}
	return b.String()
}

// writeExcerpt shows a line with the place in it underlined. Tabs count as one
// column, as they are shown as spaces.
func writeExcerpt(b *strings.Builder, lines []string, at span) {
	if at.line > len(lines) {
		return
	}
	line := strings.TrimRight(lines[at.line-1], "\r")
	before := min(max(at.column-1, 0), len(line))
	width := max(utf8.RuneCountInString(line[before:min(before+at.width, len(line))]), 1)
	number := fmt.Sprintf("%4d", at.line)
	shown := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, line)
	fmt.Fprintf(b, "%s | %s\n", number, shown)
	fmt.Fprintf(b, "%s | %s%s", strings.Repeat(" ", len(number)),
		strings.Repeat(" ", utf8.RuneCountInString(line[:before])), strings.Repeat("^", width))
}

// suggestion names the key that was probably meant.
func suggestion(name string) string {
	var keys []string
	for _, s := range Settings() {
		keys = append(keys, s.Key)
	}
	if like := nearest(name, keys); like != "" {
		return "; did you mean " + like + "?"
	}
	return ""
}

// nearest is the word that is almost name; "" if none is.
func nearest(name string, words []string) (best string) {
	least := 3
	for _, w := range words {
		if d := distance(name, w); d < least {
			best, least = w, d
		}
	}
	return best
}

// distance is the number of letters to add, remove or change to get from a to b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := before
			if a[i] != b[j] {
				change++
			}
			before = row[j+1]
			row[j+1] = min(change, row[j]+1, before+1)
		}
	}
	return row[len(b)]
}

// locate finds the value of a key in a TOML text, or the table of that name.
func locate(text []byte, path []string) (span, bool) { return find(text, path, true) }

// locateKey finds the key itself.
func locateKey(text []byte, path []string) (span, bool) { return find(text, path, false) }

func find(text []byte, path []string, value bool) (span, bool) {
	var p unstable.Parser
	p.Reset(bytes.Clone(text)) // places are told by the capacity of what is parsed
	var table []string
	for p.NextExpression() {
		e := p.Expression()
		if e.Kind != unstable.KeyValue && e.Kind != unstable.Table && e.Kind != unstable.ArrayTable {
			continue
		}
		names, raw := keyNames(e)
		if e.Kind != unstable.KeyValue {
			if table = names; leads(path, table) {
				return spanOf(&p, raw), true
			}
			continue
		}
		key := append(slices.Clone(table), names...)
		if leads(key, path) {
			return spanOf(&p, partOf(e, raw, value)), true
		}
		if leads(path, key) { // a.b = 1, where a is looked for
			return spanOf(&p, raw), true
		}
	}
	return span{}, false
}

// partOf is where the value of an entry stands or, of one that goes on over
// lines or has entries itself, all of it; or its key, which stands at raw.
func partOf(entry *unstable.Node, raw unstable.Range, value bool) unstable.Range {
	switch v := entry.Value(); {
	case !value:
		return raw
	case v.Kind != unstable.Array && v.Kind != unstable.InlineTable && v.Raw.Length > 0:
		return v.Raw
	}
	return entry.Raw
}

// leads reports whether a key is another one, or a table around it.
func leads(key, other []string) bool {
	return len(key) <= len(other) && slices.Equal(key, other[:len(key)])
}

func keyNames(e *unstable.Node) (names []string, raw unstable.Range) {
	for it := e.Key(); it.Next(); {
		n := it.Node()
		if len(names) == 0 {
			raw.Offset = n.Raw.Offset
		}
		raw.Length = n.Raw.Offset + n.Raw.Length - raw.Offset
		names = append(names, string(n.Data))
	}
	return names, raw
}

// spanOf is the part of a range on its first line.
func spanOf(p *unstable.Parser, r unstable.Range) span {
	raw, _, _ := bytes.Cut(p.Raw(r), []byte("\n"))
	start := p.Shape(r).Start
	return span{start.Line, start.Column, len(bytes.TrimRight(raw, " \t\r"))}
}
