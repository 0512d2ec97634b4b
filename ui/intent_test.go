package ui

import (
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
	"tandem/tests/seed"
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

var errFull = api.Errorf(api.CodeUnavailable, "no space left on device")

// savedLayout returns the layout the engine has, and how often one was saved.
func (e *fakeEngine) savedLayout() (api.Layout, int) {
	l, _ := e.layouts.Current()
	return *l, e.layouts.Calls()
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
	if got, _ := d.engine.savedLayout(); !sameArrangement(got, want) {
		t.Errorf("saved is %+v", got)
	}
	d.m.saveOnExit() // as after HUP and TERM
	want.Tabs[0].Focus = 1
	if got, _ := d.engine.savedLayout(); !cmp.Equal(got, want) {
		t.Error(cmp.Diff(want, got))
	}
}

func TestDashboardThatStartsDuringShutdownKeepsTheLayout(t *testing.T) {
	for name, ended := range map[string][]int{"some sessions exited": {1, 2}, "all sessions exited": {0, 1, 2}} {
		t.Run(name, func(t *testing.T) { onFakeTime(t, func(t *testing.T) { startDuringShutdown(t, ended) }) })
	}
}

func startDuringShutdown(t *testing.T, ended []int) {
	first := threePanes(t)
	want, _ := first.engine.savedLayout()
	for _, i := range ended {
		code := i
		first.nthSession(i).exitWith(api.StateExited, &code)
	}
	d := drive(t, first.engine, 160, 40)
	d.waitUntil("it shows a session", func() bool {
		p := d.m.sessions.FocusedPane()
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
	d.m.saveOnExit()
	if got, _ := first.engine.savedLayout(); !sameArrangement(layoutPart(got, len(want.Tabs)), want) || got.Current != want.Current || got.Tabs[0].Focus != want.Tabs[0].Focus {
		t.Errorf("saved is %+v, want %+v", got, want)
	}
}

func TestLayoutThatCouldNotBeSavedKeepsSessionsThatExit(t *testing.T) {
	onFakeTime(t, func(t *testing.T) {
		d := threePanes(t)
		d.engine.layouts.Fail(errFull)
		d.pressKeys("ctrl+b", "!")
		d.waitShape("(a|b) c")
		synctest.Wait()
		want := d.currentLayout()
		d.endAll()
		d.waitShape("a c")
		d.engine.layouts.Fail(nil)
		d.update(tea.WindowSizeMsg{Width: 120, Height: 36})
		d.waitUntil("the layout is saved", func() bool {
			got, _ := d.engine.savedLayout()
			return sameArrangement(got, want)
		})
	})
}

func TestNextDashboardRestoresZoom(t *testing.T) {
	d := threePanes(t)
	d.pressKeys("alt+left", "ctrl+b", "z")
	d.waitSaved()
	next := drive(t, d.engine, 120, 36)
	next.waitUntil("the pane is zoomed", func() bool {
		p := next.m.sessions.FocusedPane()
		return next.m.areas.mode == modeZoomed && p != nil && p.ID == d.nthSession(0).process.ID
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

func TestSignalSavesTheLastChange(t *testing.T) { onFakeTime(t, saveAfterSignal) }

func saveAfterSignal(t *testing.T) {
	d := threePanes(t)
	d.pressKeys("alt+left") // not saved yet
	d.cancel()              // as a signal does, before the layout is saved
	synctest.Wait()
	d.m.saveOnExit()
	if got, _ := d.engine.savedLayout(); got.Tabs[0].Focus != 1 {
		t.Errorf("saved is %+v", got)
	}
}

// A shutdown simulates an engine whose machine goes down, with the dashboards connected to it.
type shutdown struct {
	full   bool // nothing can be saved
	random *rand.Rand
	engine *fakeEngine
	open   []*driver
	down   bool // the engine is gone
}

// handleAll handles everything that the dashboards have received.
func (s *shutdown) handleAll() {
	time.Sleep(time.Minute) // they reconnect
	for _, d := range s.open {
		for received := true; received; {
			synctest.Wait()
			select {
			case msg := <-d.msgs:
				d.update(msg)
			default:
				received = false
			}
		}
	}
}

// killEngine kills the engine; its successor can be reached after startEngine.
func (s *shutdown) killEngine() {
	s.engine, s.down = s.engine.killEngine(), true
	for _, d := range s.open {
		d.mu.Lock()
		d.next = nil
		d.mu.Unlock()
	}
}

func (s *shutdown) startEngine() {
	s.down = false
	for _, d := range s.open {
		d.mu.Lock()
		d.next, d.engine = s.engine, s.engine
		d.mu.Unlock()
	}
}

// exitOne ends a session in one of the ways of a shutdown.
func (s *shutdown) exitOne() {
	one := s.engine.sessions[s.random.IntN(3)]
	code := s.random.IntN(3)
	ended := false
	one.update(func(p *api.Process) {
		if ended = p.State.Ended(); !ended && code == 2 {
			p.ExitSignal = "SIGHUP"
		}
	})
	switch {
	case ended:
	case code == 2:
		one.exitWith(api.StateExited, nil)
	default:
		one.exitWith(api.StateExited, &code)
	}
}

// step does one thing of a shutdown.
func (s *shutdown) step(t *testing.T) {
	some := s.random.IntN(len(s.open))
	d := s.open[some]
	switch s.random.IntN(9) {
	case 0, 1:
		s.exitOne()
	case 2:
		d.update(tea.WindowSizeMsg{Width: 80 + s.random.IntN(100), Height: 24 + s.random.IntN(20)})
	case 3:
		if !s.down && len(s.open) < 3 {
			s.open = append(s.open, drive(t, s.engine, 120, 36))
		}
	case 4:
		if d.m.saveOnExit(); len(s.open) > 1 {
			d.cancel()
			s.open = slices.Delete(s.open, some, some+1)
		}
	case 5:
		d.pressKeys("ctrl+b", []string{"o", "n", "z", ";"}[s.random.IntN(4)])
	case 6:
		if !s.down {
			s.killEngine()
		}
	case 7:
		s.startEngine()
	case 8:
		if s.full = !s.full; s.full {
			s.engine.layouts.Fail(errFull)
		} else {
			s.engine.layouts.Fail(nil)
		}
	}
}

func TestNoOrderOfShutdownChangesSavedArrangement(t *testing.T) {
	orders := 200
	if testing.Short() {
		orders = 40
	}
	random := seed.Rand(t)
	for order := range orders {
		onFakeTime(t, func(t *testing.T) {
			first := threePanes(t)
			want, _ := first.engine.savedLayout()
			s := &shutdown{random: random, engine: first.engine, open: []*driver{first}}
			for range 20 {
				if s.step(t); s.random.IntN(3) > 0 {
					s.handleAll()
				}
			}
			if got, _ := s.engine.savedLayout(); !sameArrangement(layoutPart(got, len(want.Tabs)), want) {
				t.Fatalf("order %d: saved is %+v", order, got)
			}
		})
	}
}

// layoutPart returns the first tabs of a layout. Sessions that a dashboard started because there was
// none come after them.
func layoutPart(l api.Layout, tabs int) api.Layout {
	l.Tabs = l.Tabs[:min(len(l.Tabs), tabs)]
	return l
}
