package terminal

import (
	"fmt"
	"time"

	"tandem/engine/api"
	"tandem/panes/kit/graphics"
	"tandem/panes/kit/look"
	"tandem/panes/kit/predict"
	"tandem/panes/kit/text"
	"tandem/panes/states"
)

// A canvas has the rows of a pane while they are drawn.
type canvas struct {
	rows []string
	w, h int
	look *look.Look
}

// Draw returns the pane's rows: h strings of w cells each. The slice is valid until the next call.
func (t *Terminal) Draw(w, h int, look *look.Look) []string {
	c := &t.canvas
	c.rows, c.w, c.h, c.look = c.rows[:0], w, h, look
	t.patches, t.plain = nil, false
	if w <= 0 || h <= 0 {
		return c.rows
	}
	st, reason, ink := t.State(), t.status.endReason(w-2), look.BarBad
	if t.exit.reason != "" {
		reason, ink = t.exit.reason, look.Bar
	}
	if !st.Known {
		c.drawUnknown(reason)
	} else {
		t.drawScreen(c, st)
	}
	if t.Scroll.active {
		c.rows[0] = overwrite(c.rows[0], w, " "+t.Scroll.positionText(st)+" ", look.Selected)
	} else if reason != "" {
		c.rows[h-1] = drawExitRow(reason, ink, t.exit.hints, w, look)
	}
	return c.rows
}

// drawScreen draws the session's screen, the guessed echo of input, and the marks of matches and
// the selection.
func (t *Terminal) drawScreen(c *canvas, st ScreenState) {
	live, exited := !t.Scroll.active, t.status.hasEnded() || t.exit.reason != ""
	win := Window{Top: t.Scroll.topLine(st), W: c.w, H: c.h, Pictures: t.Pictures, version: st.version, fulls: st.fulls}
	if live && !t.Pointer.pressed.down { // drawn lines can be selected, whatever arrives meanwhile
		t.Feed.Screen.keepLines(win.Top, win.Top+int64(c.h))
	}
	var cols int
	c.rows, cols = t.Feed.Screen.Draw(c.rows, win)
	t.patches = t.Feed.Screen.Patches(win, func(y int) bool { return y == 0 && !live || y == c.h-1 && exited && live })
	// Draw the guesses first: matches and the selection must stay visible over them.
	if live && !exited {
		t.echo.drawGuesses(c.rows, win.Top, c.w, time.Now())
	} else {
		t.echo.drawn = predict.Overlay{}
	}
	t.Scroll.drawMarks(c.rows, st, c.w, c.look)
	t.plain = live && !exited && !t.Pointer.pressed.down && len(t.patches) == 0 &&
		t.echo.guesses.Mode == predict.Off && t.Scroll.flash.kind == selectNothing
	c.fillRows(st, cols, t.View.settled, exited)
	if t.View.settled && (st.Cols > c.w || st.Rows > c.h) {
		c.drawCuts(&t.Feed.Screen, st, win.Top, live)
		t.plain = false
	}
}

// drawCuts marks where a screen larger than the pane is cut off. The screen is larger if another
// dashboard shows the session in a larger pane.
func (c *canvas) drawCuts(screen *Screen, st ScreenState, top int64, live bool) {
	glyphs := &c.look.Glyphs
	for y := range c.rows {
		line, _ := screen.lineAt(top + int64(y))
		cells := 0
		for _, r := range line.Runs {
			cells += r.Cells
		}
		if cells > c.w {
			c.rows[y] = overwrite(c.rows[y], c.w, glyphs.More, c.look.Selected)
		}
	}
	if !live || st.Rows <= c.h {
		return
	}
	if top > st.First {
		c.rows[0] = overwrite(c.rows[0], c.w, glyphs.Ascending, c.look.Selected)
	}
	if last := c.h - 1; top+int64(c.h) < st.First+int64(st.Rows) {
		c.rows[last] = overwrite(c.rows[last], c.w, glyphs.Descending, c.look.Selected)
	}
}

// IsPlain reports whether the rows of the last Draw are the program's screen and nothing else, so
// that frames can be drawn directly.
func (t *Terminal) IsPlain() bool { return t.plain }

// Patches returns the pictures that the user's terminal must draw over the rows of the last Draw.
func (t *Terminal) Patches() []graphics.Patch { return t.patches }

// endReason returns why the session is not live, in at most w cells if possible; "" if it is live.
func (st *feedStatus) endReason(w int) string {
	switch {
	case st.exited != nil:
		return states.HowEndedIn(st.exited, w)
	case st.err != nil:
		return text.Clean(st.err.Error())
	}
	return ""
}

// drawUnknown draws the pane before its first frame.
func (c *canvas) drawUnknown(reason string) {
	for range c.h {
		c.rows = append(c.rows, text.Spaces(c.w))
	}
	if reason != "" {
		c.rows[c.h/2] = c.look.Dim.Text(text.Center(reason, c.w))
	}
}

// fillRows extends the drawn rows, which are cols cells wide, to the size of the pane. Once the
// size has settled, cells outside the session's screen get a pattern.
func (c *canvas) fillRows(st ScreenState, cols int, settled, exited bool) {
	fill := text.Spaces
	if settled {
		fill = c.look.FillPattern
	}
	if cols < c.w {
		side := fill(c.w - cols)
		for i := range c.rows {
			c.rows[i] += side
		}
	}
	row, drawn := fill(c.w), len(c.rows)
	for len(c.rows) < c.h {
		c.rows = append(c.rows, row)
	}
	if settled && !exited {
		c.drawSizeNote(st, drawn)
	}
}

// drawSizeNote explains why the session is smaller than the pane, in the pattern below the drawn
// rows or beside them, if the text fits.
func (c *canvas) drawSizeNote(st ScreenState, drawn int) {
	size := fmt.Sprintf("%d×%d of %d×%d", st.Cols, st.Rows, c.w, c.h)
	long := size + ": a smaller terminal shows this session too"
	if drawn < c.h {
		for _, s := range []string{long, size} {
			if s = " " + s + " "; text.Width(s) <= c.w {
				c.rows[c.h-1] = c.look.Dim.Text(s) + c.look.FillPattern(c.w-text.Width(s))
				return
			}
		}
		return
	}
	side := c.w - st.Cols
	lines := text.WrapWords(long, max(side-1, 0))
	for _, line := range lines {
		if text.Width(line) > side-1 || len(lines) > c.h {
			return
		}
	}
	for i, line := range lines {
		y := c.h - len(lines) + i
		s := " " + text.Pad(line, side-1)
		c.rows[y] = text.Pad(text.Cut(c.rows[y], st.Cols, ""), st.Cols) + text.SgrReset + c.look.Dim.Text(s)
	}
}

// Cursor returns the cursor with its position in the pane; ok is false if no cursor is visible.
func (t *Terminal) Cursor() (c api.Cursor, ok bool) {
	st := t.State()
	if t.Scroll.active {
		return t.Scroll.paneCursor(t.View.size.Cols)
	}
	c = st.Cursor
	// Show the cursor where the echo is expected to put it.
	if at := t.echo.drawn.Cursor; at != nil {
		c.X, c.Y = at.X, at.Y
	}
	l, _ := t.Feed.Screen.lineAt(st.First + int64(c.Y))
	c, ok = st.placeCursor(c, l, t.View.size)
	return c, ok && !t.status.hasEnded()
}

// overwrite draws a label over the right end of a row of w cells.
func overwrite(row string, w int, label string, ink look.Ink) string {
	n := text.Width(label)
	if n >= w {
		return ink.Text(text.Fit(label, w))
	}
	return text.Pad(text.Cut(row, w-n, ""), w-n) + text.SgrReset + ink.Text(label)
}
