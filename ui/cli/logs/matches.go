package logs

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"tandem/engine/api"
	"tandem/ui/cli/output"
)

// A matchPrinter formats matching lines of a log with their context, each line once.
type matchPrinter struct {
	pattern *regexp.Regexp
	out     output.Printer // prints the lines
	paint   func(output.Tint, string) string
	raw     bool
	around  bool
	count   int   // matches printed
	printed int64 // offset after the last line printed
}

// newMatchPrinter returns a printer for a regular expression. If raw is set, lines are not
// converted to text. If around is set, matches have context, and groups of lines are separated.
func newMatchPrinter(out output.Printer, pattern string, raw, around bool) *matchPrinter {
	return &matchPrinter{out: out, pattern: regexp.MustCompile(pattern), paint: out.Painter(), raw: raw, around: around}
}

// add formats matches.
func (m *matchPrinter) add(matches []api.LogMatch) string {
	var b strings.Builder
	for _, match := range sortByOffset(matches) {
		m.count++
		offset := match.Offset
		for _, line := range match.Before {
			offset -= int64(len(line)) + 1
		}
		// Adjacent groups need no separator.
		if m.around && m.count > 1 && offset > m.printed {
			b.WriteString(m.paint(output.Faint, "--") + "\n")
		}
		for _, line := range match.Before {
			offset = m.writeLine(&b, offset, line)
		}
		offset = m.writeLine(&b, match.Offset, match.Text)
		for _, line := range match.After {
			offset = m.writeLine(&b, offset, line)
		}
	}
	return b.String()
}

// writeLine writes a line of the log unless it was already written. It returns the offset of the
// next line.
func (m *matchPrinter) writeLine(b *strings.Builder, offset int64, line string) int64 {
	next := offset + int64(len(line)) + 1
	if offset < m.printed {
		return next
	}
	m.printed = next
	b.WriteString(m.highlight(line) + "\n")
	return next
}

// highlight returns a line with its matches coloured.
func (m *matchPrinter) highlight(line string) string {
	if m.raw {
		return line
	}
	return m.out.Highlight(m.pattern, line)
}

// sortByOffset returns matches from oldest to newest.
func sortByOffset(matches []api.LogMatch) []api.LogMatch {
	matches = slices.Clone(matches)
	slices.SortStableFunc(matches, func(a, b api.LogMatch) int { return cmp.Compare(a.Offset, b.Offset) })
	return matches
}
