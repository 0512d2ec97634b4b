package panes

import (
	"strings"

	"tandem/engine/api"
)

// HeldText is the text of a selection as the pane shows it; ok is false when not
// all of it is held, and the session has the rest.
func (t *Terminal) HeldText(in api.SessionTextInput) (text string, ok bool) {
	gone := in.From.Line < t.State().Oldest // what is not held is lost
	if !gone && !t.holds(in) {
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
		inside := false // the selection ends before the text of its last line does
		for _, c := range clusters(nil, l) {
			if c.x < to && c.x+c.w > from {
				line.WriteString(c.text)
			}
			inside = inside || !in.Block && c.x >= to && c.text != " "
		}
		if l.Wrapped && !in.Block && n < in.To.Line {
			continue
		}
		if inside {
			b.WriteString(line.String())
		} else {
			b.WriteString(strings.TrimRight(line.String(), " "))
		}
		line.Reset()
		if n < in.To.Line {
			b.WriteByte('\n')
		}
	}
	return b.String(), true
}

// holds reports whether all lines of a selection are held.
func (t *Terminal) holds(in api.SessionTextInput) bool {
	last := in.To.Line
	if in.To.Cell == 0 && !in.Block {
		last--
	}
	for n := in.From.Line; n <= last; n++ {
		if _, ok := t.Feed.Screen.line(n); !ok {
			return false
		}
	}
	return true
}
