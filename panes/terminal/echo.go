package terminal

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/engine/styled"
	"tandem/panes/widget"
	"tandem/ui/predict"
)

// mostMarks bounds the marks that wait for an answer: an older engine gives none.
const mostMarks = 64

// An echo shows what was typed into a session of another machine, underlined, before the
// program there has. A mark behind each input tells when it has had the time to answer.
type echo struct {
	guesses predict.Predictor
	last    uint64
	sent    []sentMark // marks without an answer
	serial  int        // of the attachment that they went to
	alt     bool       // the program is on its alternate screen
	drawn   predict.Overlay
	waits   bool // a message comes when an answer gets late
}

// A sentMark is a mark, and when it was sent.
type sentMark struct {
	mark uint64
	at   time.Time
}

// restart forgets what is guessed: the screen is another one.
func (e *echo) restart() {
	e.guesses.Reset()
	e.sent, e.drawn = nil, predict.Overlay{}
}

// answered takes what the engine says of the input.
func (e *echo) answered(m api.Mark, now time.Time) {
	for len(e.sent) > 0 && e.sent[0].mark <= m.N {
		if e.sent[0].mark == m.N {
			e.guesses.Measured(max(now.Sub(e.sent[0].at)-m.Held, 0))
		}
		e.sent = e.sent[1:]
	}
	e.guesses.Ack(m.N)
}

// foresee notes what was sent to the program, and guesses what it will show.
func (t *Terminal) foresee(in api.Input, now time.Time) {
	e := &t.echo
	mode := t.Predict
	if machine, _ := api.MachineOf(t.ID); machine == "" && mode != predict.Always {
		mode = predict.Off
	}
	if e.guesses.Mode = mode; mode == predict.Off || !t.Outbox.Connected() {
		e.restart()
		return
	}
	e.last++
	mark := e.last
	if t.Outbox.Send(api.Input{Mark: &mark}) != nil {
		return
	}
	e.sent = append(e.sent[max(len(e.sent)+1-mostMarks, 0):], sentMark{mark, now})
	if in.Key != nil {
		e.guesses.Type(*in.Key, mark, now, t.known())
	} else {
		e.guesses.Unknown(mark)
	}
	t.changed = true
}

// confirm compares what is guessed with what has arrived.
func (t *Terminal) confirm(st feedStatus, screen ScreenState) {
	e := &t.echo
	if st.serial != e.serial || screen.Alt != e.alt {
		e.serial, e.alt = st.serial, screen.Alt
		e.restart()
	}
	if st.mark != nil {
		e.answered(*st.mark, st.markAt)
		t.changed = true
	}
	if t.changed && e.guesses.Mode != predict.Off && screen.Known {
		e.guesses.Confirm(t.known())
	}
}

// A known is the screen as the pane has it, for who guesses.
type known struct {
	screen *Screen
	ScreenState
}

func (t *Terminal) known() known { return known{&t.Feed.Screen, t.State()} }

func (k known) line(y int) api.Line {
	l, _ := k.screen.line(k.First + int64(y))
	return l
}

func (k known) Size() (cols, rows int) { return k.Cols, k.Rows }

// Cursor is unknown in the last column, where a frame does not tell whether the next
// character wraps.
func (k known) Cursor() (x, y int, ok bool) {
	c := k.ScreenState.Cursor
	return c.X, c.Y, k.Known && c.Visible && c.X < k.Cols-1 && k.line(c.Y).Size == styled.SingleSize
}

func (k known) Cell(x, y int) predict.Cell {
	for _, c := range clusters(nil, k.line(y)) {
		switch {
		case x == c.x:
			return predict.Cell{Text: c.text, Style: *c.style}
		case x > c.x && x < c.x+c.w:
			return predict.Cell{Style: *c.style}
		}
	}
	return predict.Cell{Text: " "}
}

// Pen is the style of what the cursor stands on: the next character's is not told.
func (k known) Pen() styled.Style {
	c := k.ScreenState.Cursor
	style := k.Cell(c.X, c.Y).Style
	style.Underline, style.Link = styled.UnderlineNone, ""
	return style
}

// drawGuesses draws over the rows from a line on what is guessed to be there.
func (t *Terminal) drawGuesses(top int64, w int, now time.Time) {
	e := &t.echo
	if e.drawn = (predict.Overlay{}); t.Scroll.active || t.ended != nil || e.guesses.Mode == predict.Off {
		return
	}
	k := t.known()
	e.drawn = e.guesses.Overlay(now, k)
	for rest := e.drawn.Cells; len(rest) > 0; {
		y, n := rest[0].Y, 0
		for n < len(rest) && rest[n].Y == y {
			n++
		}
		if row, l := int(k.First+int64(y)-top), k.line(y); row >= 0 && row < len(t.rows) && len(l.Pictures) == 0 {
			t.rows[row] = string(widget.AppendLine(nil, over(l, rest[:n]), min(w, k.Cols)))
		}
		rest = rest[n:]
	}
}

// over is a line with other cells, underlined, over its own.
func over(l api.Line, cells []predict.Drawn) api.Line {
	out := l
	out.Runs = nil
	own, x := clusters(nil, l), 0
	add := func(text string, w int, style api.Style) {
		out.Runs = append(out.Runs, api.Run{Style: style, Text: text, Cells: w})
		x += w
	}
	upTo := func(end int) { // of its own; half a wide character is a blank
		for ; len(own) > 0 && own[0].x < end; own = own[1:] {
			if c := own[0]; c.x >= x && c.x+c.w <= end {
				add(c.text, c.w, *c.style)
			}
		}
		if x < end {
			add(widget.Spaces(end-x), end-x, api.Style{})
		}
	}
	for _, c := range cells {
		upTo(c.X)
		style := c.Style
		style.Underline, style.Link = styled.UnderlineSingle, ""
		add(c.Text, widget.Width(c.Text), style)
	}
	for len(own) > 0 && own[0].x < x {
		own = own[1:]
	}
	for _, c := range own {
		if c.x > x {
			add(widget.Spaces(c.x-x), c.x-x, api.Style{})
		}
		add(c.text, c.w, *c.style)
	}
	return out
}

// echoDue is when an answer gets late.
type echoDue struct{ pane *Pane }

func (m echoDue) For() *Pane { return m.pane }

// awaitLate has a message come when an answer gets late: guesses are shown then.
func (p *Pane) awaitLate() tea.Cmd {
	at, ok := p.echo.guesses.Look()
	if !ok || p.echo.waits {
		return nil
	}
	p.echo.waits = true
	return tea.Tick(time.Until(at), func(time.Time) tea.Msg { return echoDue{p} })
}
