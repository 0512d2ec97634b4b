package sessions

import (
	"slices"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/panes/kit/graphics"
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
	"tandem/panes/sessions/layout"
	"tandem/panes/terminal"
)

// IsOpen reports whether the first news has been applied and a session shown.
func (v *View) IsOpen() bool { return v.display.isOpen }

// IsZoomed reports whether the focused pane fills the screen.
func (v *View) IsZoomed() bool { return v.display.zoomed }

// CountQueued returns the number of inputs queued for sessions that cannot be reached.
func (v *View) CountQueued() int { return v.Panes.countQueued() }

// SetTight sets whether one pane gets the whole view. It takes effect with the next resize.
func (v *View) SetTight(tight bool) { v.display.tight = tight }

// SetDisplay reports the user's terminal to every attached session.
func (v *View) SetDisplay(d api.Display) { v.Panes.setDisplay(d) }

// SetPictures sets how to draw the programs' pictures, and reports whether anything changed.
func (v *View) SetPictures(on graphics.Screen) (changed bool) { return v.display.setPictures(on) }

// Patches returns the pictures in the visible panes, in the view's cells.
func (v *View) Patches() graphics.Patches { return v.display.patches() }

// LiveLeaves returns the leaves whose panes, as drawn last, show only the screen of their program.
func (v *View) LiveLeaves() []*layout.Node {
	d := &v.display
	if d.numbers != nil || d.tabs.IsFloating() || d.tight && d.focus.inList {
		return nil
	}
	return slices.DeleteFunc(d.visibleLeaves(), func(l *layout.Node) bool {
		return !v.Panes.Pane(l.ID).IsPlain() || slices.Contains(l.Cuts, [2]int{}) // not all rows fit
	})
}

// PaneArea returns the rectangle of a leaf's pane in the view.
func (v *View) PaneArea(l *layout.Node) look.Rect { return v.display.paneArea(l) }

// WantsMotion reports whether the focused program asked for mouse motion without a button.
func (v *View) WantsMotion() bool {
	p := v.FocusedPane()
	return p != nil && p.State().Mouse == keys.MouseMotion
}

// Title returns the title for the terminal's window.
func (v *View) Title() string {
	p := v.FocusedPane()
	if p == nil {
		return ""
	}
	if title := text.Clean(p.State().Title); title != "" {
		return title
	}
	name, _, _ := p.Title()
	return name
}

// TypingPane returns the focused pane if it receives unbound input; otherwise nil. marked reports
// whether it shows a selection, which the next key clears.
func (v *View) TypingPane() (p *terminal.Pane, marked bool) {
	if !v.display.isOpen || v.display.numbers != nil || !v.arranger.movedAt.IsZero() {
		return nil, false
	}
	marked = slices.ContainsFunc(v.display.visibleLeaves(), func(l *layout.Node) bool { return v.Panes.Pane(l.ID).Scroll.HasFlash() })
	return v.FocusedPane(), marked
}
