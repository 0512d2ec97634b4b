package terminal

import (
	"strings"

	"tandem/engine/api"
)

// HeldText is the text of a selection as the pane shows it; ok is false when the
// session has lines of it that are not held. Lines that nobody has any more are
// left out.
func (s *Screen) HeldText(in api.SessionTextInput) (text string, ok bool) {
	if !s.holds(in) {
		return "", false
	}
	var b, line strings.Builder
	held := s.held(in.From.Line, in.To.Line+1)
	for i, n := range held {
		l, _ := s.line(n)
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
		if l.Wrapped && !in.Block && i+1 < len(held) && held[i+1] == n+1 {
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

// Lost reports whether nobody has any line of a selection any more.
func (s *Screen) Lost(in api.SessionTextInput) bool {
	last := lastOf(in)
	return last < s.State().Oldest && len(s.held(in.From.Line, last+1)) == 0
}

// holds reports whether all lines of a selection are held that the session has.
func (s *Screen) holds(in api.SessionTextInput) bool {
	last := lastOf(in)
	for n := max(in.From.Line, s.State().Oldest); n <= last; n++ {
		if _, ok := s.line(n); !ok {
			return false
		}
	}
	return true
}

// lastOf is the last line of which a selection has anything.
func lastOf(in api.SessionTextInput) int64 {
	if in.To.Cell == 0 && !in.Block && in.To.Line > in.From.Line {
		return in.To.Line - 1
	}
	return in.To.Line
}
