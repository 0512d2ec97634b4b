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
	w, h int
	mode areaMode
	body look.Rect // the view
	tips look.Rect // the row of tips
}

// An areaMode says which parts of the dashboard are on the screen.
type areaMode int

const (
	modeFull     areaMode = iota // a view between the top bar and the status bar
	modeTight                    // a single pane, in body, above the status bar: nothing else fits
	modeZoomed                   // a single pane without bars, on a screen of any size
	modeTooSmall                 // not even a single pane fits
)

func computeAreas(w, h int, tips, zoomed bool) areas {
	a := areas{w: w, h: h}
	switch {
	case zoomed:
		a.mode, a.body = modeZoomed, look.Rect{W: w, H: h}
	case !a.isSmall():
		a.body = look.Rect{Y: 1, W: w, H: h - 2}
		if tips {
			a.body.H--
			a.tips = look.Rect{Y: h - 2, W: w, H: 1}
		}
	case w >= minTightWidth && h >= minTightHeight:
		a.mode, a.body = modeTight, look.Rect{W: w, H: h - 1}
	default:
		a.mode = modeTooSmall
	}
	return a
}

// isSmall reports whether the screen is too small for the complete dashboard.
func (a areas) isSmall() bool { return a.w < minScreenWidth || a.h < minScreenHeight }

// showsOnePane reports whether a single pane is all that is shown of the Sessions view.
func (a areas) showsOnePane() bool { return a.mode == modeTight || a.mode == modeZoomed }

// relayout divides the screen and resizes every view.
func (m *model) relayout() {
	m.frame.redraw()
	m.areas = computeAreas(m.areas.w, m.areas.h, m.tips.areShown(), m.views.action() == keymap.ViewSessions && m.sessions.IsZoomed())
	m.sessions.SetTight(m.areas.showsOnePane())
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
	return m.areas.showsOnePane() && m.views.action() == keymap.ViewSessions && m.sessions.CurrentPane() != nil
}
