package terminal

import "tandem/engine/api"

// A press is where the mouse button went down, and what the pane showed then.
type press struct {
	down bool
	x, y int
	top  drawnTop
	at   api.Place
}

// placeAt is the place that a cell shows of a pane that has a line at its top.
func (t *Terminal) placeAt(x, y int, top int64) api.Place {
	st := t.State()
	line := top + int64(max(min(y, t.size.Rows-1), 0))
	line = min(line, st.First+int64(st.Rows)-1)
	l, _ := t.Feed.Screen.line(line)
	return api.Place{Line: line, Cell: max(min(x, st.Cols-1), 0) / scale(l)}
}

// seenTop is the line at the top of what the person sees. On the live screen
// output may have come since that was drawn.
func (t *Terminal) seenTop() drawnTop {
	if st := t.State(); t.scroll.active || st.fulls != t.drawn.full {
		return drawnTop{t.top(st), st.fulls}
	}
	return t.drawn
}

// pressAt notes where the button went down in what the person sees. Until it is
// released those lines stay held.
func (t *Terminal) pressAt(x, y int) {
	top := t.seenTop()
	t.pressed = press{down: true, x: x, y: y, top: top, at: t.placeAt(x, y, top.line)}
}

// Press begins what the mouse selects at a cell of the pane: with the second
// click a word, with the third a line; the first ends a selection that the
// mouse has made.
func (t *Terminal) Press(x, y, clicks int) {
	if !t.State().Known {
		return
	}
	t.flash = selection{}
	t.pressAt(x, y)
	p := t.pressed.at
	if t.scroll.active {
		t.scroll.sel, t.scroll.cursor, t.scroll.want = selection{}, p, p.Cell
	}
	switch clicks {
	case 2:
		from, to, text := t.Feed.Screen.tokenAround(p)
		if text == "" {
			return
		}
		t.hold(SelectText, from, to)
		t.unit = [2]api.Place{from, to}
	case 3:
		t.hold(SelectLines, p, p)
	}
}

// Drag takes the end of the selection that the mouse holds to a cell, which may
// be outside of the pane: then the pane scrolls by a line, and outside is true.
func (t *Terminal) Drag(x, y int, block bool) (outside bool) {
	st := t.State()
	if !st.Known {
		return false
	}
	h, s := t.size.Rows, &t.scroll
	if !s.drag {
		if st.fulls != t.pressed.top.full { // lines have other numbers now
			t.pressAt(t.pressed.x, t.pressed.y)
		}
		top := t.pressed.top.line
		if s.active {
			top = s.top
		}
		p := t.placeAt(x, y, top)
		if p == t.pressed.at && y >= 0 && y < h {
			return false
		}
		kind := SelectText
		if block {
			kind = SelectBlock
		}
		t.hold(kind, t.pressed.at, p)
	}
	switch {
	case y < 0:
		s.top--
	case y >= h:
		s.top++
	}
	t.clampScroll(t.State())
	p := t.placeAt(x, y, s.top)
	s.cursor, s.want = p, p.Cell
	t.extendUnit(p)
	t.fetch()
	t.tellAnchors()
	return y < 0 || y >= h
}

// hold selects from one place to another for the mouse.
func (t *Terminal) hold(kind SelectKind, from, to api.Place) {
	s := &t.scroll
	if !s.active {
		t.beginAt(t.pressed.top.line, t.pressed.at)
		s.mouse = true
	}
	s.wheel, s.drag = false, true
	s.sel = selection{kind: kind, anchor: from}
	s.cursor, s.want = to, to.Cell
	t.unit = [2]api.Place{}
}

// extendUnit keeps the word of a double click selected whole.
func (t *Terminal) extendUnit(p api.Place) {
	s := &t.scroll
	if t.unit == [2]api.Place{} || s.sel.kind != SelectText {
		return
	}
	from, to, text := t.Feed.Screen.tokenAround(p)
	if text == "" {
		from, to = p, p
	}
	if p.Before(t.unit[0]) {
		s.sel.anchor, s.cursor = t.unit[1], from
	} else {
		s.sel.anchor = t.unit[0]
		if s.cursor = to; s.cursor.Before(t.unit[1]) {
			s.cursor = t.unit[1]
		}
	}
}

// Release lets go of the selection. What was selected is to be copied: copied
// says what, and ok is false when the mouse had selected nothing. On the live
// screen scroll mode ends with that; what was selected stays marked until the
// next key or click.
func (t *Terminal) Release() (copied api.SessionTextInput, ok bool) {
	s := &t.scroll
	t.pressed.down = false
	if !s.drag {
		return copied, false
	}
	s.drag = false
	copied = t.Selection()
	if s.mouse && s.top >= s.start {
		flash := s.sel
		flash.cursor = s.cursor
		t.StopScroll()
		t.flash = flash
	}
	t.scroll.mouse = false
	return copied, true
}

// Unflash takes the marks away that the mouse has left on the live screen, and
// reports whether there were any.
func (t *Terminal) Unflash() bool {
	was := t.flash.kind != selectNothing
	t.flash = selection{}
	return was
}
