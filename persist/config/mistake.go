package config

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"

	"tandem/persist/config/settings"
	"tandem/persist/diag"
)

// A mistake is one error in a configuration.
type mistake struct {
	diag.Span
	text string
}

// mistakes is an error that lists all mistakes in a configuration.
type mistakes struct {
	text     []byte // the configuration
	readable []byte // text without its syntax errors
	list     []mistake
}

// asError returns m with its mistakes sorted by line, or nil if there are none.
func (m *mistakes) asError() error {
	if len(m.list) == 0 {
		return nil
	}
	slices.SortStableFunc(m.list, func(a, b mistake) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) })
	return m
}

// add adds a mistake in the value of a key such as "theme" or "agents.sandbox". If a part of the
// key contains a dot, the parts are joined by \x00 instead.
func (m *mistakes) add(key, format string, args ...any) {
	sep := "."
	if strings.Contains(key, "\x00") {
		sep = "\x00"
	}
	m.addAt(strings.Split(key, sep), true, fmt.Sprintf(format, args...))
}

// addAt adds a mistake in a key or its value.
func (m *mistakes) addAt(key []string, value bool, message string) {
	m.list = append(m.list, mistake{locate(m.readable, key, value), message})
}

// brief returns the first mistake on one short line.
func (m *mistakes) brief() string {
	first := m.list[0]
	text, _, _ := strings.Cut(first.text, ";")
	if first.Line == 0 {
		return text
	}
	return fmt.Sprintf("line %d: %s", first.Line, text)
}

// Error returns each mistake with its line and a caret.
func (m *mistakes) Error() string {
	all := make([]string, len(m.list))
	for i, one := range m.list {
		all[i] = one.Mistake(m.text, one.text)
	}
	return strings.Join(all, "\n")
}

// suggestion returns a hint with the known key most similar to name, or "".
func suggestion(name string) string {
	var keys []string
	for _, s := range settings.All() {
		keys = append(keys, s.Key)
	}
	if like := diag.Nearest(name, keys); like != "" {
		return "; did you mean " + like + "?"
	}
	return ""
}

// locate returns the position of a key, of its value, or of the table with that name. It returns
// the zero Span if there is none.
func locate(text []byte, path []string, value bool) diag.Span {
	var p unstable.Parser
	// The parser derives positions from the capacity of its input, so they would be wrong without a
	// clone.
	p.Reset(bytes.Clone(text))
	var table []string
	for p.NextExpression() {
		e := p.Expression()
		if e.Kind != unstable.KeyValue && e.Kind != unstable.Table && e.Kind != unstable.ArrayTable {
			continue
		}
		names, raw := keyNames(e)
		if e.Kind != unstable.KeyValue {
			if table = names; isPrefix(path, table) {
				return diag.SpanOf(&p, raw)
			}
			continue
		}
		key := append(slices.Clone(table), names...)
		switch {
		case isPrefix(key, path):
			return diag.SpanOf(&p, partOf(e, raw, value))
		case isPrefix(path, key): // path is a, and the entry is a.b = 1
			return diag.SpanOf(&p, raw)
		}
	}
	return diag.Span{}
}

// partOf returns the position of an entry's key, which is at raw, or of its value. For a list or an
// inline table it returns the whole entry.
func partOf(entry *unstable.Node, raw unstable.Range, value bool) unstable.Range {
	switch v := entry.Value(); {
	case !value:
		return raw
	case v.Kind != unstable.Array && v.Kind != unstable.InlineTable && v.Raw.Length > 0:
		return v.Raw
	}
	return entry.Raw
}

// isPrefix reports whether key is a prefix of other.
func isPrefix(key, other []string) bool {
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
