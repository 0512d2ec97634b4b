package terminal

import (
	"regexp"

	"tandem/engine/api"
	"tandem/panes/widget"
)

// maxCount bounds the number that can be typed before a move.
const maxCount = 1_000_000

// CountDigit takes a digit of the number before a move. A 0 is one only behind
// others; ok reports whether it was taken.
func (s *ScrollMode) CountDigit(d int) (ok bool) {
	if !s.active || d == 0 && s.count == 0 {
		return false
	}
	s.count = min(s.count*10+d, maxCount)
	return true
}

// Count takes the number that was typed; given is false when there was none.
func (s *ScrollMode) Count() (n int, given bool) {
	n = s.count
	s.count = 0
	return max(n, 1), n > 0
}

// Cancel takes back what was begun last: the number, the selection, the marks
// of a search. It reports whether there was anything.
func (s *ScrollMode) Cancel() bool {
	switch {
	case s.count > 0:
		s.count = 0
	case s.sel.kind != selectNothing:
		s.sel = selection{}
	case s.search != nil:
		s.MarkMatches(nil)
	default:
		return false
	}
	return true
}

// Place is where the cursor of scroll mode is.
func (s *ScrollMode) Place() api.Place { return s.cursor }

// Go puts the cursor of scroll mode at a place, and where it was out of sight
// in the middle of the pane.
func (s *ScrollMode) Go(p api.Place) {
	if !s.active {
		return
	}
	s.wheel = false
	s.cursor, s.want = p, p.Cell
	if h := int64(s.inSight()); p.Line < s.top || p.Line >= s.top+h {
		s.top = p.Line - h/2
	}
	s.keepCursor()
	s.fetch()
	s.tellAnchors()
}

// A Position is where a pane in scroll mode looks.
type Position struct {
	top    int64
	cursor api.Place
}

// Position remembers where the pane looks; Return goes back there.
func (s *ScrollMode) Position() Position { return Position{s.top, s.cursor} }

// Return goes to where the pane looked before.
func (s *ScrollMode) Return(p Position) {
	if s.active {
		s.top, s.cursor = p.top, p.cursor
		s.keepCursor()
		s.fetch()
	}
}

// MarkMatches marks what a pattern matches from now on; nil marks nothing.
func (s *ScrollMode) MarkMatches(re *regexp.Regexp) {
	s.search, s.number, s.total = re, 0, 0
}

// Marked is the pattern whose matches are marked; nil if none are.
func (s *ScrollMode) Marked() *regexp.Regexp { return s.search }

// Found says which of how many matches the cursor is on.
func (s *ScrollMode) Found(number, total int) { s.number, s.total = number, total }

// matchSpans are the spans of all matches in the lines in sight, by line.
func (s *ScrollMode) matchSpans(top int64, h int, look *widget.Look) map[int64][]span {
	if s.search == nil {
		return nil
	}
	spans := map[int64][]span{}
	n := top
	for range longestWrap { // what is in sight may have begun above
		if l, ok := s.screen.line(n - 1); !ok || !l.Wrapped {
			break
		}
		n--
	}
	for n < top+int64(h) {
		joined := s.screen.join(n)
		for _, at := range s.search.FindAllStringIndex(joined.text, -1) {
			if at[0] < at[1] {
				joined.mark(spans, at[0], at[1], s.cursor, look)
			}
		}
		n += int64(max(len(joined.rows), 1))
	}
	return spans
}
