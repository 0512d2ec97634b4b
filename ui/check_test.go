package ui

import (
	"testing"

	"tandem/engine/invariants"
	"tandem/panes/kit/look"
	"tandem/panes/terminal"
	"tandem/ui/layout"
)

// checkPanes panics if tabs and panes are in an impossible state. The driver calls it after
// each message.
func checkPanes(v *sessionsView) {
	layout.Check(&v.tabs)
	for p := range v.attachments.cancels {
		if t, _ := v.tabs.FindPane(p); t == nil && p.FinalState() == nil {
			invariants.Failf("session %q is attached but in no tab", p.ID)
		}
	}
	for _, l := range v.visibleLeaves() {
		if l.Pane.ID != "" && v.attachments.cancels[l.Pane] == nil {
			invariants.Failf("session %q is on screen but not attached", l.Pane.ID)
		}
	}
	switch {
	case v.zoomed && v.tabs.Current == nil:
		invariants.Failf("a pane is zoomed but no tab is shown")
	case v.isOpen && v.tabs.Current == nil && len(v.tabs.All) > 0:
		invariants.Failf("none of %d tabs is shown", len(v.tabs.All))
	case v.tabs.Current == nil || v.w <= 0 || v.h <= 0 || v.tight:
	case v.tabs.BaseTab().Root.Rect != v.areas.tree:
		invariants.Failf("panes occupy %+v, want %+v", v.tabs.BaseTab().Root.Rect, v.areas.tree)
	}
}

func TestCheckPanicsOnDamagedPanes(t *testing.T) {
	e := newFakeEngine()
	e.addSession("first", "hello-42")
	d := drive(t, e, 120, 36)
	d.waitText("hello-42")
	v := d.m.sessions
	checkPanes(v)
	for name, damage := range map[string]func() (repair func()){
		"zoomed pane is none": func() func() {
			shown := v.tabs.Current
			v.zoomed, v.tabs.Current = true, nil
			return func() { v.zoomed, v.tabs.Current = false, shown }
		},
		"no tab is shown": func() func() {
			shown := v.tabs.Current
			v.tabs.Current = nil
			return func() { v.tabs.Current = shown }
		},
		"pane on the screen is not attached": func() func() {
			stops := v.attachments.cancels
			v.attachments.cancels = nil
			return func() { v.attachments.cancels = stops }
		},
		"attached pane is in no tab": func() func() {
			stray := terminal.New(nil, nil, "stray")
			v.attachments.cancels[stray] = func() {}
			return func() { delete(v.attachments.cancels, stray) }
		},
		"panes fill another area": func() func() {
			root := v.tabs.Current.Root
			before := root.Rect
			root.Rect = look.Rect{W: 1, H: 1}
			return func() { root.Rect = before }
		},
	} {
		repair := damage()
		if invariants.Broken(func() { checkPanes(v) }) == "" {
			t.Errorf("%s: no check fails", name)
		}
		repair()
	}
	checkPanes(v)
}
