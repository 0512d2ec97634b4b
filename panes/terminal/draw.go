package terminal

import (
	"fmt"
	"time"

	"tandem/engine/api"
	"tandem/panes/graphics"
	"tandem/panes/widget"
)

// Draw gives the pane's rows: h strings of w cells each. The slice is valid
// until the next call.
func (t *Terminal) Draw(w, h int, look *widget.Look) []string {
	t.rows, t.patches = t.rows[:0], nil
	st := t.State()
	if w <= 0 || h <= 0 {
		return t.rows
	}
	if !st.Known {
		return t.drawUnknown(w, h, look)
	}
	t.Pointer.seen = drawnTop{t.Scroll.topOf(st), st.fulls}
	if !t.Scroll.active && !t.Pointer.pressed.down { // what is seen can be selected, whatever comes meanwhile
		t.Feed.Screen.keep(t.Pointer.seen.line, t.Pointer.seen.line+int64(h))
	}
	win := Window{Top: t.Pointer.seen.line, W: w, H: h, Pictures: t.Pictures}
	t.rows = t.Feed.Screen.Draw(t.rows, win)
	t.patches = t.Feed.Screen.Patches(win, func(y int) bool {
		return y == 0 && t.Scroll.active || y == h-1 && t.ended != nil && !t.Scroll.active
	})
	t.drawGuesses(win.Top, w, time.Now())
	t.drawMarks(st, w, look)
	t.fill(st, w, h, look)
	if t.Scroll.active {
		t.rows[0] = widget.Overwrite(t.rows[0], w, " "+t.Scroll.position(st)+" ", look.Selected)
	} else if t.ended != nil {
		t.rows[h-1] = endedRow(t.ended, t.afterEnd, w, look)
	}
	return t.rows
}

// Patches are what the terminal has to draw itself over the rows that Draw gave last.
func (t *Terminal) Patches() []graphics.Patch { return t.patches }

// drawUnknown is the pane before its first frame.
func (t *Terminal) drawUnknown(w, h int, look *widget.Look) []string {
	var text string
	switch {
	case t.ended != nil:
		text = widget.HowEndedIn(t.ended, w)
	case t.err != nil:
		text = widget.Clean(t.err.Error())
	}
	for y := range h {
		if y == h/2 && text != "" {
			t.rows = append(t.rows, look.Dim.Text(widget.Center(text, w)))
			continue
		}
		t.rows = append(t.rows, widget.Spaces(w))
	}
	if t.ended != nil {
		t.rows[h-1] = endedRow(t.ended, t.afterEnd, w, look)
	}
	return t.rows
}

// fill makes the rows w cells wide and h many; what lies outside the session's
// screen shows a pattern, so that it is seen not to be part of it.
func (t *Terminal) fill(st ScreenState, w, h int, look *widget.Look) {
	filled := widget.Spaces
	if t.settled {
		filled = look.Filled
	}
	if st.Cols < w {
		side := filled(w - st.Cols)
		for i := range t.rows {
			t.rows[i] += side
		}
	}
	row, drawn := filled(w), len(t.rows)
	for len(t.rows) < h {
		t.rows = append(t.rows, row)
	}
	if t.settled && t.ended == nil {
		t.sayWhySmaller(st, drawn, w, h, look)
	}
}

// sayWhySmaller tells in the pattern, below the drawn rows of the session or beside
// them, whose size it has. Where there is no room for the words they are left out.
func (t *Terminal) sayWhySmaller(st ScreenState, drawn, w, h int, look *widget.Look) {
	size := fmt.Sprintf("%d×%d of %d×%d", st.Cols, st.Rows, w, h)
	long := size + ": a smaller terminal shows this session too"
	if drawn < h {
		for _, text := range []string{long, size} {
			if text = " " + text + " "; widget.Width(text) <= w {
				t.rows[h-1] = look.Dim.Text(text) + look.Filled(w-widget.Width(text))
				return
			}
		}
		return
	}
	side := w - st.Cols
	lines := widget.WrapWords(long, max(side-1, 0))
	for _, line := range lines {
		if widget.Width(line) > side-1 || len(lines) > h {
			return
		}
	}
	for i, line := range lines {
		y := h - len(lines) + i
		text := " " + widget.Pad(line, side-1)
		t.rows[y] = widget.Pad(widget.Cut(t.rows[y], st.Cols, ""), st.Cols) + widget.SgrReset + look.Dim.Text(text)
	}
}

// Cursor is where the program's cursor stands in the pane; ok is false when
// there is none to show.
func (t *Terminal) Cursor() (c api.Cursor, ok bool) {
	st := t.State()
	if t.Scroll.active {
		return t.Scroll.cursorIn(t.size.Cols)
	}
	c = st.Cursor
	if at := t.echo.drawn.Cursor; at != nil {
		c.X, c.Y = at.X, at.Y
	}
	l, _ := t.Feed.Screen.line(st.First + int64(c.Y))
	c.Y -= st.above(t.size.Rows)
	c.X = min(c.X*scale(l), st.Cols-1)
	shown := st.Known && c.Visible && t.ended == nil
	return c, shown && c.X >= 0 && c.Y >= 0 && c.X < t.size.Cols && c.Y < t.size.Rows
}

// endedRow is the last row of a pane whose program is gone, with what can be
// done about it.
func endedRow(p *api.Process, hints []widget.Hint, w int, look *widget.Look) string {
	what := " " + widget.HowEndedIn(p, w-2) + " "
	row, used := look.BarBad.Text(what), widget.Width(what)
	for _, h := range hints {
		if h.Key == "" {
			continue
		}
		row += "  " + look.Key.Text(h.Key) + look.Dim.Text(" "+h.Does)
		used += widget.Width(h.Key+h.Does) + 3
	}
	if used > w {
		return look.BarBad.Text(widget.Fit(what, w))
	}
	return row + widget.Spaces(w-used)
}
