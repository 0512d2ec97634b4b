package terminal

import (
	"regexp"

	"tandem/engine/api"
	"tandem/panes/kit/look"
)

const maxCount = 1_000_000

// A count is the number typed before a motion; 0 if none was typed.
type count int

// addDigit appends a digit to the count. ok is false for a leading 0, which is a motion.
func (c *count) addDigit(d int) (ok bool) {
	if d == 0 && *c == 0 {
		return false
	}
	*c = min(*c*10+count(d), maxCount)
	return true
}

// consume returns the count and resets it. If none was typed, n is 1 and given is false.
func (c *count) consume() (n int, given bool) {
	n = int(*c)
	*c = 0
	return max(n, 1), n > 0
}

// CancelLast cancels whatever was started last: the count, the selection or the marks of a search.
// It reports false if there was nothing.
func (s *ScrollMode) CancelLast() bool {
	switch {
	case s.count > 0:
		s.count = 0
	case s.sel.kind != selectNothing:
		s.sel = selection{}
	case s.matches.pattern != nil:
		s.matches = matches{}
	default:
		return false
	}
	return true
}

func (s *ScrollMode) CursorPlace() api.Place { return s.cursor }

// GoTo moves the cursor to a place. If the place is outside the view, it appears in the middle.
func (s *ScrollMode) GoTo(p api.Place) {
	if !s.active {
		return
	}
	s.wheel = false
	s.cursor, s.column = p, p.Cell
	if h := int64(s.visibleRows()); p.Line < s.top || p.Line >= s.top+h {
		s.top = p.Line - h/2
	}
	s.showCursor()
	s.requestLines()
	s.sendAnchors()
}

// A Position is the view and cursor of scroll mode.
type Position struct {
	top    int64
	cursor api.Place
}

func (s *ScrollMode) SavePosition() Position { return Position{s.top, s.cursor} }

// RestorePosition returns to a saved position.
func (s *ScrollMode) RestorePosition(p Position) {
	if s.active {
		s.top, s.cursor = p.top, p.cursor
		s.showCursor()
		s.requestLines()
	}
}

// matches are the matches of a search that are marked in the view.
type matches struct {
	pattern *regexp.Regexp // nil for none
	number  int            // of the match under the cursor; 0 for none
	total   int            // of all matches
}

// spans returns the spans of all matches in the view, by line.
func (m *matches) spans(screen *Screen, top int64, h int, cursor api.Place, look *look.Look) map[int64][]span {
	if m.pattern == nil {
		return nil
	}
	spans := map[int64][]span{}
	n := top
	for range maxWrapRows { // the first visible row may continue a line
		if l, ok := screen.lineAt(n - 1); !ok || !l.Wrapped {
			break
		}
		n--
	}
	for n < top+int64(h) {
		joined := screen.joinRows(n)
		for _, at := range m.pattern.FindAllStringIndex(joined.text, -1) {
			if at[0] < at[1] {
				joined.markSpans(spans, at[0], at[1], cursor, look)
			}
		}
		n += int64(max(len(joined.rows), 1))
	}
	return spans
}
