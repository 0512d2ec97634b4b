package ui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys"
)

func TestTabBarShowsTabsAndHandlesMouse(t *testing.T) {
	e := newFakeEngine()
	e.addSession("first", "one$ ")
	d := drive(t, e, 160, 40)
	d.waitText("one$ ")
	if bar, shown := d.tabBar(); shown {
		t.Errorf("one tab has a bar: %+v", bar)
	}
	alone := d.paneArea(d.m.sessions.Tabs.Current.Focus)
	d.pressKeys("ctrl+b", "c")
	d.waitStarted(2)
	second := d.nthSession(1).process.Name
	d.waitUntil("there is a bar of tabs", func() bool { _, shown := d.tabBar(); return shown })
	bar, _ := d.tabBar()
	if row := strings.Split(d.screenText(), "\n")[bar.Y]; !strings.Contains(row, " 1 first  2 "+second+" ") {
		t.Errorf("the bar is %q", row)
	}
	d.click(bar.X+1, bar.Y)
	d.waitText("one$ ")
	if got := d.paneArea(d.m.sessions.Tabs.Current.Focus); got.H != alone.H-1 || got.Y != alone.Y+1 {
		t.Errorf("the terminal went from %+v to %+v", alone, got)
	}
	d.click(bar.X+12, bar.Y)
	d.waitNoText("one$ ")
	d.sendMouse(keys.Mouse{X: bar.X, Y: bar.Y, Button: keys.WheelUp, Kind: keys.MouseDown})
	d.waitText("one$ ")
	d.pressKeys("ctrl+b", "z")
	if _, shown := d.tabBar(); shown {
		t.Error("a zoomed pane has a bar of tabs above it")
	}
	d.waitNoText(" 1 first ")
	d.pressKeys("ctrl+b", "z")
	d.waitText(" 1 first  2 " + second + " ")
	changed := d.m.o.Settings
	changed.Tabs = false
	d.update(settingsMsg(changed))
	if _, shown := d.tabBar(); shown {
		t.Error("the bar is shown against the settings")
	}
}

func TestPrefixAndNumberShowTheTabWithIt(t *testing.T) {
	e := newFakeEngine()
	for _, name := range []string{"first", "second", "third"} {
		e.addSession(name, name+"$ ")
	}
	d := drive(t, e, 160, 40)
	d.waitText("first$ ")
	d.pressKeys("ctrl+b", "3")
	d.waitText("third$ ")
	d.pressKeys("alt+2", "ctrl+b", "2")
	d.waitText("second$ ")
	d.pressKeys("'x")
	d.waitTyped(d.nthSession(1), "x")
	d.pressKeys("ctrl+b", "7")
	d.waitText("no tab 7")
}

func TestTabKeepsTheNameGivenByKeyOrClick(t *testing.T) {
	onFakeTime(t, func(t *testing.T) {
		e := newFakeEngine()
		e.addSession("first", "one$ ")
		e.addSession("second", "two$ ")
		d := drive(t, e, 160, 40)
		d.waitText(" 1 first  2 second ")
		d.waitSaved() // so that the other one saves no layout of its own
		other := drive(t, e, 160, 40)
		other.waitText(" 1 first  2 second ")
		d.pressKeys("ctrl+b", ".", "'work", "enter")
		d.waitText(" 1 work  2 second ")
		d.waitSaved()
		other.waitText(" 1 work  2 second ")
		bar, _ := d.tabBar()
		clicks := func(n int) {
			time.Sleep(time.Hour) // longer than a double click
			for range n {
				d.click(bar.X+10, bar.Y)
			}
		}
		clicks(2) // shows the tab
		d.waitText("two$ ")
		clicks(1)
		clicks(1)
		d.pressKeys("'x")
		d.waitTyped(d.nthSession(1), "x")
		clicks(2)
		d.waitText("Name the tab")
		d.pressKeys("'logs", "enter")
		d.waitText(" 1 work  2 logs ")
		d.waitSaved()
		drive(t, e, 160, 40).waitText(" 1 work  2 logs ")
		clicks(2)
		d.pressKeys("ctrl+u", "enter")
		d.waitText(" 1 work  2 second ")
	})
}

// Unnamed shells all have the same name, so what runs in them tells them apart.
func TestListTabsAndPanesShowWhatRunsInUnnamedShells(t *testing.T) {
	e := newFakeEngine()
	shell, named := e.addSession("bash-4", "$ "), e.addSession("build", "$ ")
	run := func(line string) {
		for _, s := range []*fakeSession{shell, named} {
			s.update(func(p *api.Process) {
				p.Terminal = &api.Terminal{Cols: 80, Rows: 24, Shell: true, Running: line, AutoNamed: p.Name == "bash-4"}
			})
		}
	}
	run("")
	d := drive(t, e, 160, 40)
	d.waitText(" 1 bash-4        2 build ")
	run("make test")
	d.waitText(" 1 make test     2 build ")
	d.waitText("● make test ")
	d.waitText("● build ")
	d.waitText("─ make test ")
	d.pressKeys("alt+2")
	d.waitMatch(`bash-4 .* make test`)
	d.waitMatch(`build .* make test`)
	d.pressKeys("alt+1")
	d.update(tea.WindowSizeMsg{Width: 80, Height: 24})
	d.waitText(" 1 ● make test     2 ● build ")
	run("")
	d.waitText(" 1 ● bash-4        2 ● build ")
}

func TestNarrowScreenNumbersTabsInListRow(t *testing.T) {
	e := newFakeEngine()
	e.addSession("first", "one$ ")
	e.addSession("second", "two$ ")
	d := drive(t, e, 80, 24)
	d.waitText(" 1 ● first  2 ● second ")
	d.pressKeys("ctrl+b", ".", "'work", "enter")
	d.waitText(" 1 work: ● first  2 ● second ")
}

func TestTabNamesOfTwoDashboardsAreKept(t *testing.T) {
	e := newFakeEngine()
	e.addSession("first", "one$ ")
	e.addSession("second", "two$ ")
	d := drive(t, e, 160, 40)
	d.waitText(" 1 first  2 second ")
	d.waitSaved() // so that the other one saves no layout of its own
	other := drive(t, e, 160, 40)
	other.waitText(" 1 first  2 second ")
	other.pressKeys("ctrl+b", "2", "ctrl+b", ".", "'logs", "enter")
	other.waitSaved()
	d.pressKeys("ctrl+b", ".", "'work", "enter") // based on the layout before
	d.waitUntil("both names are saved", func() bool {
		kept, _ := e.layouts.Current()
		tabs := kept.Tabs
		return len(tabs) == 2 && tabs[0].Name == "work" && tabs[1].Name == "logs"
	})
	for _, one := range []*driver{d, other} {
		one.waitText(" 1 work ")
		one.waitText(" 2 logs ")
	}
}

func TestTypedNameGoesToItsTabAfterAnotherDashboardSplitsIt(t *testing.T) {
	e := newFakeEngine()
	e.addSession("first", "one$ ")
	e.addSession("second", "two$ ")
	d := drive(t, e, 160, 40)
	d.waitText(" 1 first  2 second ")
	d.waitSaved() // so that the other one saves no layout of its own
	other := drive(t, e, 160, 40)
	other.waitText(" 1 first  2 second ")
	d.pressKeys("ctrl+b", ".", "'work")
	other.pressKeys("ctrl+b", "%")
	other.waitText("1 first+")
	other.waitSaved()
	d.waitText("1 first+")
	d.pressKeys("enter")
	d.waitText(" 1 work ")
}
