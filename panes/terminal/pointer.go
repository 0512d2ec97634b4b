package terminal

import "tandem/engine/api"

// A mousePress is the place of a press and the pane's content at the time.
type mousePress struct {
	down bool
	x, y int
	top  drawnTop
	at   api.Place
}

// A Pointer selects with the mouse. A selection starts scroll mode, so that the lines stay in
// place.
type Pointer struct {
	scroll  *ScrollMode
	pressed mousePress   // the last press
	word    [2]api.Place // the word of the double click that started a drag
}

// A drawnTop is the number of the line at the pane's top when the pane was last drawn.
type drawnTop struct {
	line int64
	full uint64 // the full frame the number belongs to
}

// placeAt returns the place of a cell in a pane whose first line is top.
func (m *Pointer) placeAt(x, y int, top int64) api.Place {
	st := m.scroll.screen.State()
	line := top + int64(max(min(y, m.scroll.height-1), 0))
	line = min(line, st.First+int64(st.Rows)-1)
	l, _ := m.scroll.screen.lineAt(line)
	return api.Place{Line: line, Cell: max(min(x, st.Cols-1), 0) / cellScale(l)}
}

// visibleTop returns the line that the user sees at the pane's top. It may differ from the current
// top line of a live screen, because output may have arrived since the pane was drawn.
func (m *Pointer) visibleTop() drawnTop {
	st, drawn := m.scroll.screen.State(), m.scroll.screen.drawnTop()
	if m.scroll.active || st.fulls != drawn.full {
		return drawnTop{m.scroll.topLine(st), st.fulls}
	}
	return drawn
}

// recordPress records a press at a cell of the pane as it is drawn. The drawn lines are held until
// the button is released.
func (m *Pointer) recordPress(x, y int) {
	m.scroll.screen.dropRegion()
	top := m.visibleTop()
	m.pressed = mousePress{down: true, x: x, y: y, top: top, at: m.placeAt(x, y, top.line)}
}

// Press handles a press at a cell of the pane. The first click ends a selection made with the
// mouse, the second selects a word, and the third a line.
func (m *Pointer) Press(x, y, clicks int) {
	if !m.scroll.screen.State().Known {
		return
	}
	m.scroll.flash = selection{}
	m.recordPress(x, y)
	p := m.pressed.at
	if m.scroll.active {
		m.scroll.sel, m.scroll.cursor, m.scroll.column = selection{}, p, p.Cell
	}
	switch clicks {
	case 2:
		from, to, text := m.scroll.screen.tokenAround(p)
		if text == "" {
			return
		}
		m.selectRange(SelectText, from, to)
		m.word = [2]api.Place{from, to}
	case 3:
		m.selectRange(SelectLines, p, p)
	}
}

// Drag extends the selection to a cell. If the cell is above or below the pane, Drag scrolls by a
// line and returns true.
func (m *Pointer) Drag(x, y int, block bool) (outside bool) {
	st := m.scroll.screen.State()
	if !st.Known {
		return false
	}
	s := m.scroll
	h := s.height
	if !s.drag {
		if st.fulls != m.pressed.top.full { // the lines have new numbers
			m.recordPress(m.pressed.x, m.pressed.y)
		}
		top := m.pressed.top.line
		if s.active {
			top = s.top
		}
		p := m.placeAt(x, y, top)
		if p == m.pressed.at && y >= 0 && y < h {
			return false
		}
		kind := SelectText
		if block {
			kind = SelectBlock
		}
		m.selectRange(kind, m.pressed.at, p)
	}
	switch {
	case y < 0:
		s.top--
	case y >= h:
		s.top++
	}
	s.clampPosition(s.screen.State())
	p := m.placeAt(x, y, s.top)
	s.cursor, s.column = p, p.Cell
	m.extendWord(p)
	s.requestLines()
	s.sendAnchors()
	return y < 0 || y >= h
}

// selectRange selects from one place to another.
func (m *Pointer) selectRange(kind SelectKind, from, to api.Place) {
	s := m.scroll
	if !s.active {
		// Enter scroll mode at the lines that the user sees, not at those that have arrived since.
		s.enterAt(m.pressed.top.line, m.pressed.at)
		s.mouse = true
	}
	s.wheel, s.drag = false, true
	s.sel = selection{kind: kind, anchor: from}
	s.cursor, s.column = to, to.Cell
	m.word = [2]api.Place{}
}

// extendWord extends a selection that a double click has started, by whole words up to p.
func (m *Pointer) extendWord(p api.Place) {
	s := m.scroll
	if m.word == [2]api.Place{} || s.sel.kind != SelectText {
		return
	}
	from, to, text := s.screen.tokenAround(p)
	if text == "" {
		from, to = p, p
	}
	if p.Before(m.word[0]) {
		s.sel.anchor, s.cursor = m.word[1], from
	} else {
		s.sel.anchor = m.word[0]
		if s.cursor = to; s.cursor.Before(m.word[1]) {
			s.cursor = m.word[1]
		}
	}
}

// Release ends the selection. copied is the range to copy, and ok is false if nothing was selected.
// On the live screen scroll mode ends; the range stays marked until the next key or click.
func (m *Pointer) Release() (copied api.SessionTextInput, ok bool) {
	s := m.scroll
	m.pressed.down = false
	if !s.drag {
		return copied, false
	}
	s.drag = false
	copied = s.Selection()
	// The user has not scrolled up, so scroll mode can end.
	if s.mouse && s.top >= s.start {
		flash := s.sel
		flash.cursor = s.cursor
		s.Stop()
		s.flash = flash
	}
	s.mouse = false
	return copied, true
}
