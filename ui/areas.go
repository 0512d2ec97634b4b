package ui

import (
	"tandem/panes/widget"
)

// Least size of the terminal that the dashboard draws in.
const (
	minScreenWidth  = 60
	minScreenHeight = 15
)

// Least size of a terminal that shows the focused pane or the session list
// alone, above the status bar, where there is no room for more.
const (
	minTightWidth  = 20
	minTightHeight = 4
)

// areas say where everything is on a screen of a size. Rectangles that are not
// shown are empty.
type areas struct {
	w, h  int
	body  widget.Rect // the view
	tips  widget.Rect // the line for newcomers
	small bool        // there is no room for the dashboard
	tight bool        // but for one terminal alone, which is the body

	zoomed bool // a terminal has all of the screen, bars included; it is tight then
}

func areasFor(w, h int, tips, zoomed bool) (a areas) {
	a.w, a.h = w, h
	if zoomed {
		a.body = widget.Rect{W: w, H: h}
		a.small, a.tight, a.zoomed = w < minScreenWidth || h < minScreenHeight, true, true
		return a
	}
	if w < minScreenWidth || h < minScreenHeight {
		a.small = true
		if w >= minTightWidth && h >= minTightHeight {
			a.tight, a.body = true, widget.Rect{W: w, H: h - 1}
		}
		return a
	}
	a.body = widget.Rect{Y: 1, W: w, H: h - 2}
	if tips {
		a.body.H--
		a.tips = widget.Rect{Y: h - 2, W: w, H: 1}
	}
	return a
}

// relayout divides the screen again and gives every view its size.
func (m *model) relayout() {
	m.dirty = true
	m.areas = areasFor(m.areas.w, m.areas.h, m.tipsShown(), m.sessions.zoomed && m.sessions.shown && m.sessions.tabs.Current != nil)
	m.sessions.tight = m.areas.tight
	for _, p := range m.views() {
		p.Resize(m.areas.body.W, m.areas.body.H)
	}
}

// tight reports whether the focused terminal, or the list in its place, is all
// that is shown, because there is no room. The other views are not shown there.
func (m *model) tight() bool {
	return m.areas.tight && m.sessions.shown && m.sessions.tabs.Current != nil
}
