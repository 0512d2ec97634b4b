package sessions

import (
	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	engine "tandem/engine/api/layout"
	"tandem/panes/sessions/layout"
)

// openFirst shows the first session, or starts one if there is none. It waits until the view's size
// and the sessions are known.
func (v *View) openFirst() tea.Cmd {
	if v.display.isOpen || !v.env.News().Connected || !v.display.sized {
		return nil
	}
	first, leaf := v.findFirst()
	if !v.focus.shown && v.DeferStart && first == nil {
		// Start a session only once the user opens the view.
		return nil
	}
	defer func() { v.display.isOpen = true }()
	if first == nil {
		return v.Launcher.NewSession()
	}
	v.showFirst(first, leaf)
	return nil
}

// findFirst returns the tab to show first, and the leaf in it to focus. It prefers the tab shown
// last. If that has no session of this machine, it takes the next tab that has one. Both are nil if
// no tab does.
func (v *View) findFirst() (*layout.Tab, *layout.Node) {
	if len(v.Tabs.All) == 0 {
		return nil, nil
	}
	first := v.Tabs.All[0]
	if l := v.Tabs.wanted; l.Current < len(l.Tabs) {
		for _, id := range engine.Sessions(l.Tabs[l.Current].Nodes) {
			if t, _ := v.Tabs.FindSession(id); t != nil && t != v.Tabs.Float {
				first = t
				break
			}
		}
	}
	return v.focus.findLeafOn(first, "")
}

// showFirst shows the tab to open with.
func (v *View) showFirst(first *layout.Tab, leaf *layout.Node) {
	v.focus.showTab(first, leaf)
	l := v.Tabs.wanted
	if float := v.Tabs.Float; l.Floats && float != nil {
		if leaf := leafOn(float, ""); leaf != nil {
			v.focus.showTab(float, leaf)
		}
	}
	if l.Zoomed && isFocused(l, v.Tabs.CurrentID()) {
		v.focus.setZoomed(true)
	}
	v.Tabs.told = v.Tabs.focusChanges(v.display.zoomed)
	v.focus.refreshList()
}

// isFocused reports whether a session has the keyboard according to a layout.
func isFocused(l api.Layout, id string) bool {
	t := api.LayoutTab{}
	switch {
	case l.Floats && l.Float != nil:
		t = *l.Float
	case l.Current < len(l.Tabs):
		t = l.Tabs[l.Current]
	}
	return t.Focus < len(t.Nodes) && t.Nodes[t.Focus].ID == id
}
