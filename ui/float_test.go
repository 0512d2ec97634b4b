package ui

import (
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/panes/sessions/layout"
)

// openFloat opens a dashboard on a session with a focused floating pane.
func openFloat(t *testing.T) *driver {
	e := newFakeEngine()
	e.addSession("first", "one$ ")
	d := drive(t, e, 120, 36)
	d.waitText("one$ ")
	d.pressKeys("ctrl+b", "f")
	d.waitStarted(2)
	d.waitUntil("the session has its pane", func() bool { return !d.m.sessions.Panes.Pane(d.m.sessions.Tabs.Float.Focus.ID).Starting })
	return d
}

func TestFloatingPaneIsShownOverLayoutAndHidden(t *testing.T) {
	d := openFloat(t)
	v := d.m.sessions
	float := d.nthSession(1)
	frame := layout.FrameRect(d.treeArea())
	rows := strings.Split(d.screenText(), "\n")
	if top := []rune(rows[frame.Y]); string(top[frame.X]) != "╭" || string(top[frame.X+frame.W-1]) != "╮" {
		t.Errorf("the frame begins with %q", rows[frame.Y])
	}
	if bottom := []rune(rows[frame.Y+frame.H-1]); string(bottom[frame.X]) != "╰" {
		t.Errorf("the frame ends with %q", rows[frame.Y+frame.H-1])
	}
	d.waitUntil("its program has the size inside", func() bool {
		d.engine.mu.Lock()
		defer d.engine.mu.Unlock()
		return float.size == api.Size{Cols: frame.W - 2, Rows: frame.H - 2}
	})
	d.waitMatch(`╭─ ` + float.process.Name + ` .*╮`)
	d.waitMatch(`│ +│\$ +│`)
	d.pressKeys("'ls")
	d.waitTyped(float, "ls")
	d.waitMatch(`│\$ ls +│`)
	d.waitShape("first")
	d.pressKeys("ctrl+b", "f")
	d.waitNoText("$ ls")
	d.pressKeys("'x")
	d.waitTyped(d.nthSession(0), "x")
	d.pressKeys("ctrl+b", "f")
	d.waitMatch(`│\$ ls +│`)
	d.pressKeys("'y")
	d.waitTyped(float, "lsy")
	d.m.setSize(150, 40)
	frame = layout.FrameRect(d.treeArea())
	if got := d.paneArea(v.Tabs.Float.Focus); got != layout.InsideFrame(frame) {
		t.Errorf("after a resize it is at %+v, in %+v", got, frame)
	}
	d.pressKeys("ctrl+b", "z")
	if got := d.paneArea(v.Tabs.Float.Focus); got.W != 150 || got.H != 40 {
		t.Errorf("zoomed it is at %+v", got)
	}
	d.waitMatch(`^\$ lsy`)
	d.pressKeys("ctrl+b", "z")
	d.waitMatch(`│\$ lsy +│`)
	d.waitMatch(`╰─*╯`)
	d.pressKeys("ctrl+b", "n")
	if v.Tabs.IsFloating() {
		t.Error("the next session is shown below it")
	}
}

func TestClickOutsideHidesFloatingPane(t *testing.T) {
	d := openFloat(t)
	v := d.m.sessions
	frame, tree := layout.FrameRect(d.treeArea()), d.treeArea()
	d.click(frame.X, frame.Y)
	d.click(frame.X+3, frame.Y+3)
	if !v.Tabs.IsFloating() {
		t.Error("a click on it puts it away")
	}
	d.sendMouse(keys.Mouse{X: tree.X, Y: tree.Y + 1, Button: keys.ButtonLeft, Kind: keys.MouseDown})
	if v.Tabs.IsFloating() || v.FocusedPane() == nil || v.FocusedPane().ID != d.nthSession(0).process.ID {
		t.Error("a click beside it does not go to the pane there")
	}
	bar, _ := d.tabBar()
	row := strings.Split(d.screenText(), "\n")[bar.Y]
	at := strings.Index(row, " float ")
	if at < 0 {
		t.Fatalf("the tabs do not tell of it: %q", row)
	}
	d.click(len([]rune(row[:at]))+1, bar.Y)
	if !v.Tabs.IsFloating() {
		t.Error("a click on its name does not show it")
	}
}

func TestFloatingPaneIsSavedWithLayout(t *testing.T) {
	d := openFloat(t)
	id := d.nthSession(1).process.ID
	d.waitSaved()
	kept, _ := d.engine.layouts.Current()
	if kept.Float == nil || len(kept.Float.Nodes) != 1 || kept.Float.Nodes[0].ID != id || !kept.Floats || len(kept.Tabs) != 1 {
		t.Fatalf("kept is %+v", kept)
	}
	next := drive(t, d.engine, 80, 24)
	next.waitUntil("it is shown again", func() bool { return next.m.sessions.Tabs.IsFloating() })
	next.waitMatch(`│\$ +│`)
	next.waitShape("first")
	next.pressKeys("ctrl+b", "f")
	next.waitNoText("╭─ " + d.nthSession(1).process.Name)
	next.waitSaved()
	last := drive(t, d.engine, 120, 36)
	last.waitText("one$ ")
	if v := last.m.sessions; v.Tabs.IsFloating() || v.Tabs.Float == nil {
		t.Errorf("put away before, it is %+v", v.Tabs.Float)
	}
	last.pressKeys("ctrl+b", "f", "'z")
	last.waitTyped(d.nthSession(1), "z")
}

func TestFloatingPaneClosesWithProgramOrBecomesTab(t *testing.T) {
	d := openFloat(t)
	v := d.m.sessions
	name := d.nthSession(1).process.Name
	d.pressKeys("ctrl+b", "!")
	d.waitShape("first " + name)
	if v.Tabs.Float != nil {
		t.Error("the tab floats still")
	}
	d.pressKeys("ctrl+b", "f")
	d.waitStarted(3)
	d.waitUntil("the session has its pane", func() bool { return !v.Panes.Pane(v.Tabs.Float.Focus.ID).Starting })
	third := d.nthSession(2).process.Name
	d.pressKeys("ctrl+b", "w")
	d.waitShape("first " + name + " " + third)
	d.pressKeys("ctrl+b", "f")
	d.waitStarted(4)
	d.waitUntil("the session has its pane", func() bool { return !v.Panes.Pane(v.Tabs.Float.Focus.ID).Starting })
	d.waitText("╭─ " + d.nthSession(3).process.Name)
	well := 0
	d.nthSession(3).exitWith(api.StateExited, &well)
	d.waitNoText("╭─")
	d.waitUntil("it is gone", func() bool { return v.Tabs.Float == nil && v.Tabs.Current != nil })
	if p := v.FocusedPane(); p == nil || p.ID != d.nthSession(1).process.ID {
		t.Error("what it lay over has not the keyboard")
	}
}
