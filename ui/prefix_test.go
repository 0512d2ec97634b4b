package ui

import (
	"testing"

	tea "charm.land/bubbletea/v2"
)

func TestListOfKeysAfterPrefixDisappearsCompletely(t *testing.T) {
	onFakeTime(t, func(t *testing.T) {
		e := newFakeEngine()
		e.addSession("shell", "$ ")
		d := drive(t, e, 80, 24)
		d.waitText("Processes")
		d.waitText("$ ")
		before := d.screenText()
		waitList := func() {
			t.Helper()
			d.waitMatch(`│ Sessions .* Panes .* Layout `)
			d.waitMatch(`│ c +new .* % +split right .* space S +choose`)
			d.waitMatch(`^ ctrl\+b then`)
		}
		waitBefore := func() {
			t.Helper()
			d.waitUntil("the screen is as before", func() bool { return d.screenText() == before })
		}
		d.pressKeys("ctrl+b")
		waitList()
		d.pressKeys("esc")
		waitBefore()

		d.pressKeys("ctrl+b", "z")
		d.waitNoText("Processes")
		d.pressKeys("ctrl+b")
		d.waitMatch(`│ Sessions .* Panes .* Layout `)
		d.pressKeys("z")
		waitBefore()

		d.update(tea.WindowSizeMsg{Width: 40, Height: 12})
		d.waitText("$ ")
		d.pressKeys("ctrl+b")
		d.waitMatch(`│ c +new`)
		d.pressKeys("d")
		d.waitUntil("the dashboard exits", func() bool { return d.quit })
	})
}
