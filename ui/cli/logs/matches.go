package logs

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"tandem/engine/api"
	"tandem/engine/rendered"
	"tandem/ui/cli/output"
)

// A matchPrinter prints matching lines of a log with the lines around them, each line once.
type matchPrinter struct {
	pattern *regexp.Regexp
	paint   func(output.Tint, string) string
	raw     bool
	around  bool
	count   int   // matches printed
	printed int64 // offset behind the last line printed
}

// newMatchPrinter returns a printer for a regular expression. With raw, lines are printed as they
// are; with around, groups of lines are divided.
func newMatchPrinter(paint func(output.Tint, string) string, pattern string, raw, around bool) *matchPrinter {
	return &matchPrinter{pattern: regexp.MustCompile(pattern), paint: paint, raw: raw, around: around}
}

// add returns the text of matches.
func (m *matchPrinter) add(matches []api.LogMatch) string {
	var b strings.Builder
	for _, match := range ordered(matches) {
		m.count++
		offset := match.Offset
		for _, line := range match.Before {
			offset -= int64(len(line)) + 1
		}
		if m.around && m.count > 1 && offset > m.printed {
			b.WriteString(m.paint(output.Faint, "--") + "\n")
		}
		for _, line := range match.Before {
			offset = m.line(&b, offset, line)
		}
		offset = m.line(&b, match.Offset, match.Text)
		for _, line := range match.After {
			offset = m.line(&b, offset, line)
		}
	}
	return b.String()
}

// line prints a line of the log unless it has been printed, and returns the offset of the next.
func (m *matchPrinter) line(b *strings.Builder, offset int64, line string) int64 {
	next := offset + int64(len(line)) + 1
	if offset < m.printed {
		return next
	}
	m.printed = next
	b.WriteString(m.marked(line) + "\n")
	return next
}

// marked returns a line with its matches highlighted.
func (m *matchPrinter) marked(line string) string {
	if m.raw {
		return line
	}
	show := func(s string) string { return output.Escape(s, "\t") }
	line = string(rendered.AppendText(nil, []byte(line)))
	var b strings.Builder
	from := 0
	for _, at := range m.pattern.FindAllStringIndex(line, -1) {
		b.WriteString(show(line[from:at[0]]) + m.paint(output.Red, show(line[at[0]:at[1]])))
		from = at[1]
	}
	b.WriteString(show(line[from:]))
	return b.String()
}

// ordered returns matches from the oldest to the newest.
func ordered(matches []api.LogMatch) []api.LogMatch {
	matches = slices.Clone(matches)
	slices.SortStableFunc(matches, func(a, b api.LogMatch) int { return cmp.Compare(a.Offset, b.Offset) })
	return matches
}
