package panes

import "tandem/engine/api"

// PlaceAt is the place that a cell of the pane shows.
func (t *Terminal) PlaceAt(x, y int) api.Place { return t.placeAt(x, y, t.top(t.State())) }

// placeAt is PlaceAt in a pane that has a line at its top.
func (t *Terminal) placeAt(x, y int, top int64) api.Place {
	st := t.State()
	line := top + int64(max(min(y, t.size.Rows-1), 0))
	line = max(min(line, st.First+int64(st.Rows)-1), t.oldest(st))
	l, _ := t.Feed.Screen.line(line)
	return api.Place{Line: line, Cell: max(min(x, st.Cols-1), 0) / scale(l)}
}

// seenTop is the line at the top of what the person sees. On the live screen
// output may have come since that was drawn.
func (t *Terminal) seenTop() int64 {
	if st := t.State(); t.scroll.active || st.fulls != t.drawn.full {
		return t.top(st)
	}
	return t.drawn.line
}

// Press begins what the mouse selects at a cell of the pane: with the second
// click a word, with the third a line; the first ends a selection that the
// mouse has made.
func (t *Terminal) Press(x, y, clicks int) {
	if !t.State().Known {
		return
	}
	t.flash = selection{}
	p := t.placeAt(x, y, t.seenTop())
	t.pressed = p
	if t.scroll.active {
		t.scroll.sel, t.scroll.cursor, t.scroll.want = selection{}, p, p.Cell
	}
	switch clicks {
	case 2:
		from, to, text := t.tokenAround(p)
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
	if !t.State().Known {
		return false
	}
	h := t.size.Rows
	p := t.PlaceAt(x, y)
	if !t.scroll.drag {
		if p == t.pressed && y >= 0 && y < h {
			return false
		}
		kind := SelectText
		if block {
			kind = SelectBlock
		}
		t.hold(kind, t.pressed, p)
	}
	s := &t.scroll
	switch {
	case y < 0:
		s.top--
	case y >= h:
		s.top++
	}
	t.clampScroll(t.State())
	p = t.PlaceAt(x, y)
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
		seen := t.seenTop()
		t.begin()
		s.mouse = true
		s.top, s.start = seen, seen
		t.clampScroll(t.State())
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
	from, to, text := t.tokenAround(p)
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
