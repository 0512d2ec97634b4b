package terminal

import "tandem/engine/api"

// A press is where the mouse button went down, and what the pane showed then.
type press struct {
	down bool
	x, y int
	top  drawnTop
	at   api.Place
}

// A Pointer is what the mouse selects in a terminal. A selection of its own
// begins scroll mode, so that what is selected stays where it is.
type Pointer struct {
	scroll  *ScrollMode
	seen    drawnTop     // what the person sees on the live screen
	pressed press        // of the button
	unit    [2]api.Place // the word of a double click that a drag began with
}

// A drawnTop is the line at the pane's top when it was drawn last.
type drawnTop struct {
	line int64
	full uint64 // the full frame that the number belongs to
}

// placeAt is the place that a cell shows of a pane that has a line at its top.
func (m *Pointer) placeAt(x, y int, top int64) api.Place {
	st := m.scroll.screen.State()
	line := top + int64(max(min(y, m.scroll.height-1), 0))
	line = min(line, st.First+int64(st.Rows)-1)
	l, _ := m.scroll.screen.line(line)
	return api.Place{Line: line, Cell: max(min(x, st.Cols-1), 0) / scale(l)}
}

// seenTop is the line at the top of what the person sees. On the live screen
// output may have come since that was drawn.
func (m *Pointer) seenTop() drawnTop {
	if st := m.scroll.screen.State(); m.scroll.active || st.fulls != m.seen.full {
		return drawnTop{m.scroll.topOf(st), st.fulls}
	}
	return m.seen
}

// pressAt notes where the button went down in what the person sees. Until it is
// released those lines stay held.
func (m *Pointer) pressAt(x, y int) {
	top := m.seenTop()
	m.pressed = press{down: true, x: x, y: y, top: top, at: m.placeAt(x, y, top.line)}
}

// Press begins what the mouse selects at a cell of the pane: with the second
// click a word, with the third a line; the first ends a selection that the
// mouse has made.
func (m *Pointer) Press(x, y, clicks int) {
	if !m.scroll.screen.State().Known {
		return
	}
	m.scroll.flash = selection{}
	m.pressAt(x, y)
	p := m.pressed.at
	if m.scroll.active {
		m.scroll.sel, m.scroll.cursor, m.scroll.want = selection{}, p, p.Cell
	}
	switch clicks {
	case 2:
		from, to, text := m.scroll.screen.tokenAround(p)
		if text == "" {
			return
		}
		m.hold(SelectText, from, to)
		m.unit = [2]api.Place{from, to}
	case 3:
		m.hold(SelectLines, p, p)
	}
}

// Drag takes the end of the selection that the mouse holds to a cell, which may
// be outside of the pane: then the pane scrolls by a line, and outside is true.
func (m *Pointer) Drag(x, y int, block bool) (outside bool) {
	st := m.scroll.screen.State()
	if !st.Known {
		return false
	}
	s := m.scroll
	h := s.height
	if !s.drag {
		if st.fulls != m.pressed.top.full { // lines have other numbers now
			m.pressAt(m.pressed.x, m.pressed.y)
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
		m.hold(kind, m.pressed.at, p)
	}
	switch {
	case y < 0:
		s.top--
	case y >= h:
		s.top++
	}
	s.clamp(s.screen.State())
	p := m.placeAt(x, y, s.top)
	s.cursor, s.want = p, p.Cell
	m.extendUnit(p)
	s.fetch()
	s.tellAnchors()
	return y < 0 || y >= h
}

// hold selects from one place to another for the mouse.
func (m *Pointer) hold(kind SelectKind, from, to api.Place) {
	s := m.scroll
	if !s.active {
		s.beginAt(m.pressed.top.line, m.pressed.at)
		s.mouse = true
	}
	s.wheel, s.drag = false, true
	s.sel = selection{kind: kind, anchor: from}
	s.cursor, s.want = to, to.Cell
	m.unit = [2]api.Place{}
}

// extendUnit keeps the word of a double click selected whole.
func (m *Pointer) extendUnit(p api.Place) {
	s := m.scroll
	if m.unit == [2]api.Place{} || s.sel.kind != SelectText {
		return
	}
	from, to, text := s.screen.tokenAround(p)
	if text == "" {
		from, to = p, p
	}
	if p.Before(m.unit[0]) {
		s.sel.anchor, s.cursor = m.unit[1], from
	} else {
		s.sel.anchor = m.unit[0]
		if s.cursor = to; s.cursor.Before(m.unit[1]) {
			s.cursor = m.unit[1]
		}
	}
}

// Release lets go of the selection. What was selected is to be copied: copied
// says what, and ok is false when the mouse had selected nothing. On the live
// screen scroll mode ends with that; what was selected stays marked until the
// next key or click.
func (m *Pointer) Release() (copied api.SessionTextInput, ok bool) {
	s := m.scroll
	m.pressed.down = false
	if !s.drag {
		return copied, false
	}
	s.drag = false
	copied = s.Selection()
	if s.mouse && s.top >= s.start {
		flash := s.sel
		flash.cursor = s.cursor
		s.Stop()
		s.flash = flash
	}
	s.mouse = false
	return copied, true
}
