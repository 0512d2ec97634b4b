package config

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"

	"tandem/persist/diag"
)

// A mistake is one thing that is wrong with a configuration.
type mistake struct {
	diag.Span
	text string
}

// mistakes are what is wrong with a configuration, as an error.
type mistakes struct {
	text []byte // the configuration
	read []byte // the same without what is not TOML, if there is such
	list []mistake
}

// found is the error; nil if nothing is wrong.
func (m *mistakes) found() error {
	if len(m.list) == 0 {
		return nil
	}
	slices.SortStableFunc(m.list, func(a, b mistake) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) })
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
	if first.Line == 0 {
		return text
	}
	return fmt.Sprintf("line %d: %s", first.Line, text)
}

// Error shows each mistake with its line and a caret.
func (m *mistakes) Error() string {
	all := make([]string, len(m.list))
	for i, one := range m.list {
		all[i] = one.Mistake(m.text, one.text)
	}
	return strings.Join(all, "\n")
}

// suggestion names the key that was probably meant.
func suggestion(name string) string {
	var keys []string
	for _, s := range Settings() {
		keys = append(keys, s.Key)
	}
	if like := diag.Nearest(name, keys); like != "" {
		return "; did you mean " + like + "?"
	}
	return ""
}

// locate finds the value of a key in a TOML text, or the table of that name.
func locate(text []byte, path []string) (diag.Span, bool) { return find(text, path, true) }

// locateKey finds the key itself.
func locateKey(text []byte, path []string) (diag.Span, bool) { return find(text, path, false) }

func find(text []byte, path []string, value bool) (diag.Span, bool) {
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
				return diag.SpanOf(&p, raw), true
			}
			continue
		}
		key := append(slices.Clone(table), names...)
		if leads(key, path) {
			return diag.SpanOf(&p, partOf(e, raw, value)), true
		}
		if leads(path, key) { // a.b = 1, where a is looked for
			return diag.SpanOf(&p, raw), true
		}
	}
	return diag.Span{}, false
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
