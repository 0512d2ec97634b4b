package terminal

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/engine/api/outbox"
	"tandem/engine/screen/styled"
	"tandem/panes"
	"tandem/panes/kit/predict"
	"tandem/panes/kit/text"
)

// maxMarks limits the marks kept while their reply is missing, because an older engine never
// replies.
const maxMarks = 64

// An echo shows input for another machine's session, underlined, before the program's echo arrives.
// After each input it sends a mark. The engine returns the mark once the program has had time to
// react. A guess that the screen does not show by then was wrong.
type echo struct {
	screen *Screen
	outbox *outbox.Outbox

	guesses   predict.Predictor
	last      uint64
	sent      []sentMark // marks without a reply
	serial    int        // of the attachment they were sent on
	alt       bool       // the program uses the alternate screen
	drawn     predict.Overlay
	lateTimer bool // a timer for a late reply runs
}

// A sentMark is a mark with the time it was sent.
type sentMark struct {
	mark uint64
	at   time.Time
}

// dropGuesses drops all guesses, because they were made for another screen.
func (e *echo) dropGuesses() {
	e.guesses.Reset()
	e.sent, e.drawn = nil, predict.Overlay{}
}

// handleMark handles a returned mark.
func (e *echo) handleMark(m api.Mark, now time.Time) {
	for len(e.sent) > 0 && e.sent[0].mark <= m.N {
		if e.sent[0].mark == m.N {
			// Measure only the time on the link, not the time that the engine waited for the
			// program.
			e.guesses.RecordRTT(max(now.Sub(e.sent[0].at)-m.Held, 0))
		}
		e.sent = e.sent[1:]
	}
	e.guesses.Ack(m.N)
}

// predictModeFor returns the prediction mode for a session. Sessions of this machine echo without
// delay, so their input is not predicted unless the user wants it always.
func predictModeFor(session string, mode predict.Mode) predict.Mode {
	if machine, _ := api.MachineOf(session); machine == "" && mode != predict.Always {
		return predict.Off
	}
	return mode
}

// predictInput sends a mark after input to the program, and predicts the echo of the input. It
// reports whether there may be new guesses.
func (e *echo) predictInput(in api.Input, mode predict.Mode, now time.Time) bool {
	if e.guesses.Mode = mode; mode == predict.Off || !e.outbox.Connected() {
		e.dropGuesses()
		return false
	}
	e.last++
	mark := e.last
	if e.outbox.Send(api.Input{Mark: &mark}) != nil {
		return false
	}
	e.sent = append(e.sent[max(len(e.sent)+1-maxMarks, 0):], sentMark{mark, now})
	if in.Key != nil {
		e.guesses.RecordKey(*in.Key, mark, now, e.predictScreen())
	} else {
		e.guesses.RecordUnknown(mark)
	}
	return true
}

// confirmGuesses compares the guesses with the screen. changed says that the screen or the feed has
// changed since the last call.
func (e *echo) confirmGuesses(st feedStatus, screen ScreenState, changed bool) {
	// The guesses were about another screen.
	if st.serial != e.serial || screen.Alt != e.alt {
		e.serial, e.alt = st.serial, screen.Alt
		e.dropGuesses()
	}
	if st.mark != nil {
		e.handleMark(*st.mark, st.markAt)
	}
	if changed && e.guesses.Mode != predict.Off && screen.Known {
		e.guesses.CheckGuesses(e.predictScreen())
	}
}

// A predictScreen is the screen as predict sees it.
type predictScreen struct {
	screen *Screen
	ScreenState
}

func (e *echo) predictScreen() predictScreen { return predictScreen{e.screen, e.screen.State()} }

func (k predictScreen) line(y int) api.Line {
	l, _ := k.screen.lineAt(k.First + int64(y))
	return l
}

func (k predictScreen) Size() (cols, rows int) { return k.Cols, k.Rows }

// Cursor returns false in the last column, because a frame does not tell whether the next character
// wraps there.
func (k predictScreen) Cursor() (x, y int, ok bool) {
	c := k.ScreenState.Cursor
	return c.X, c.Y, k.Known && c.Visible && c.X < k.Cols-1 && k.line(c.Y).Size == styled.SingleSize
}

func (k predictScreen) Cell(x, y int) predict.Cell {
	for _, c := range appendClusters(nil, k.line(y)) {
		switch {
		case x == c.x:
			return predict.Cell{Text: c.text, Style: *c.style}
		case x > c.x && x < c.x+c.w:
			return predict.Cell{Style: *c.style}
		}
	}
	return predict.Cell{Text: " "}
}

// Pen returns the style under the cursor: a frame does not have the style of the next character.
func (k predictScreen) Pen() styled.Style {
	c := k.ScreenState.Cursor
	style := k.Cell(c.X, c.Y).Style
	style.Underline, style.Link = styled.UnderlineNone, ""
	return style
}

// drawGuesses draws the guesses over rows; top is the number of the line in the first row.
func (e *echo) drawGuesses(rows []string, top int64, w int, now time.Time) {
	if e.drawn = (predict.Overlay{}); e.guesses.Mode == predict.Off {
		return
	}
	k := e.predictScreen()
	e.drawn = e.guesses.MakeOverlay(now, k)
	for rest := e.drawn.Cells; len(rest) > 0; {
		y, n := rest[0].Y, 0
		for n < len(rest) && rest[n].Y == y {
			n++
		}
		// Drawing the line again would drop its pictures.
		if row, l := int(k.First+int64(y)-top), k.line(y); row >= 0 && row < len(rows) && len(l.Pictures) == 0 {
			rows[row] = string(text.AppendLine(nil, overlayCells(l, rest[:n]), min(w, k.Cols)))
		}
		rest = rest[n:]
	}
}

// overlayCells returns line l with some of its cells replaced by the given ones, which are
// underlined.
func overlayCells(l api.Line, cells []predict.OverlayCell) api.Line {
	out := l
	out.Runs = nil
	own, x := appendClusters(nil, l), 0
	add := func(text string, w int, style api.Style) {
		out.Runs = append(out.Runs, api.Run{Style: style, Text: text, Cells: w})
		x += w
	}
	upTo := func(end int) { // copies the line's own cells; half a wide character becomes a blank
		for ; len(own) > 0 && own[0].x < end; own = own[1:] {
			if c := own[0]; c.x >= x && c.x+c.w <= end {
				add(c.text, c.w, *c.style)
			}
		}
		if x < end {
			add(text.Spaces(end-x), end-x, api.Style{})
		}
	}
	for _, c := range cells {
		upTo(c.X)
		style := c.Style
		style.Underline, style.Link = styled.UnderlineSingle, ""
		add(c.Text, text.Width(c.Text), style)
	}
	for len(own) > 0 && own[0].x < x {
		own = own[1:]
	}
	for _, c := range own {
		if c.x > x {
			add(text.Spaces(c.x-x), c.x-x, api.Style{})
		}
		add(c.text, c.w, *c.style)
	}
	return out
}

// scheduleLate returns a command that shows the guesses once a reply is late.
func (e *echo) scheduleLate() tea.Cmd {
	at, ok := e.guesses.NextChange()
	if !ok || e.lateTimer {
		return nil
	}
	e.lateTimer = true
	return panes.After(time.Until(at), func() tea.Cmd {
		e.lateTimer = false
		return e.scheduleLate()
	})
}
