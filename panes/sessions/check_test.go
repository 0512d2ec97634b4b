package sessions

import (
	"testing"

	"tandem/engine/base/invariants"
	"tandem/panes/kit/look"
)

func TestCheckPanicsOnDamagedPanes(t *testing.T) {
	v := drive(t, nil, "first").view
	Check(v)
	for name, damage := range map[string]func() (repair func()){
		"zoomed pane is none": func() func() {
			shown := v.Tabs.Current
			v.display.zoomed, v.Tabs.Current = true, nil
			return func() { v.display.zoomed, v.Tabs.Current = false, shown }
		},
		"no tab is shown": func() func() {
			shown := v.Tabs.Current
			v.Tabs.Current = nil
			return func() { v.Tabs.Current = shown }
		},
		"pane on the screen is not attached": func() func() {
			stops := v.Panes.cancels
			v.Panes.cancels = nil
			return func() { v.Panes.cancels = stops }
		},
		"attached pane is in no tab": func() func() {
			v.Panes.cancels["stray"] = func() {}
			return func() { delete(v.Panes.cancels, "stray") }
		},
		"panes fill another area": func() func() {
			root := v.Tabs.Current.Root
			before := root.Rect
			root.Rect = look.Rect{W: 1, H: 1}
			return func() { root.Rect = before }
		},
	} {
		repair := damage()
		if invariants.Broken(func() { Check(v) }) == "" {
			t.Errorf("%s: no check fails", name)
		}
		repair()
	}
	Check(v)
}
