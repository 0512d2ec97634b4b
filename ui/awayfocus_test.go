package ui

import (
	"testing"

	"tandem/engine/api"
)

// tabOf returns a tab with one or two sessions side by side, the first focused.
func tabOf(ids ...string) api.LayoutTab {
	if len(ids) == 1 {
		return api.LayoutTab{Nodes: []api.LayoutNode{{ID: ids[0]}}}
	}
	return api.LayoutTab{Focus: 1, Nodes: []api.LayoutNode{{Axis: api.AxisBeside, Share: 5000}, {ID: ids[0]}, {ID: ids[1]}}}
}

// A user who is typing may not notice that the next line would run on another machine.
func TestKeyboardReachesAnotherMachineByKeysOnly(t *testing.T) {
	const here, other, there = "here", "other", "there" // names of sessions; the last is on another machine
	for name, test := range map[string]struct {
		tabs    [][]string // names of the layout's sessions, the first focused
		float   string
		current int
		exit    []string // sessions that exit, one after the other
		starts  bool     // a shell starts when the dashboard opens
		focused string   // "" is the list
	}{
		"opens on the local tab":              {tabs: [][]string{{there}, {here}}, focused: here},
		"opens on the local pane":             {tabs: [][]string{{there, here}}, focused: here},
		"starts a local shell":                {tabs: [][]string{{there}}, starts: true, focused: "bash-1"},
		"keeps a floating pane hidden":        {tabs: [][]string{{here}}, float: there, focused: here},
		"next local pane of the tab":          {tabs: [][]string{{here, there}, {other}}, exit: []string{here}, focused: other},
		"next local tab":                      {tabs: [][]string{{here}, {there}, {other}}, exit: []string{here}, focused: other},
		"local tab before":                    {tabs: [][]string{{other}, {here}, {there}}, current: 1, exit: []string{here}, focused: other},
		"list":                                {tabs: [][]string{{here}, {there}}, exit: []string{here}},
		"list beside the remaining pane":      {tabs: [][]string{{here, there}}, exit: []string{here}},
		"list after the last of all":          {tabs: [][]string{{here}, {other}, {there}}, exit: []string{other, here}},
		"exit of a pane without the keyboard": {tabs: [][]string{{here, there}}, exit: []string{there}, focused: here},
	} {
		t.Run(name, func(t *testing.T) {
			onFakeTime(t, func(t *testing.T) {
				e := newFakeEngine()
				box := addBox(e)
				sessions, ids := map[string]*fakeSession{there: box.sessions[0]}, map[string]string{there: "box/" + box.sessions[0].process.ID}
				l := api.Layout{Current: test.current}
				for _, tab := range test.tabs {
					var in []string
					for _, name := range tab {
						if name != there {
							sessions[name] = e.addSession(name, "$ ")
							ids[name] = sessions[name].process.ID
						}
						in = append(in, ids[name])
					}
					l.Tabs = append(l.Tabs, tabOf(in...))
				}
				if test.float != "" {
					float := tabOf(ids[test.float])
					l.Float, l.Floats = &float, true
				}
				e.layouts.Set(l)
				d := drive(t, e, 120, 30)
				started := 0
				if test.starts {
					started = 1
				}
				d.waitUntil("it is open", func() bool { return d.m.sessions.IsOpen() && len(e.listStarts()) == started && d.countStarting() == 0 })
				for _, name := range test.exit {
					sessions[name].exitWith(api.StateExited, new(int))
					d.waitUntil("the pane is closed", func() bool {
						tab, _ := d.m.sessions.Tabs.FindSession(ids[name])
						return tab == nil
					})
					d.update(nil)
				}
				got := ""
				if pane := d.m.sessions.FocusedPane(); pane != nil {
					p, _ := d.m.news.Process(pane.ID)
					got = p.Name
				}
				if got != test.focused {
					t.Errorf("the keyboard is in %q\n%s", got, d.screenText())
				}
				if n := len(e.listStarts()) + len(box.listStarts()); n != started {
					t.Errorf("%d sessions were started", n)
				}
			})
		})
	}
}
