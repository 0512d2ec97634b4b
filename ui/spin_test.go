package ui

import (
	"testing"

	"charm.land/bubbles/v2/spinner"
	tea "charm.land/bubbletea/v2"

	"tandem/panes/kit/field"
	"tandem/panes/kit/form"
)

func TestSpinnerTurnsOnlyWhileOverlayWaits(t *testing.T) {
	d := onProcesses(t, 120, 36, func(e *fakeEngine) { e.addProcess("web", "") })
	name := &form.Field{Label: "name", Input: &field.Field{}}
	f := form.New("Start", name)
	f.Submit = func() tea.Cmd { return nil }
	d.m.dialog.open = f
	d.pressKeys("'hay")
	if d.m.dialog.busy.turning {
		t.Error("it turns while nothing is waited for")
	}
	d.pressKeys("enter")
	frames := spinner.MiniDot.Frames
	d.waitText(frames[0] + " Starting…")
	d.waitText(frames[1] + " Starting…")
	f.Fail(name, "no such program")
	d.waitUntil("it stands still", func() bool { return !d.m.dialog.busy.turning })
	d.waitNoText("Starting…")
}
