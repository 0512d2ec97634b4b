package terminal

import (
	"fmt"
	"regexp"
	"sort"

	"tandem/engine/api"
	"tandem/engine/api/outbox"
)

// aroundView is how many lines above and below what is in sight are held for
// moves of the cursor.
const aroundView = 250

// A ScrollMode is a terminal that does not follow the output: it looks at a place
// of its own, where a cursor moves, selects and searches.
type ScrollMode struct {
	screen *Screen
	outbox *outbox.Outbox
	height int       // of the pane
	flash  selection // what the mouse has selected, while it stays marked on the live screen
	scroll
}

// scroll is where a ScrollMode looks and what is selected there; nothing while
// the output is followed.
type scroll struct {
	active bool
	wheel  bool  // began with the wheel: ends by itself at the bottom
	mouse  bool  // began with a drag: ends with it at the bottom
	drag   bool  // the mouse holds an end of the selection
	top    int64 // absolute number of the pane's first line
	start  int64 // top at the beginning
	cursor api.Place
	want   int // column to go back to in a longer line
	count  int // a number that was typed
	hidden int // rows at the bottom that something else covers
	sel    selection

	search *regexp.Regexp // its matches are marked; nil for none
	number int            // of the match the cursor was put on; 0 if on none
	total  int            // of matches

	asked api.LineRange
	told  [3]api.Place // anchors, as the session knows them
	known bool         // the attachment knows told
	full  uint64       // the full frame that the numbers of lines belong to
}

// lastTop is the pane's first line when it shows the end of the screen.
func (s *ScrollMode) lastTop(st ScreenState) int64 {
	return st.First + int64(max(st.Rows-s.height, 0))
}

// oldest is the first line that can be read: of the scrollback or, when that has
// gone on beyond what is in sight, of what is held.
func (s *ScrollMode) oldest(st ScreenState) int64 {
	n := s.top
	if !s.active || n >= st.Oldest {
		return st.Oldest
	}
	held := s.screen.held(n-aroundView, min(n+int64(s.height), st.Oldest))
	i := sort.Search(len(held), func(i int) bool { return held[i] >= n })
	if i == len(held) {
		return st.Oldest
	}
	for i > 0 && held[i] <= n && held[i-1] == held[i]-1 {
		i--
	}
	return held[i]
}

// topOf is the line at the pane's top: where it was scrolled to, or as far down
// as it takes to see the cursor.
func (s *ScrollMode) topOf(st ScreenState) int64 {
	if s.active {
		return s.top
	}
	return st.First + int64(st.above(s.height))
}

// clamp keeps the position inside what the session still has.
func (s *ScrollMode) clamp(st ScreenState) {
	if !s.active {
		return
	}
	last, oldest := s.lastTop(st), s.oldest(st)
	s.top = max(min(s.top, last), oldest)
	s.cursor.Line = max(min(s.cursor.Line, st.First+int64(st.Rows)-1), oldest)
	s.cursor.Cell = max(min(s.cursor.Cell, st.Cols-1), 0)
}

// endAtBottom leaves scroll mode at the bottom if the wheel started it. Only scrolling calls
// it: a pane may grow after the wheel turned, when an earlier resize takes effect.
func (s *ScrollMode) endAtBottom() {
	if s.wheel && s.top == s.lastTop(s.screen.State()) {
		s.Stop()
	}
}

// Active reports whether the pane is in scroll mode.
func (s *ScrollMode) Active() bool { return s.active }

// Start enters scroll mode at the present place.
func (s *ScrollMode) Start() {
	if s.screen.State().Known {
		s.begin()
		s.wheel, s.mouse = false, false
	}
}

// begin enters scroll mode with what the session's screen shows now.
func (s *ScrollMode) begin() {
	st := s.screen.State()
	s.beginAt(s.topOf(st), api.Place{Line: st.First + int64(st.Cursor.Y), Cell: max(min(st.Cursor.X, st.Cols-1), 0)})
}

// beginAt enters scroll mode with a line at the top and the cursor at a place.
func (s *ScrollMode) beginAt(top int64, cursor api.Place) {
	s.flash = selection{}
	if s.active {
		return
	}
	s.scroll = scroll{active: true, top: top, start: top, full: s.screen.State().fulls, cursor: cursor, want: cursor.Cell}
	s.keepCursor()
	s.fetch()
}

// Stop follows the output again. What was in sight stays held until the pane is
// drawn: it may be about to be copied.
func (s *ScrollMode) Stop() {
	told := s.active && s.told != [3]api.Place{}
	s.scroll = scroll{}
	if told {
		s.outbox.Tell(api.Input{Anchors: []api.Place{}})
	}
}

// By moves what is in sight by lines, negative is up; the cursor stays in sight.
func (s *ScrollMode) By(lines int) {
	if s.active {
		s.to(s.top + int64(lines))
		s.endAtBottom()
	}
}

// Pages moves by that many times half the pane's height less a line, and the
// cursor with it.
func (s *ScrollMode) Pages(halves int) {
	s.withCursor(halves * max(s.height-1, 1) / 2)
}

// withCursor moves what is in sight by lines, and the cursor with it.
func (s *ScrollMode) withCursor(lines int) {
	if !s.active {
		return
	}
	s.cursor.Line += int64(lines)
	s.top += int64(lines)
	s.clamp(s.screen.State())
	s.keepColumn()
	s.fetch()
	s.endAtBottom()
}

// Home and End go to the first line kept and to the last.
func (s *ScrollMode) Home() { s.Go(api.Place{Line: s.screen.State().Oldest}) }
func (s *ScrollMode) End() {
	if s.active {
		s.Go(api.Place{Line: s.screen.lastLine()})
		s.to(s.lastTop(s.screen.State()))
		s.endAtBottom()
	}
}

// to puts a line at the pane's top; the cursor stays in sight.
func (s *ScrollMode) to(top int64) {
	s.top = top
	s.clamp(s.screen.State())
	s.cursor.Line = min(max(s.cursor.Line, s.top), s.top+int64(s.height)-1)
	s.fetch()
}

// keepCursor moves what is in sight as little as shows the cursor.
func (s *ScrollMode) keepCursor() {
	s.top = min(s.top, s.cursor.Line)
	s.top = max(s.top, s.cursor.Line-int64(s.inSight())+1)
	s.clamp(s.screen.State())
}

// wheelBy scrolls with the mouse: up begins scroll mode, the bottom ends it.
func (s *ScrollMode) wheelBy(lines int) {
	if lines < 0 && !s.active {
		s.begin()
		s.wheel = true
	}
	s.By(lines)
}

// inSight is how many rows of the pane can be seen.
func (s *ScrollMode) inSight() int { return max(s.height-s.hidden, 1) }

// Cover says that something covers rows at the pane's bottom, so that matches
// are shown above it.
func (s *ScrollMode) Cover(rows int) { s.hidden = max(rows, 0) }

// fetch asks for the lines around the position that are not held, each range
// once; one that cannot be sent now is asked for at the next call.
func (s *ScrollMode) fetch() {
	if missing := s.lacks(); missing.Count > 0 && missing != s.asked && s.outbox.Tell(api.Input{Lines: &missing}) {
		s.asked = missing
	}
}

// lacks is what is not held around the position.
func (s *ScrollMode) lacks() api.LineRange {
	if !s.active {
		return api.LineRange{}
	}
	from, n := s.top-aroundView, s.height+2*aroundView
	s.screen.keep(from, from+int64(n))
	return s.screen.Missing(from, n)
}

// follow takes over where a resize that wrapped lines anew has put what is in
// sight, and tells the session what to keep next.
func (s *ScrollMode) follow(st ScreenState) {
	if !s.active {
		return
	}
	if st.fulls != s.full {
		s.full, s.asked = st.fulls, api.LineRange{}
		if len(st.anchors) == len(s.told) {
			s.top, s.cursor, s.sel.anchor = st.anchors[0].Line, st.anchors[1], st.anchors[2]
			s.told = [3]api.Place(st.anchors)
			s.want = s.cursor.Cell
		}
		s.keepCursor()
	}
	s.tellAnchors()
}

// tellAnchors tells the session which places to find again after a resize.
func (s *ScrollMode) tellAnchors() {
	now := [3]api.Place{{Line: s.top}, s.cursor, s.sel.anchor}
	if !s.active || now == s.told && s.known {
		return
	}
	if s.outbox.Tell(api.Input{Anchors: now[:]}) {
		s.told, s.known = now, true
	}
}

// cursorIn is where the cursor stands in the pane, which is w cells wide. The
// wheel and the mouse need none.
func (s *ScrollMode) cursorIn(w int) (c api.Cursor, ok bool) {
	l, _ := s.screen.line(s.cursor.Line)
	c = api.Cursor{X: s.cursor.Cell * scale(l), Y: int(s.cursor.Line - s.top), Visible: true}
	return c, !s.wheel && !s.mouse && c.X < w && c.Y >= 0 && c.Y < s.height
}

// position says where the cursor is: "line 120/2000".
func (s *ScrollMode) position(st ScreenState) string {
	line := s.cursor.Line
	if s.wheel {
		line = s.top
	}
	text := fmt.Sprintf("line %d/%d", max(line-st.Oldest+1, 1), st.First+int64(st.Rows)-st.Oldest)
	if s.search != nil && s.total > 0 {
		text = fmt.Sprintf("match %d/%d · %s", s.number, s.total, text)
	}
	if s.count > 0 {
		text = fmt.Sprintf("%d · %s", s.count, text)
	}
	return text
}

// Unflash takes the marks away that the mouse has left on the live screen, and
// reports whether there were any.
func (s *ScrollMode) Unflash() bool {
	was := s.flash.kind != selectNothing
	s.flash = selection{}
	return was
}
