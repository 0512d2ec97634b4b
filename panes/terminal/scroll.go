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

// marginLines is how many lines above and below the view are held, so that motions need no request.
const marginLines = 250

// A ScrollMode is a terminal that has stopped following its output: the view stays at its lines,
// and a cursor moves, selects and searches. Lines have absolute numbers, so new output does not
// move them. A resize may number them anew; the session therefore keeps three anchors (the top, the
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

// maxTop returns the pane's first line when it shows the end of the screen.
func (s *ScrollMode) maxTop(st ScreenState) int64 {
	return st.First + int64(max(st.Rows-s.height, 0))
}

// oldestLine returns the number of the first readable line. That is the first of the scrollback,
// unless the session has dropped visible lines and the pane still holds them.
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

// topLine returns the line at the pane's top: as scrolled, or so that the program's cursor is
// visible.
func (s *ScrollMode) topLine(st ScreenState) int64 {
	if s.active {
		return s.top
	}
	return st.First + int64(st.rowsAbove(s.height))
}

// clampPosition keeps the position within the available lines.
func (s *ScrollMode) clampPosition(st ScreenState) {
	if !s.active {
		return
	}
	last, oldest := s.maxTop(st), s.oldestLine(st)
	s.top = max(min(s.top, last), oldest)
	s.cursor.Line = max(min(s.cursor.Line, st.First+int64(st.Rows)-1), oldest)
	s.cursor.Cell = max(min(s.cursor.Cell, st.Cols-1), 0)
}

// endAtBottom leaves scroll mode at the bottom if the wheel started it. Only scrolling calls it: a
// pane may grow after the wheel turned, when an earlier resize takes effect.
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

// Stop follows the output again. The visible lines stay held until the pane is drawn, because they
// may be about to be copied.
func (s *ScrollMode) Stop() {
	hasAnchors := s.active && s.sentAnchors != [3]api.Place{}
	s.scroll = scroll{}
	if hasAnchors {
		s.outbox.Tell(api.Input{Anchors: []api.Place{}})
	}
}

// ScrollBy moves the view by lines, up if negative; the cursor stays visible.
func (s *ScrollMode) ScrollBy(lines int) {
	if s.active {
		s.setTop(s.top + int64(lines))
		s.endAtBottom()
	}
}

// ScrollHalfPages moves the view and the cursor by halves of the pane's height, less a line.
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

// setTop puts a line at the pane's top; the cursor stays visible.
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

// scrollByWheel scrolls by the wheel: up enters scroll mode, the bottom leaves it.
func (s *ScrollMode) scrollByWheel(lines int) {
	if lines < 0 && !s.active {
		s.enter()
		s.wheel = true
	}
	s.ScrollBy(lines)
}

func (s *ScrollMode) visibleRows() int { return max(s.height-s.coveredRows, 1) }

// CoverRows sets how many rows at the view's bottom are covered, so that matches are shown above
// them.
func (s *ScrollMode) CoverRows(rows int) { s.coveredRows = max(rows-s.rowsBelow, 0) }

// requestLines requests the missing lines around the view, each range once. If the request cannot
// be sent now, the next call sends it.
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

// Fetch requests the missing lines of an exited session. It has no attachment to send them.
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
	return panes.Ask(p.env.Context(), p.env, func(ctx context.Context, e panes.Engine) ([]api.NumberedLine, error) {
		return fetchLines(ctx, e, o)
	}, panes.ReportErrors(p.env.Say, func(lines []api.NumberedLine) tea.Cmd {
		p.Feed.Screen.AddLines(lines)
		return nil
	}))
}

// fetchLines reads lines of an exited session through a short attachment.
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

// followResize takes over the new places of the anchors after a resize, and sends the next ones.
func (s *ScrollMode) followResize(st ScreenState) {
	if !s.active {
		return
	}
	if st.fulls != s.full {
		s.full, s.requested = st.fulls, api.LineRange{}
		// The session knows the new places only of anchors it had before the resize.
		if len(st.anchors) == len(s.sentAnchors) {
			s.top, s.cursor, s.sel.anchor = st.anchors[0].Line, st.anchors[1], st.anchors[2]
			s.sentAnchors = [3]api.Place(st.anchors)
			s.column = s.cursor.Cell
		}
		s.showCursor()
	}
	s.sendAnchors()
}

// sendAnchors sends the session the places to find again after a resize.
func (s *ScrollMode) sendAnchors() {
	now := [3]api.Place{{Line: s.top}, s.cursor, s.sel.anchor}
	if !s.active || now == s.sentAnchors && s.anchorsSent {
		return
	}
	if s.outbox.Tell(api.Input{Anchors: now[:]}) {
		s.sentAnchors, s.anchorsSent = now, true
	}
}

// paneCursor returns the cursor's position in a pane w cells wide. There is none after the wheel or
// the mouse.
func (s *ScrollMode) paneCursor(w int) (c api.Cursor, ok bool) {
	l, _ := s.screen.lineAt(s.cursor.Line)
	c = api.Cursor{X: s.cursor.Cell * cellScale(l), Y: int(s.cursor.Line - s.top), Visible: true}
	return c, !s.wheel && !s.mouse && c.X < w && c.Y >= 0 && c.Y < s.height
}

// positionText returns the position of the cursor: "line 120/2000".
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

// HasFlash reports whether a selection by mouse is marked on the live screen.
func (s *ScrollMode) HasFlash() bool { return s.flash.kind != selectNothing }

// ClearFlash removes the selection by mouse from the live screen, and reports whether there was
// one.
func (s *ScrollMode) ClearFlash() bool {
	had := s.HasFlash()
	s.flash = selection{}
	return had
}
