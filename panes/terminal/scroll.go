package terminal

import (
	"fmt"
	"regexp"
	"sort"

	"tandem/engine/api"
)

// aroundView is how many lines above and below what is in sight are held for
// moves of the cursor.
const aroundView = 250

// scroll is where a pane looks while it does not follow the output, and what is
// selected there.
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

	asked  api.LineRange
	told   [3]api.Place // anchors, as the session knows them
	full   uint64       // the full frame that the numbers of lines belong to
	serial int          // the attachment that knows told
}

// lastTop is the pane's first line when it shows the end of the screen.
func (t *Terminal) lastTop(st ScreenState) int64 {
	return st.First + int64(max(st.Rows-t.size.Rows, 0))
}

// oldest is the first line that can be read: of the scrollback or, when that has
// gone on beyond what is in sight, of what is held.
func (t *Terminal) oldest(st ScreenState) int64 {
	n := t.scroll.top
	if !t.scroll.active || n >= st.Oldest {
		return st.Oldest
	}
	held := t.Feed.Screen.held(n-aroundView, min(n+int64(t.size.Rows), st.Oldest))
	i := sort.Search(len(held), func(i int) bool { return held[i] >= n })
	if i == len(held) {
		return st.Oldest
	}
	for i > 0 && held[i] <= n && held[i-1] == held[i]-1 {
		i--
	}
	return held[i]
}

// clampScroll keeps the position inside what the session still has.
func (t *Terminal) clampScroll(st ScreenState) {
	s := &t.scroll
	if !s.active {
		return
	}
	last, oldest := t.lastTop(st), t.oldest(st)
	s.top = max(min(s.top, last), oldest)
	s.cursor.Line = max(min(s.cursor.Line, st.First+int64(st.Rows)-1), oldest)
	s.cursor.Cell = max(min(s.cursor.Cell, st.Cols-1), 0)
	if s.wheel && s.top == last {
		t.StopScroll()
	}
}

// Scrolling reports whether the pane is in scroll mode.
func (t *Terminal) Scrolling() bool { return t.scroll.active }

// StartScroll enters scroll mode at the present place.
func (t *Terminal) StartScroll() {
	if t.State().Known {
		t.begin()
		t.scroll.wheel, t.scroll.mouse = false, false
	}
}

// begin enters scroll mode with what the session's screen shows now.
func (t *Terminal) begin() {
	st := t.State()
	t.beginAt(t.top(st), api.Place{Line: st.First + int64(st.Cursor.Y), Cell: max(min(st.Cursor.X, st.Cols-1), 0)})
}

// beginAt enters scroll mode with a line at the top and the cursor at a place.
func (t *Terminal) beginAt(top int64, cursor api.Place) {
	t.flash = selection{}
	if t.scroll.active {
		return
	}
	t.scroll = scroll{active: true, top: top, start: top, full: t.State().fulls, cursor: cursor, want: cursor.Cell}
	t.keepCursor()
	t.fetch()
}

// StopScroll follows the output again. What was in sight stays held until the
// pane is drawn: it may be about to be copied.
func (t *Terminal) StopScroll() {
	told := t.scroll.active && t.scroll.told != [3]api.Place{}
	t.scroll = scroll{}
	if told {
		t.Outbox.tell(api.Input{Anchors: []api.Place{}})
	}
}

// ScrollBy moves what is in sight by lines, negative is up; the cursor stays in
// sight.
func (t *Terminal) ScrollBy(lines int) {
	if t.scroll.active {
		t.scrollTo(t.scroll.top + int64(lines))
	}
}

// ScrollPages moves by that many times half the pane's height less a line, and
// the cursor with it.
func (t *Terminal) ScrollPages(halves int) {
	t.scrollWithCursor(halves * max(t.size.Rows-1, 1) / 2)
}

func (t *Terminal) scrollWithCursor(lines int) {
	s := &t.scroll
	if !s.active {
		return
	}
	s.cursor.Line += int64(lines)
	s.top += int64(lines)
	t.clampScroll(t.State())
	t.keepColumn()
	t.fetch()
}

// ScrollHome and ScrollEnd go to the first line kept and to the last.
func (t *Terminal) ScrollHome() { t.Go(api.Place{Line: t.State().Oldest}) }
func (t *Terminal) ScrollEnd() {
	if t.scroll.active {
		t.Go(api.Place{Line: t.Feed.Screen.lastLine()})
		t.scrollTo(t.lastTop(t.State()))
	}
}

func (t *Terminal) scrollTo(top int64) {
	s := &t.scroll
	s.top = top
	t.clampScroll(t.State())
	s.cursor.Line = min(max(s.cursor.Line, s.top), s.top+int64(t.size.Rows)-1)
	t.fetch()
}

// keepCursor moves what is in sight as little as shows the cursor.
func (t *Terminal) keepCursor() {
	s := &t.scroll
	s.top = min(s.top, s.cursor.Line)
	s.top = max(s.top, s.cursor.Line-int64(t.inSight())+1)
	t.clampScroll(t.State())
}

// Wheel scrolls with the mouse: up begins scroll mode, the bottom ends it.
func (t *Terminal) wheelBy(lines int) {
	if lines < 0 && !t.scroll.active {
		t.begin()
		t.scroll.wheel = true
	}
	t.ScrollBy(lines)
}

// inSight is how many rows of the pane can be seen.
func (t *Terminal) inSight() int { return max(t.size.Rows-t.scroll.hidden, 1) }

// Cover says that something covers rows at the pane's bottom, so that matches
// are shown above it.
func (t *Terminal) Cover(rows int) { t.scroll.hidden = max(rows, 0) }

// fetch asks for the lines around the position that are not held.
func (t *Terminal) fetch() {
	if !t.scroll.active || !t.Outbox.Connected() {
		return
	}
	from, n := t.scroll.top-aroundView, t.size.Rows+2*aroundView
	t.Feed.Screen.keep(from, from+int64(n))
	missing := t.Feed.Screen.Missing(from, n)
	if missing.Count == 0 || missing == t.scroll.asked {
		return
	}
	t.scroll.asked = missing
	t.Outbox.Send(api.Input{Lines: &missing})
}

// Lacks is what the pane would show of a session that has ended and is not
// held; each range is told once.
func (t *Terminal) Lacks() (lines api.LineRange, ok bool) {
	if !t.scroll.active || t.ended == nil {
		return lines, false
	}
	from, n := t.scroll.top-aroundView, t.size.Rows+2*aroundView
	t.Feed.Screen.keep(from, from+int64(n))
	lines = t.Feed.Screen.Missing(from, n)
	if lines.Count == 0 || lines == t.scroll.asked {
		return lines, false
	}
	t.scroll.asked = lines
	return lines, true
}

// follow takes over where a resize that wrapped lines anew has put what is in
// sight, and tells the session what to keep next.
func (t *Terminal) follow(st ScreenState) {
	s := &t.scroll
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
		t.keepCursor()
	}
	t.tellAnchors()
}

func (t *Terminal) tellAnchors() {
	s := &t.scroll
	now := [3]api.Place{{Line: s.top}, s.cursor, s.sel.anchor}
	if !s.active || now == s.told && s.serial == t.Outbox.serial {
		return
	}
	if t.Outbox.tell(api.Input{Anchors: now[:]}) {
		s.told, s.serial = now, t.Outbox.serial
	}
}

// position says where the cursor is: "line 120/2000".
func (t *Terminal) position(st ScreenState) string {
	s := &t.scroll
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
