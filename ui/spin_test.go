package ui

import (
	"testing"

	"charm.land/bubbles/v2/spinner"
	tea "charm.land/bubbletea/v2"

	"tandem/panes/kit/dialog"
)

func TestSpinnerTurnsOnlyWhileOverlayWaits(t *testing.T) {
	d := onProcesses(t, 120, 36, func(e *fakeEngine) { e.addProcess("web", "") })
	d.pressKeys("n", "'hay")
	if d.m.dialog.busy.turning {
		t.Error("it turns while nothing is waited for")
	}
	form := d.m.dialog.open.(*dialog.StartForm)
	form.Start = func(dialog.StartInput) tea.Cmd { return nil }
	d.pressKeys("enter")
	frames := spinner.MiniDot.Frames
	d.waitText(frames[0] + " Starting…")
	d.waitText(frames[1] + " Starting…")
	form.Fail(dialog.FieldCommand, "no such program")
	d.waitUntil("it stands still", func() bool { return !d.m.dialog.busy.turning })
	d.waitNoText("Starting…")
}
