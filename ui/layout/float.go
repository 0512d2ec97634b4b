package layout

import (
	"slices"
	"strings"

	"tandem/engine/api"
	"tandem/engine/invariants"
	"tandem/panes/widget"
)

// Floating reports whether the floating tab is shown.
func (t *Tabs) Floating() bool { return t.Float != nil && t.Current == t.Float }

// Base is the tab that fills the view: the one that is shown, or lies below the
// floating one. It is nil without sessions.
func (t *Tabs) Base() *Tab {
	if t.Floating() {
		return t.Under
	}
	return t.Current
}

// Go makes a tab the one that is shown.
func (t *Tabs) Go(to *Tab) {
	switch {
	case to != t.Float:
		t.Under = nil
	case !t.Floating():
		t.Under = t.Current
	}
	t.Current = to
}

// Settle sees to it that the floating tab has one below it after tabs have gone: the
// one shown last, or else it floats no more.
func (t *Tabs) Settle() {
	switch {
	case t.Float == nil:
		t.Under = nil
	case len(t.All) == 0:
		t.All, t.Float, t.Under = []*Tab{t.Float}, nil, nil
	case !t.Floating():
		t.Under = nil
	case t.Index(t.Under) < 0:
		t.Under = t.Before()
	}
	if invariants.Enabled {
		Check(t)
	}
}

// Frame is where the floating tab is drawn over an area, its frame included.
func Frame(over widget.Rect) widget.Rect {
	r := widget.Rect{W: max(over.W*4/5, min(over.W, leastFrameWidth)), H: max(over.H*4/5, min(over.H, leastFrameHeight))}
	r.X, r.Y = over.X+(over.W-r.W)/2, over.Y+(over.H-r.H)/2
	return r
}

const (
	leastFrameWidth  = 50
	leastFrameHeight = 10
)

// Inside is what a frame leaves to the tab.
func Inside(frame widget.Rect) widget.Rect {
	return widget.Rect{X: frame.X + 1, Y: frame.Y + 1, W: frame.W - 2, H: frame.H - 2}
}

// Framed are the rows of the floating tab with its frame; heading has the width of
// the tab.
func (t *Tab) Framed(heading string, focused bool, look *widget.Look) (rows []string) {
	inside := Edges{Look: look}
	if focused {
		inside.Focus = t.Focus.Rect
	}
	r := t.Root.Rect
	rows = append(rows, look.Edge("╭", focused)+heading+look.Edge("╮", focused))
	side := look.Edge("│", focused)
	for y := r.Y; y < r.Y+r.H; y++ {
		rows = append(rows, side+string(t.Root.AppendRow(nil, y, inside))+widget.SgrReset+side)
	}
	return append(rows, look.Edge("╰"+strings.Repeat("─", r.W)+"╯", focused))
}

// writeFloat writes the floating tab down; nil if there is none with a place in a
// layout.
func (t *Tabs) writeFloat(name func(id string) string) *api.LayoutTab {
	if t.Float == nil {
		return nil
	}
	if written, ok := t.Float.write(name); ok {
		return &written
	}
	return nil
}

// all are the tabs of a layout with the floating one, which comes last.
func all(l api.Layout) []api.LayoutTab {
	if l.Float == nil {
		return l.Tabs
	}
	return append(slices.Clip(l.Tabs), *l.Float)
}
