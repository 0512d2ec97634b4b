package ui

import (
	"tandem/keys/keymap"
	"tandem/panes/kit/look"
)

// Minimum size of a terminal for the complete dashboard.
const (
	minScreenWidth  = 60
	minScreenHeight = 15
)

// Minimum size of a terminal that shows only the focused pane or the session list, above
// the status bar. Smaller ones show an error.
const (
	minTightWidth  = 20
	minTightHeight = 4
)

// areas holds the rectangle of each part of the dashboard on the screen. The rectangle of a part
// that is not shown is empty.
type areas struct {
	w, h  int
	body  look.Rect // the view
	tips  look.Rect // the row of tips
	small bool      // too small for the dashboard
	tight bool      // a single pane, in body, is all that fits

	zoomed bool // one pane has the whole screen, without bars; implies tight
}

func computeAreas(w, h int, tips, zoomed bool) (a areas) {
	a.w, a.h = w, h
	// A zoomed pane is shown however small the screen is: it needs no bars.
	if zoomed {
		a.body = look.Rect{W: w, H: h}
		a.small, a.tight, a.zoomed = w < minScreenWidth || h < minScreenHeight, true, true
		return a
	}
	if w < minScreenWidth || h < minScreenHeight {
		a.small = true
		if w >= minTightWidth && h >= minTightHeight {
			a.tight, a.body = true, look.Rect{W: w, H: h - 1}
		}
		return a
	}
	a.body = look.Rect{Y: 1, W: w, H: h - 2}
	if tips {
		a.body.H--
		a.tips = look.Rect{Y: h - 2, W: w, H: 1}
	}
	return a
}

// relayout divides the screen and resizes every view.
func (m *model) relayout() {
	m.frame.redraw()
	m.areas = computeAreas(m.areas.w, m.areas.h, m.tips.areShown(), m.views.action() == keymap.ViewSessions && m.sessions.IsZoomed())
	m.sessions.SetTight(m.areas.tight)
	for _, v := range m.views.all {
		v.pane.Resize(m.areas.body.W, m.areas.body.H)
	}
}

// showTerminal focuses the pane used last.
func (m *model) showTerminal() {
	m.env.ShowSessions()
	m.sessions.FocusTerminal()
	m.relayout()
}

// isTight reports whether the screen has room only for the focused pane or, in its place, the
// session list. Other views are not shown on such a screen.
func (m *model) isTight() bool {
	return m.areas.tight && m.views.action() == keymap.ViewSessions && m.sessions.CurrentPane() != nil
}
