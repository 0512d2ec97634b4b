package ui

import (
	"tandem/engine/invariants"
	"tandem/ui/layout"
)

// check panics if tabs and panes are in a state that no message may lead to. Update calls it in
// builds with the tag invariants.
func (v *sessionsView) check() {
	layout.Check(&v.tabs)
	for p := range v.feeds.stops {
		if t, _ := v.tabs.Of(p); t == nil && p.Ended() == nil {
			invariants.Failf("session %q is attached and in no tab", p.ID)
		}
	}
	for _, l := range v.visible() {
		if l.Pane.ID != "" && v.feeds.stops[l.Pane] == nil {
			invariants.Failf("session %q is on the screen and not attached", l.Pane.ID)
		}
	}
	switch {
	case v.zoomed && v.tabs.Current == nil:
		invariants.Failf("a pane is zoomed and none is shown")
	case v.opened && v.tabs.Current == nil && len(v.tabs.All) > 0:
		invariants.Failf("none of %d tabs is shown", len(v.tabs.All))
	case v.tabs.Current == nil || v.w <= 0 || v.h <= 0 || v.tight:
	case v.tabs.Base().Root.Rect != v.areas.tree:
		invariants.Failf("the panes are in %+v, and there is %+v for them", v.tabs.Base().Root.Rect, v.areas.tree)
	}
}
