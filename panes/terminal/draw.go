package terminal

import (
	"fmt"
	"time"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes/kit/graphics"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
	"tandem/panes/states"
)

// Draw returns the pane's rows: h strings of w cells each. The slice is valid until the next call.
func (t *Terminal) Draw(w, h int, look *look.Look) []string {
	t.rows, t.patches = t.rows[:0], nil
	st := t.State()
	if w <= 0 || h <= 0 {
		return t.rows
	}
	if !st.Known {
		return t.drawUnknown(w, h, look)
	}
	t.Pointer.drawn = drawnTop{t.Scroll.topLine(st), st.fulls}
	if !t.Scroll.active && !t.Pointer.pressed.down { // drawn lines can be selected, whatever arrives meanwhile
		t.Feed.Screen.keepLines(t.Pointer.drawn.line, t.Pointer.drawn.line+int64(h))
	}
	win := Window{Top: t.Pointer.drawn.line, W: w, H: h, Pictures: t.Pictures}
	t.rows = t.Feed.Screen.Draw(t.rows, win)
	t.patches = t.Feed.Screen.Patches(win, func(y int) bool {
		return y == 0 && t.Scroll.active || y == h-1 && t.exited != nil && !t.Scroll.active
	})
	// Guesses first: matches and the selection must stay visible over them.
	t.drawGuesses(win.Top, w, time.Now())
	t.drawMarks(st, w, look)
	t.fillRows(st, w, h, look)
	if t.Scroll.active {
		t.rows[0] = overwrite(t.rows[0], w, " "+t.Scroll.positionText(st)+" ", look.Selected)
	} else if t.exited != nil {
		t.rows[h-1] = drawExitRow(t.exited, t.exitHints, w, look)
	}
	return t.rows
}

// Patches returns the pictures for the terminal to draw over the rows of the last Draw.
func (t *Terminal) Patches() []graphics.Patch { return t.patches }

// drawUnknown draws the pane before its first frame.
func (t *Terminal) drawUnknown(w, h int, look *look.Look) []string {
	var reason string
	switch {
	case t.exited != nil:
		reason = states.HowEndedIn(t.exited, w)
	case t.err != nil:
		reason = text.Clean(t.err.Error())
	}
	for y := range h {
		if y == h/2 && reason != "" {
			t.rows = append(t.rows, look.Dim.Text(text.Center(reason, w)))
			continue
		}
		t.rows = append(t.rows, text.Spaces(w))
	}
	if t.exited != nil {
		t.rows[h-1] = drawExitRow(t.exited, t.exitHints, w, look)
	}
	return t.rows
}

// fillRows extends the rows to w cells and h rows. Once the size has settled, cells outside the
// session's screen get a pattern.
func (t *Terminal) fillRows(st ScreenState, w, h int, look *look.Look) {
	filled := text.Spaces
	if t.sizeSettled {
		filled = look.FillPattern
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
	if t.sizeSettled && t.exited == nil {
		t.drawSizeNote(st, drawn, w, h, look)
	}
}

// drawSizeNote explains the session's smaller size in the pattern, below the drawn rows or beside
// them, if it fits.
func (t *Terminal) drawSizeNote(st ScreenState, drawn, w, h int, look *look.Look) {
	size := fmt.Sprintf("%d×%d of %d×%d", st.Cols, st.Rows, w, h)
	long := size + ": a smaller terminal shows this session too"
	if drawn < h {
		for _, s := range []string{long, size} {
			if s = " " + s + " "; text.Width(s) <= w {
				t.rows[h-1] = look.Dim.Text(s) + look.FillPattern(w-text.Width(s))
				return
			}
		}
		return
	}
	side := w - st.Cols
	lines := text.WrapWords(long, max(side-1, 0))
	for _, line := range lines {
		if text.Width(line) > side-1 || len(lines) > h {
			return
		}
	}
	for i, line := range lines {
		y := h - len(lines) + i
		s := " " + text.Pad(line, side-1)
		t.rows[y] = text.Pad(text.Cut(t.rows[y], st.Cols, ""), st.Cols) + text.SgrReset + look.Dim.Text(s)
	}
}

// Cursor returns the position of the cursor in the pane; ok is false without a visible one.
func (t *Terminal) Cursor() (c api.Cursor, ok bool) {
	st := t.State()
	if t.Scroll.active {
		return t.Scroll.paneCursor(t.size.Cols)
	}
	c = st.Cursor
	// The predicted cursor is where the echo will put it.
	if at := t.echo.drawn.Cursor; at != nil {
		c.X, c.Y = at.X, at.Y
	}
	l, _ := t.Feed.Screen.lineAt(st.First + int64(c.Y))
	c.Y -= st.rowsAbove(t.size.Rows)
	c.X = min(c.X*cellScale(l), st.Cols-1)
	shown := st.Known && c.Visible && t.exited == nil
	return c, shown && c.X >= 0 && c.Y >= 0 && c.X < t.size.Cols && c.Y < t.size.Rows
}

// drawExitRow draws the last row of a pane whose program has exited, with the keys to use next.
func drawExitRow(p *api.Process, hints []keymap.Hint, w int, look *look.Look) string {
	what := " " + states.HowEndedIn(p, w-2) + " "
	row, used := look.BarBad.Text(what), text.Width(what)
	for _, h := range hints {
		if h.Key == "" {
			continue
		}
		row += "  " + look.Key.Text(h.Key) + look.Dim.Text(" "+h.Does)
		used += text.Width(h.Key+h.Does) + 3
	}
	if used > w {
		return look.BarBad.Text(text.Fit(what, w))
	}
	return row + text.Spaces(w-used)
}

// overwrite draws a label over the right end of a row of w cells.
func overwrite(row string, w int, label string, ink look.Ink) string {
	n := text.Width(label)
	if n >= w {
		return ink.Text(text.Fit(label, w))
	}
	return text.Pad(text.Cut(row, w-n, ""), w-n) + text.SgrReset + ink.Text(label)
}
