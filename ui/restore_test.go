package ui

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
	"tandem/panes/panestest"
)

// reboot ends all sessions as if the machine had been turned off, and lets the engine answer
// session.restore and session.dismiss. restored returns the inputs of all calls of session.restore.
func (e *fakeEngine) reboot() (restored func() []api.SessionRestoreInput) {
	var calls []api.SessionRestoreInput
	at := time.Now().Truncate(time.Minute)
	for _, s := range e.sessions {
		s.process.State, s.process.ExitUnknown, s.process.PID = api.StateExited, true, 0
		s.process.Interrupted = &api.Interruption{By: api.ByReboot, At: at, Program: "nvim " + s.process.Name + ".go"}
	}
	change := func(ids []string, change func(*api.Process)) {
		for _, s := range e.sessions {
			if slices.Contains(ids, s.process.ID) {
				s.update(change)
			}
		}
	}
	panestest.On(e.Engine, api.SessionRestore, func(_ context.Context, in api.SessionRestoreInput) (out api.SessionRestoreOutput, err error) {
		e.mu.Lock()
		calls = append(calls, in)
		e.mu.Unlock()
		change(in.IDs, func(p *api.Process) {
			p.State, p.ExitUnknown, p.Interrupted, p.StartedAt = api.StateRunning, false, nil, time.Now()
			out.Restored = append(out.Restored, api.RestoredSession{Process: *p})
			if p.Name == "b" {
				out.Restored[len(out.Restored)-1].Note = "~/gone is gone; the shell starts in ~."
			}
		})
		return out, nil
	})
	panestest.On(e.Engine, api.SessionDismiss, func(_ context.Context, in api.SessionDismissInput) (api.Empty, error) {
		change(in.IDs, func(p *api.Process) { p.Interrupted = nil })
		return api.Empty{}, nil
	})
	return func() []api.SessionRestoreInput {
		e.mu.Lock()
		defer e.mu.Unlock()
		return slices.Clone(calls)
	}
}

// afterReboot opens a dashboard on threePanes, whose sessions a reboot ended.
func afterReboot(t *testing.T, setting string) (d *driver, restored func() []api.SessionRestoreInput) {
	first := threePanes(t)
	first.cancel()
	first.engine = first.engine.makeSuccessor()
	restored = first.engine.reboot()
	d = drive(t, first.engine, 160, 40)
	d.m.o.Restore = setting
	return d, restored
}

func TestInterruptedSessionsKeepTheirPanesUntilRestored(t *testing.T) {
	onFakeTime(t, restoreOneByOne)
}

func restoreOneByOne(t *testing.T) {
	d, restored := afterReboot(t, "offer")
	want, _ := d.engine.savedLayout()
	d.waitShape("(a|(b/c))")
	d.waitText("c-screen")
	d.waitText("was running: nvim c.go")
	d.waitText("enter restore")
	d.pressKeys("'echo")
	d.m.sessions.Paste("paste")
	d.pressKeys("ctrl+b", "[", "esc")
	other := drive(t, d.engine, 120, 36)
	other.waitText("was running: nvim c.go")
	d.pressKeys("enter", "enter")
	d.waitNoText("nvim c.go")
	other.waitNoText("nvim c.go")
	d.pressKeys("'ls")
	d.waitTyped(d.nthSession(2), "ls")
	if calls := restored(); len(calls) != 1 || !slices.Equal(calls[0].IDs, []string{d.nthSession(2).process.ID}) || len(calls[0].Environ) == 0 || calls[0].Umask == "" {
		t.Errorf("the calls are %+v", calls)
	}
	d.pressKeys("alt+left", "'R")
	d.waitNoText("nvim")
	d.waitText("b: ~/gone is gone; the shell starts in ~.")
	d.waitShape("(a|(b/c))")
	other.waitShape("(a|(b/c))")
	synctest.Wait()
	if got, _ := d.engine.savedLayout(); len(restored()) != 2 || !cmp.Equal(got, want) {
		t.Errorf("the calls are %+v, and the layout %s", restored(), cmp.Diff(want, got))
	}
}

func TestDismissedSessionIsClosedInEveryDashboard(t *testing.T) {
	d, restored := afterReboot(t, "offer")
	d.waitText("was running: nvim c.go")
	other := drive(t, d.engine, 120, 36)
	other.waitText("was running: nvim c.go")
	d.pressKeys("'x")
	d.waitShape("(a|b)")
	other.waitShape("(a|b)")
	d.pressKeys("ctrl+b", "s", "g", "'x") // the same key in the list
	d.waitShape("b")
	d.pressKeys("enter")
	d.waitNoText("nvim")
	other.waitNoText("nvim")
	if calls := restored(); len(calls) != 1 || !slices.Equal(calls[0].IDs, []string{d.nthSession(1).process.ID}) {
		t.Errorf("the calls are %+v", calls)
	}
}

func TestRestoreYesRestoresEachSessionOnce(t *testing.T) {
	d, restored := afterReboot(t, "yes")
	d.waitUntil("all are running", func() bool {
		p, _ := d.m.news.Process(d.nthSession(2).process.ID)
		return p.State == api.StateRunning && !strings.Contains(d.screenText(), "nvim")
	})
	d.waitShape("(a|(b/c))")
	if calls := restored(); len(calls) != 1 || len(calls[0].IDs) != 3 {
		t.Errorf("the calls are %+v", calls)
	}
}

func TestRestoreNoShowsInterruptedSessionsAsExited(t *testing.T) {
	d, restored := afterReboot(t, "no")
	d.waitText("bash-4")
	d.waitShape("bash-4")
	d.changeSettings(func(s *Settings) { s.Restore = "offer" })
	d.waitText("nvim a.go")
	d.changeSettings(func(s *Settings) { s.Restore = "no" })
	d.waitShape("bash-4")
	if calls := restored(); len(calls) > 0 {
		t.Errorf("the calls are %+v", calls)
	}
}

func TestSessionsOfAnotherMachineAreRestoredThere(t *testing.T) {
	e := newFakeEngine()
	here := e.addSession("here")
	box := addBox(e)
	there := box.sessions[0]
	restored := box.reboot()
	e.layouts.Set(api.Layout{Tabs: []api.LayoutTab{{Nodes: []api.LayoutNode{
		{Axis: api.AxisBeside, Share: 5000}, {ID: here.process.ID}, {ID: "box/" + there.process.ID, Name: "there"}}}}})
	d := drive(t, e, 200, 24)
	d.waitText("was running: nvim there.go")
	d.pressKeys("ctrl+b", "right", "enter")
	d.waitNoText("nvim")
	if calls := restored(); len(calls) != 1 || !slices.Equal(calls[0].IDs, []string{there.process.ID}) || calls[0].Environ != nil {
		t.Errorf("the calls are %+v", calls)
	}
	d.pressKeys("'x")
	d.waitUntil("keys reach it", func() bool { return box.inputOf(0) == "x" })
}
