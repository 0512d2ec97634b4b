package output

import (
	"regexp"
	"strings"

	"tandem/engine/screen/rendered"
)

// Highlight returns the text that a terminal shows for a line of output, with the matches of a pattern
// coloured; none if pattern is nil.
func (p Printer) Highlight(pattern *regexp.Regexp, line string) string {
	paint := p.Painter()
	show := func(s string) string { return p.Escape(s, "\t") }
	line = string(rendered.AppendText(nil, []byte(line)))
	var b strings.Builder
	var matches [][]int
	if pattern != nil {
		matches = pattern.FindAllStringIndex(line, -1)
	}
	from := 0
	for _, at := range matches {
		b.WriteString(show(line[from:at[0]]) + paint(Red, show(line[at[0]:at[1]])))
		from = at[1]
	}
	b.WriteString(show(line[from:]))
	return b.String()
}
