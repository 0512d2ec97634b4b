package ui

import (
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/ui/layout"
)

// floating is a dashboard on a session with a floating pane, which has the keyboard.
func floating(t *testing.T) *driver {
	e := newFakeEngine()
	e.add("first", "one$ ")
	d := drive(t, e, 120, 36)
	d.shows("one$ ")
	d.press("ctrl+b", "f")
	d.hasStarted(2)
	d.until("the session has its pane", func() bool { return d.m.sessions.tabs.Float.Focus.Pane.ID != "" })
	return d
}

func TestAFloatingPaneIsShownOverTheLayoutAndPutAway(t *testing.T) {
	d := floating(t)
	v := d.m.sessions
	float := d.nth(1)
	frame := d.onScreen(layout.Frame(v.areas.tree))
	rows := strings.Split(d.screen(), "\n")
	if top := []rune(rows[frame.Y]); string(top[frame.X]) != "╭" || string(top[frame.X+frame.W-1]) != "╮" {
		t.Errorf("the frame begins with %q", rows[frame.Y])
	}
	if bottom := []rune(rows[frame.Y+frame.H-1]); string(bottom[frame.X]) != "╰" {
		t.Errorf("the frame ends with %q", rows[frame.Y+frame.H-1])
	}
	d.until("its program has the size inside", func() bool {
		d.engine.mu.Lock()
		defer d.engine.mu.Unlock()
		return float.size == api.Size{Cols: frame.W - 2, Rows: frame.H - 2}
	})
	d.press("'ls")
	d.typedInto(float, "ls")
	d.hasShape("first")
	d.press("ctrl+b", "f")
	d.press("'x")
	d.typedInto(d.nth(0), "x")
	d.press("ctrl+b", "f")
	d.press("'y")
	d.typedInto(float, "lsy")
	d.m.resize(150, 40)
	frame = layout.Frame(v.areas.tree)
	if got := v.area(v.tabs.Float.Focus); got != layout.Inside(frame) {
		t.Errorf("after a resize it is at %+v, in %+v", got, frame)
	}
	d.press("ctrl+b", "z")
	if got := d.area(v.tabs.Float.Focus); got.W != 150 || got.H != 40 {
		t.Errorf("zoomed it is at %+v", got)
	}
	d.press("ctrl+b", "z")
	d.press("ctrl+b", "n")
	if v.tabs.Floating() {
		t.Error("the next session is shown below it")
	}
}

func TestAClickBesideTheFloatingPanePutsItAway(t *testing.T) {
	d := floating(t)
	v := d.m.sessions
	frame, tree := d.onScreen(layout.Frame(v.areas.tree)), d.tree()
	d.click(frame.X, frame.Y)
	d.click(frame.X+3, frame.Y+3)
	if !v.tabs.Floating() {
		t.Error("a click on it puts it away")
	}
	d.mouse(keys.Mouse{X: tree.X, Y: tree.Y + 1, Button: keys.ButtonLeft, Kind: keys.MouseDown})
	if v.tabs.Floating() || v.focused() == nil || v.focused().ID != d.nth(0).process.ID {
		t.Error("a click beside it does not go to the pane there")
	}
	bar := d.onScreen(v.areas.tabs)
	row := strings.Split(d.screen(), "\n")[bar.Y]
	at := strings.Index(row, " float ")
	if at < 0 {
		t.Fatalf("the tabs do not tell of it: %q", row)
	}
	d.click(len([]rune(row[:at]))+1, bar.Y)
	if !v.tabs.Floating() {
		t.Error("a click on its name does not show it")
	}
}

func TestTheFloatingPaneIsKeptWithTheLayout(t *testing.T) {
	d := floating(t)
	name := d.nth(1).process.Name
	d.isKept()
	kept := *d.engine.layouts.current
	if kept.Float == nil || len(kept.Float.Nodes) != 1 || kept.Float.Nodes[0].Name != name || !kept.Floats || len(kept.Tabs) != 1 {
		t.Fatalf("kept is %+v", kept)
	}
	next := drive(t, d.engine, 120, 36)
	next.until("it is shown again", func() bool { return next.m.sessions.tabs.Floating() })
	next.hasShape("first")
	next.press("ctrl+b", "f")
	next.isKept()
	last := drive(t, d.engine, 120, 36)
	last.shows("one$ ")
	if v := last.m.sessions; v.tabs.Floating() || v.tabs.Float == nil {
		t.Errorf("put away before, it is %+v", v.tabs.Float)
	}
	last.press("ctrl+b", "f", "'z")
	last.typedInto(d.nth(1), "z")
}

func TestAFloatingPaneEndsWithItsProgramOrBecomesATab(t *testing.T) {
	d := floating(t)
	v := d.m.sessions
	name := d.nth(1).process.Name
	d.press("ctrl+b", "!")
	d.hasShape("first " + name)
	if v.tabs.Float != nil {
		t.Error("the tab floats still")
	}
	d.press("ctrl+b", "f")
	d.hasStarted(3)
	d.until("the session has its pane", func() bool { return v.tabs.Float.Focus.Pane.ID != "" })
	third := d.nth(2).process.Name
	d.press("ctrl+b", "w")
	d.hasShape("first " + name + " " + third)
	d.press("ctrl+b", "f")
	d.hasStarted(4)
	d.until("the session has its pane", func() bool { return v.tabs.Float.Focus.Pane.ID != "" })
	well := 0
	d.nth(3).end(api.StateExited, &well)
	d.until("it is gone", func() bool { return v.tabs.Float == nil && v.tabs.Current != nil })
	if p := v.focused(); p == nil || p.ID != d.nth(1).process.ID {
		t.Error("what it lay over has not the keyboard")
	}
}
