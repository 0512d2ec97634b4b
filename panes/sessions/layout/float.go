package layout

import (
	"strings"

	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
)

// IsFloating reports whether the floating tab is shown.
func (t *Tabs) IsFloating() bool { return t.Float != nil && t.Current == t.Float }

// BaseTab returns the tab that fills the view: the current tab or, if that floats, the tab below
// it. It returns nil if there are no sessions.
func (t *Tabs) BaseTab() *Tab {
	if t.IsFloating() {
		return t.Under
	}
	return t.Current
}

// FrameRect returns the rectangle of the floating tab over area, including its frame.
func FrameRect(area look.Rect) look.Rect {
	r := look.Rect{W: max(area.W*4/5, min(area.W, minFrameWidth)), H: max(area.H*4/5, min(area.H, minFrameHeight))}
	r.X, r.Y = area.X+(area.W-r.W)/2, area.Y+(area.H-r.H)/2
	return r
}

const (
	minFrameWidth  = 50
	minFrameHeight = 10
)

// InsideFrame returns the rectangle inside a frame.
func InsideFrame(frame look.Rect) look.Rect {
	return look.Rect{X: frame.X + 1, Y: frame.Y + 1, W: frame.W - 2, H: frame.H - 2}
}

// DrawFramed draws the floating tab with its frame. heading must have the width of the
// tab.
func (t *Tab) DrawFramed(heading string, focused bool, look *look.Look) (rows []string) {
	inside := Edges{Look: look}
	if focused {
		inside.Focus = t.Focus.Rect
	}
	r := t.Root.Rect
	rows = append(rows, look.Edge("╭", focused)+heading+look.Edge("╮", focused))
	side := look.Edge("│", focused)
	for y := r.Y; y < r.Y+r.H; y++ {
		rows = append(rows, side+string(t.Root.AppendRow(nil, y, inside))+text.SgrReset+side)
	}
	return append(rows, look.Edge("╰"+strings.Repeat("─", r.W)+"╯", focused))
}
