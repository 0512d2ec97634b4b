package terminal

import (
	"context"
	"fmt"
	"sort"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/engine/api/outbox"
	"tandem/panes"
)

// marginLines is how many lines above and below the view are held, so that most motions need no
// request.
const marginLines = 250

// ScrollMode is the state of a terminal that does not follow its output: the view stays at its
// lines, and the user moves a cursor, selects and searches. Lines have absolute numbers, so new output does not move
// them. A resize may change the numbers. Therefore the session keeps three anchors (the top, the
// cursor and the selection's other end) and returns their new places with the next full frame.
type ScrollMode struct {
	screen *Screen
	outbox *outbox.Outbox

	height    int       // of the pane
	rowsBelow int       // of the view, below the pane
	flash     selection // selection by mouse, still marked on the live screen
	scroll
}

// scroll is the state of scroll mode; zero while the output is followed.
type scroll struct {
	active      bool
	wheel       bool  // started by the wheel: ends at the bottom
	mouse       bool  // started by a drag: ends with it at the bottom
	drag        bool  // the mouse moves an end of the selection
	top         int64 // number of the pane's first line
	start       int64 // top at the start
	cursor      api.Place
	column      int // column to return to in a longer line
	count       count
	coveredRows int // rows at the bottom covered by something else
	sel         selection
	matches     matches

	requested   api.LineRange
	sentAnchors [3]api.Place // anchors sent to the session
	anchorsSent bool         // sentAnchors were sent on this attachment
	full        uint64       // the full frame the line numbers belong to
}

// maxTop returns the largest number that the pane's first line can have: the pane then shows the
// end of the screen.
func (s *ScrollMode) maxTop(st ScreenState) int64 {
	return st.First + int64(max(st.Rows-s.height, 0))
}

// oldestLine returns the number of the first line to which the user can scroll. It is the first
// line of the session's scrollback, unless the pane shows older lines that it still holds.
func (s *ScrollMode) oldestLine(st ScreenState) int64 {
	n := s.top
	if !s.active || n >= st.Oldest {
		return st.Oldest
	}
	held := s.screen.heldLines(n-marginLines, min(n+int64(s.height), st.Oldest))
	i := sort.Search(len(held), func(i int) bool { return held[i] >= n })
	if i == len(held) {
		return st.Oldest
	}
	for i > 0 && held[i] <= n && held[i-1] == held[i]-1 {
		i--
	}
	return held[i]
}

// topLine returns the number of the line at the pane's top. In scroll mode the user chooses it;
// otherwise the program's cursor is visible.
func (s *ScrollMode) topLine(st ScreenState) int64 {
	if s.active {
		return s.top
	}
	return st.First + int64(st.rowsAbove(s.height))
}

// clampPosition moves the view and the cursor into the range of available lines.
func (s *ScrollMode) clampPosition(st ScreenState) {
	if !s.active {
		return
	}
	last, oldest := s.maxTop(st), s.oldestLine(st)
	s.top = max(min(s.top, last), oldest)
	s.cursor.Line = max(min(s.cursor.Line, st.First+int64(st.Rows)-1), oldest)
	s.cursor.Cell = max(min(s.cursor.Cell, st.Cols-1), 0)
}

// endAtBottom leaves scroll mode if the wheel started it and the view is at the bottom. It is
// called only after scrolling: otherwise an earlier resize that takes effect late could end scroll
// mode too.
func (s *ScrollMode) endAtBottom() {
	if s.wheel && s.top == s.maxTop(s.screen.State()) {
		s.Stop()
	}
}

func (s *ScrollMode) Active() bool { return s.active }

// whileActive restricts an action to scroll mode.
func (s *ScrollMode) whileActive(act func() tea.Cmd) func() tea.Cmd {
	return func() tea.Cmd {
		if !s.active {
			return nil
		}
		return act()
	}
}

// Start enters scroll mode without moving the view.
func (s *ScrollMode) Start() {
	if s.screen.State().Known {
		s.enter()
		s.wheel, s.mouse = false, false
	}
}

func (s *ScrollMode) enter() {
	st := s.screen.State()
	s.enterAt(s.topLine(st), api.Place{Line: st.First + int64(st.Cursor.Y), Cell: max(min(st.Cursor.X, st.Cols-1), 0)})
}

// enterAt enters scroll mode with top as the first line and the cursor at a place.
func (s *ScrollMode) enterAt(top int64, cursor api.Place) {
	s.flash = selection{}
	if s.active {
		return
	}
	s.scroll = scroll{active: true, top: top, start: top, full: s.screen.State().fulls, cursor: cursor, column: cursor.Cell}
	s.showCursor()
	s.requestLines()
}

// Stop ends scroll mode, so that the pane follows the output again. The visible lines are held
// until the pane is drawn, because the caller may be about to copy them.
func (s *ScrollMode) Stop() {
	hasAnchors := s.active && s.sentAnchors != [3]api.Place{}
	s.scroll = scroll{}
	if hasAnchors {
		s.outbox.Tell(api.Input{Anchors: []api.Place{}})
	}
}

// ScrollBy moves the view down by a number of lines, or up if it is negative. The cursor stays
// visible.
func (s *ScrollMode) ScrollBy(lines int) {
	if s.active {
		s.setTop(s.top + int64(lines))
		s.endAtBottom()
	}
}

// ScrollHalfPages moves the view and the cursor by half pages. Two of them make the pane's height
// less a line.
func (s *ScrollMode) ScrollHalfPages(halves int) {
	s.scrollWithCursor(halves * max(s.height-1, 1) / 2)
}

// scrollWithCursor moves the view and the cursor by lines.
func (s *ScrollMode) scrollWithCursor(lines int) {
	if !s.active {
		return
	}
	s.cursor.Line += int64(lines)
	s.top += int64(lines)
	s.clampPosition(s.screen.State())
	s.keepColumn()
	s.requestLines()
	s.endAtBottom()
}

// GoToEnd moves the cursor to the last line.
func (s *ScrollMode) GoToEnd() {
	if s.active {
		s.GoTo(api.Place{Line: s.screen.lastLine()})
		s.setTop(s.maxTop(s.screen.State()))
		s.endAtBottom()
	}
}

// setTop makes top the pane's first line, and moves the cursor if needed to keep it visible.
func (s *ScrollMode) setTop(top int64) {
	s.top = top
	s.clampPosition(s.screen.State())
	s.cursor.Line = min(max(s.cursor.Line, s.top), s.top+int64(s.height)-1)
	s.requestLines()
}

// showCursor scrolls as little as needed to show the cursor.
func (s *ScrollMode) showCursor() {
	s.top = min(s.top, s.cursor.Line)
	s.top = max(s.top, s.cursor.Line-int64(s.visibleRows())+1)
	s.clampPosition(s.screen.State())
}

// scrollByWheel handles the wheel: turning it up enters scroll mode, reaching the bottom leaves it.
func (s *ScrollMode) scrollByWheel(lines int) {
	if lines < 0 && !s.active {
		s.enter()
		s.wheel = true
	}
	s.ScrollBy(lines)
}

func (s *ScrollMode) visibleRows() int { return max(s.height-s.coveredRows, 1) }

// CoverRows sets how many rows at the bottom of the view are covered by the search line, so that
// matches are shown above it.
func (s *ScrollMode) CoverRows(rows int) { s.coveredRows = max(rows-s.rowsBelow, 0) }

// requestLines requests the lines around the view that are missing. It does not request the same
// range twice in a row. If the request cannot be sent now, the next call sends it.
func (s *ScrollMode) requestLines() {
	if missing := s.missingLines(); missing.Count > 0 && missing != s.requested && s.outbox.Tell(api.Input{Lines: &missing}) {
		s.requested = missing
	}
}

// missingLines returns the lines around the view that are not held.
func (s *ScrollMode) missingLines() api.LineRange {
	if !s.active {
		return api.LineRange{}
	}
	from, n := s.top-marginLines, s.height+2*marginLines
	s.screen.keepLines(from, from+int64(n))
	return s.screen.MissingLines(from, n)
}

// Fetch requests the lines of an exited session that are missing around the view. A running session
// sends them through its attachment, which an exited one does not have.
func (p *Pane) Fetch() tea.Cmd {
	if p.FinalState() == nil {
		return nil
	}
	lacks := p.Scroll.missingLines()
	if lacks.Count == 0 || lacks == p.Scroll.requested {
		return nil
	}
	p.Scroll.requested = lacks
	o := api.AttachOptions{ID: p.ID, ReadOnly: true, Client: panes.ClientName, Lines: lacks}
	return panes.Call(p.env.Context(), p.env, func(ctx context.Context, e panes.Engine) ([]api.NumberedLine, error) {
		return fetchLines(ctx, e, o)
	}, panes.ReportErrors(p.env.Say, func(lines []api.NumberedLine) tea.Cmd {
		p.Feed.Screen.AddLines(lines)
		return nil
	}))
}

// fetchLines reads lines of an exited session through an attachment that lasts only for this
// request.
func fetchLines(ctx context.Context, e panes.Engine, o api.AttachOptions) (lines []api.NumberedLine, err error) {
	v, err := e.Attach(ctx, o)
	if err != nil {
		return nil, err
	}
	// Receive has no context, so closing the attachment is the only way to end it.
	stop := context.AfterFunc(ctx, func() { v.Close() })
	defer stop()
	defer v.Close()
	for {
		out, err := v.Receive()
		if err != nil || out.Ended != nil {
			return lines, err
		}
		lines = append(lines, out.Lines...)
	}
}

// followResize moves the position, the cursor and the selection to the places that the session has
// reported for them after a resize. Then it sends the session the places as they are now.
func (s *ScrollMode) followResize(st ScreenState) {
	if !s.active {
		return
	}
	if st.fulls != s.full {
		s.full, s.requested = st.fulls, api.LineRange{}
		// The session can return new places only for anchors that it had before the resize.
		if len(st.anchors) == len(s.sentAnchors) {
			s.top, s.cursor, s.sel.anchor = st.anchors[0].Line, st.anchors[1], st.anchors[2]
			s.sentAnchors = [3]api.Place(st.anchors)
			s.column = s.cursor.Cell
		}
		s.showCursor()
	}
	s.sendAnchors()
}

// sendAnchors sends the session the places whose new numbers are needed after a resize.
func (s *ScrollMode) sendAnchors() {
	now := [3]api.Place{{Line: s.top}, s.cursor, s.sel.anchor}
	if !s.active || now == s.sentAnchors && s.anchorsSent {
		return
	}
	if s.outbox.Tell(api.Input{Anchors: now[:]}) {
		s.sentAnchors, s.anchorsSent = now, true
	}
}

// paneCursor returns the cursor's position in a pane w cells wide. ok is false if no cursor is
// shown, as while the user scrolls with the wheel or selects with the mouse.
func (s *ScrollMode) paneCursor(w int) (c api.Cursor, ok bool) {
	l, _ := s.screen.lineAt(s.cursor.Line)
	c = api.Cursor{X: s.cursor.Cell * cellScale(l), Y: int(s.cursor.Line - s.top), Visible: true}
	return c, !s.wheel && !s.mouse && c.X < w && c.Y >= 0 && c.Y < s.height
}

// positionText describes the position of the cursor, as in "line 120/2000".
func (s *ScrollMode) positionText(st ScreenState) string {
	line := s.cursor.Line
	if s.wheel {
		line = s.top
	}
	text := fmt.Sprintf("line %d/%d", max(line-st.Oldest+1, 1), st.First+int64(st.Rows)-st.Oldest)
	if m := s.matches; m.pattern != nil && m.total > 0 {
		text = fmt.Sprintf("match %d/%d · %s", m.number, m.total, text)
	}
	if s.count > 0 {
		text = fmt.Sprintf("%d · %s", s.count, text)
	}
	return text
}

// HasFlash reports whether the live screen marks a range that was selected with the mouse.
func (s *ScrollMode) HasFlash() bool { return s.flash.kind != selectNothing }

// ClearFlash removes the marks that HasFlash reports. It returns false if there were none.
func (s *ScrollMode) ClearFlash() bool {
	had := s.HasFlash()
	s.flash = selection{}
	return had
}
