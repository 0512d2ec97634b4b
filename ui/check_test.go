//go:build invariants

package ui

import (
	"testing"

	"tandem/engine/invariants"
	"tandem/panes/terminal"
	"tandem/panes/widget"
)

func TestCheckPanicsOnDamagedPanes(t *testing.T) {
	e := newFakeEngine()
	e.add("first", "hello-42")
	d := drive(t, e, 120, 36)
	d.shows("hello-42")
	v := d.m.sessions
	v.check()
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
			stops := v.feeds.stops
			v.feeds.stops = nil
			return func() { v.feeds.stops = stops }
		},
		"attached pane is in no tab": func() func() {
			stray := terminal.New(nil, nil, "stray")
			v.feeds.stops[stray] = func() {}
			return func() { delete(v.feeds.stops, stray) }
		},
		"panes fill another area": func() func() {
			root := v.tabs.Current.Root
			before := root.Rect
			root.Rect = widget.Rect{W: 1, H: 1}
			return func() { root.Rect = before }
		},
	} {
		repair := damage()
		if invariants.Broken(v.check) == "" {
			t.Errorf("%s: no check fails", name)
		}
		repair()
	}
	v.check()
}
