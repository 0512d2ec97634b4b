package terminal

import (
	"strings"

	"tandem/engine/api"
)

// HeldText returns the text of a range as the pane shows it, without lines that both the session
// and the pane have dropped. ok is false if the session has a line of the range that the pane does
// not hold.
func (s *Screen) HeldText(in api.SessionTextInput) (text string, ok bool) {
	if !s.holdsAll(in) {
		return "", false
	}
	var b, line strings.Builder
	held := s.heldLines(in.From.Line, in.To.Line+1)
	for i, n := range held {
		l, _ := s.lineAt(n)
		from, to := 0, 1<<30
		if in.Block || n == in.From.Line {
			from = in.From.Cell
		}
		if in.Block || n == in.To.Line {
			to = in.To.Cell
		}
		inside := false // the range ends before the text of its last line
		for _, c := range appendClusters(nil, l) {
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

// HasLost reports whether both the pane and the session have dropped every line of a range.
func (s *Screen) HasLost(in api.SessionTextInput) bool {
	last := lastLineOf(in)
	return last < s.State().Oldest && len(s.heldLines(in.From.Line, last+1)) == 0
}

// holdsAll reports whether the pane holds all lines of a range that the session still has.
func (s *Screen) holdsAll(in api.SessionTextInput) bool {
	last := lastLineOf(in)
	for n := max(in.From.Line, s.State().Oldest); n <= last; n++ {
		if _, ok := s.lineAt(n); !ok {
			return false
		}
	}
	return true
}

// lastLineOf returns the last line of which the range contains a part.
func lastLineOf(in api.SessionTextInput) int64 {
	if in.To.Cell == 0 && !in.Block && in.To.Line > in.From.Line {
		return in.To.Line - 1
	}
	return in.To.Line
}
