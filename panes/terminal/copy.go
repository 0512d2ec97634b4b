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
func (t *Terminal) CountDigit(d int) (ok bool) {
	s := &t.scroll
	if !s.active || d == 0 && s.count == 0 {
		return false
	}
	s.count = min(s.count*10+d, maxCount)
	return true
}

// Count takes the number that was typed; given is false when there was none.
func (t *Terminal) Count() (n int, given bool) {
	n = t.scroll.count
	t.scroll.count = 0
	return max(n, 1), n > 0
}

// Cancel takes back what was begun last: the number, the selection, the marks
// of a search. It reports whether there was anything.
func (t *Terminal) Cancel() bool {
	s := &t.scroll
	switch {
	case s.count > 0:
		s.count = 0
	case s.sel.kind != selectNothing:
		s.sel = selection{}
	case s.search != nil:
		t.MarkMatches(nil)
	default:
		return false
	}
	return true
}

// Place is where the cursor of scroll mode is.
func (t *Terminal) Place() api.Place { return t.scroll.cursor }

// Go puts the cursor of scroll mode at a place, and where it was out of sight
// in the middle of the pane.
func (t *Terminal) Go(p api.Place) {
	s := &t.scroll
	if !s.active {
		return
	}
	s.wheel = false
	s.cursor, s.want = p, p.Cell
	if h := int64(t.inSight()); p.Line < s.top || p.Line >= s.top+h {
		s.top = p.Line - h/2
	}
	t.keepCursor()
	t.fetch()
	t.tellAnchors()
}

// A Position is where a pane in scroll mode looks.
type Position struct {
	top    int64
	cursor api.Place
}

// Position remembers where the pane looks; Return goes back there.
func (t *Terminal) Position() Position { return Position{t.scroll.top, t.scroll.cursor} }

// Return goes to where the pane looked before.
func (t *Terminal) Return(p Position) {
	if t.scroll.active {
		t.scroll.top, t.scroll.cursor = p.top, p.cursor
		t.keepCursor()
		t.fetch()
	}
}

// MarkMatches marks what a pattern matches from now on; nil marks nothing.
func (t *Terminal) MarkMatches(re *regexp.Regexp) {
	t.scroll.search, t.scroll.number, t.scroll.total = re, 0, 0
}

// Marked is the pattern whose matches are marked; nil if none are.
func (t *Terminal) Marked() *regexp.Regexp { return t.scroll.search }

// Found says which of how many matches the cursor is on.
func (t *Terminal) Found(number, total int) { t.scroll.number, t.scroll.total = number, total }

// matchSpans are the spans of all matches in the lines in sight, by line.
func (t *Terminal) matchSpans(top int64, h int, look *widget.Look) map[int64][]span {
	s := &t.scroll
	if s.search == nil {
		return nil
	}
	spans := map[int64][]span{}
	n := top
	for range longestWrap { // what is in sight may have begun above
		if l, ok := t.Feed.Screen.line(n - 1); !ok || !l.Wrapped {
			break
		}
		n--
	}
	for n < top+int64(h) {
		joined := t.Feed.Screen.join(n)
		for _, at := range s.search.FindAllStringIndex(joined.text, -1) {
			if at[0] < at[1] {
				joined.mark(spans, at[0], at[1], s.cursor, look)
			}
		}
		n += int64(max(len(joined.rows), 1))
	}
	return spans
}
