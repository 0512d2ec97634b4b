package panes

import (
	"strings"

	"tandem/engine/api"
)

// HeldText is the text of a selection that begins above what the session still
// has, as far as it is held; ok is false when the session has all of it.
func (t *Terminal) HeldText(in api.SessionTextInput) (text string, ok bool) {
	if in.From.Line >= t.State().Oldest {
		return "", false
	}
	var b, line strings.Builder
	for n := in.From.Line; n <= in.To.Line; n++ {
		l, held := t.Feed.Screen.line(n)
		if !held && n > in.From.Line+aroundView+int64(t.size.Rows) {
			break
		}
		from, to := 0, 1<<30
		if in.Block || n == in.From.Line {
			from = in.From.Cell
		}
		if in.Block || n == in.To.Line {
			to = in.To.Cell
		}
		for _, c := range clusters(nil, l) {
			if c.x < to && c.x+c.w > from {
				line.WriteString(c.text)
			}
		}
		if l.Wrapped && !in.Block && n < in.To.Line {
			continue
		}
		b.WriteString(strings.TrimRight(line.String(), " "))
		line.Reset()
		if n < in.To.Line {
			b.WriteByte('\n')
		}
	}
	return b.String(), true
}
