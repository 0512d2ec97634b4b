package ui

import (
	"testing"

	"tandem/engine/api"
)

func TestSplitsAreDrawnAndSurviveDashboardAndEngine(t *testing.T) {
	e := newFakeEngine()
	e.addSession("one", "one$ ")
	d := drive(t, e, 150, 36)
	shown := func() {
		t.Helper()
		d.waitMatch(`│one\$ .*│\$ two`)
		d.waitMatch(`├─ bash-3 .*\n.*│\$ three`)
	}
	d.waitText("one$ ")
	d.pressKeys("ctrl+b", "%")
	d.waitStarted(2)
	d.waitMatch(`│one\$ .*│\$ `)
	d.pressKeys("'two", "ctrl+b", "\"")
	d.waitStarted(3)
	d.pressKeys("'three")
	shown()
	d.pressKeys("ctrl+b", "d")
	d.waitUntil("the dashboard exits", func() bool { return d.quit })
	d.m.saveOnExit()
	d.cancel()

	d = drive(t, e, 150, 36)
	shown()
	d.cancel() // it is killed, and so is the engine
	e = e.killEngine()
	d = drive(t, e, 150, 36)
	shown()

	d.nthSession(2).exitWith(api.StateExited, new(int))
	d.waitNoText("three")
	d.waitMatch(`│one\$ .*│\$ two`)
	d = drive(t, e, 150, 36)
	d.waitMatch(`│one\$ .*│\$ two`)
	d.waitShape("(one|bash-2)")

	d.pressKeys("ctrl+b", "S", "'both", "enter")
	d.waitText("saved layout both")
	d.pressKeys("ctrl+b", "!")
	d.waitShape("bash-2 one")
	d.pressKeys("ctrl+b", "space")
	d.waitText("Show the layout")
	d.pressKeys("enter")
	d.waitMatch(`│one\$ .*│\$ two`)
}
