package ui

import (
	"context"
	"testing"
	"testing/synctest"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
	"tandem/panes/sessions/layout"
)

// endAll ends the sessions as a shutdown does: one exits, one turns the hangup into a status, one
// is killed by it.
func (d *driver) endAll() {
	well, bad := 0, 1
	d.nthSession(1).exitWith(api.StateExited, &well)
	d.nthSession(2).exitWith(api.StateFailed, &bad)
	d.nthSession(0).update(func(p *api.Process) { p.ExitSignal = "SIGHUP" })
	d.nthSession(0).exitWith(api.StateFailed, nil)
}

// savedLayout returns the layout the engine has, and how often one was saved.
func (e *fakeEngine) savedLayout() (api.Layout, int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return *e.layouts.current, e.layouts.puts
}

func TestSessionsThatExitStayInSavedLayout(t *testing.T) { onFakeTime(t, exitsKeepLayout) }

func exitsKeepLayout(t *testing.T) {
	d := threePanes(t)
	want, _ := d.engine.savedLayout()
	d.pressKeys("alt+left") // not saved yet
	d.endAll()
	d.waitText("exited with status 1")
	d.waitShape("(a|c)")
	d.update(tea.WindowSizeMsg{Width: 120, Height: 36})
	synctest.Wait()
	if got, _ := d.engine.savedLayout(); !layout.SameArrangement(got, want) {
		t.Errorf("saved is %+v", got)
	}
	d.m.saveOnExit() // as after HUP and TERM
	want.Tabs[0].Focus = 1
	if got, _ := d.engine.savedLayout(); !cmp.Equal(got, want) {
		t.Error(cmp.Diff(want, got))
	}
}

func TestDashboardThatStartsDuringShutdownSavesNothing(t *testing.T) {
	for name, ended := range map[string][]int{"some sessions exited": {1, 2}, "all sessions exited": {0, 1, 2}} {
		t.Run(name, func(t *testing.T) { onFakeTime(t, func(t *testing.T) { startDuringShutdown(t, ended) }) })
	}
}

func startDuringShutdown(t *testing.T, ended []int) {
	first := threePanes(t)
	for _, i := range ended {
		code := i
		first.nthSession(i).exitWith(api.StateExited, &code)
	}
	d := drive(t, first.engine, 160, 40)
	d.waitUntil("it shows a session", func() bool {
		p := d.m.sessions.Tabs.FocusedPane()
		return d.m.sessions.IsOpen() && p != nil && p.ID != ""
	})
	d.endAll()
	d.waitUntil("it knows", func() bool {
		for _, p := range d.m.news.Processes[:3] {
			if !p.State.Ended() {
				return false
			}
		}
		return true
	})
	synctest.Wait()
	_, before := first.engine.savedLayout()
	d.m.saveOnExit()
	if got, puts := first.engine.savedLayout(); before+puts > 0 {
		t.Errorf("saved is %+v", got)
	}
}

// A fullEngine has no space left for layouts.
type fullEngine struct{ *fakeEngine }

func (e *fullEngine) Do(ctx context.Context, name string, effect api.Effect, in, out any) error {
	if name == api.LayoutPut.Name {
		return api.Errorf(api.CodeUnavailable, "no space left on device")
	}
	return e.fakeEngine.Do(ctx, name, effect, in, out)
}

func TestLayoutThatCouldNotBeSavedKeepsSessionsThatExit(t *testing.T) {
	onFakeTime(t, func(t *testing.T) {
		d := threePanes(t)
		d.m.link.SetEngine(&fullEngine{d.engine})
		d.pressKeys("ctrl+b", "!")
		d.waitShape("(a|b) c")
		synctest.Wait()
		want := d.currentLayout()
		d.endAll()
		d.waitShape("a c")
		d.m.link.SetEngine(d.engine)
		d.update(tea.WindowSizeMsg{Width: 120, Height: 36})
		d.waitUntil("the layout is saved", func() bool {
			got, _ := d.engine.savedLayout()
			return cmp.Equal(got, want)
		})
	})
}

func TestNextDashboardRestoresZoom(t *testing.T) {
	d := threePanes(t)
	d.pressKeys("alt+left", "ctrl+b", "z")
	d.waitSaved()
	next := drive(t, d.engine, 120, 36)
	next.waitUntil("the pane is zoomed", func() bool {
		p := next.m.sessions.Tabs.FocusedPane()
		return next.m.areas.zoomed && p != nil && p.ID == d.nthSession(0).process.ID
	})
	next.waitUntil("its program has the whole screen", func() bool {
		d.engine.mu.Lock()
		defer d.engine.mu.Unlock()
		return d.engine.sessions[0].size == api.Size{Cols: 120, Rows: 36}
	})
	next.pressKeys("ctrl+b", "z")
	next.waitText("c-screen")
	next.waitSaved()
}
