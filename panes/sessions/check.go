package sessions

import (
	"tandem/engine/base/invariants"
	"tandem/panes/sessions/layout"
)

// Check panics if the tabs and panes of a view are in an impossible state. It is a function,
// because the linker cannot leave an exported method out of builds without checks.
func Check(v *View) {
	layout.Check(&v.Tabs.Tabs)
	for id := range v.Panes.cancels {
		if t, _ := v.Tabs.FindSession(id); t == nil && v.Panes.Pane(id).FinalState() == nil {
			invariants.Failf("session %q is attached but in no tab", id)
		}
	}
	for _, l := range v.display.visibleLeaves() {
		if !v.Panes.isStarting(l.ID) && !v.Panes.isAttached(l.ID) {
			invariants.Failf("session %q is on screen but not attached", l.ID)
		}
	}
	d := &v.display
	switch {
	case d.zoomed && v.Tabs.Current == nil:
		invariants.Failf("a pane is zoomed but no tab is shown")
	case d.isOpen && v.Tabs.Current == nil && len(v.Tabs.All) > 0:
		invariants.Failf("none of %d tabs is shown", len(v.Tabs.All))
	case v.Tabs.Current == nil || d.w <= 0 || d.h <= 0 || d.tight:
	case v.Tabs.BaseTab().Root.Rect != d.areas.tree:
		invariants.Failf("panes occupy %+v, want %+v", v.Tabs.BaseTab().Root.Rect, d.areas.tree)
	}
}
