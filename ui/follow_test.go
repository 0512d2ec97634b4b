package ui

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/tests/seed"
)

// openTwo opens two dashboards on the same three sessions.
func openTwo(t *testing.T) (one, other *driver) {
	t.Helper()
	one = threePanes(t)
	one.pressKeys("ctrl+b", "=")
	one.waitSaved()
	other = drive(t, one.engine, 120, 36)
	other.waitShape("(a|(b/c))")
	return one, other
}

func TestDashboardFollowsChangesOfAnother(t *testing.T) { onFakeTime(t, followChanges) }

func followChanges(t *testing.T) {
	one, other := openTwo(t)
	other.pressKeys("ctrl+b", "left")
	focused := other.m.sessions.FocusedPane()
	for _, step := range []struct {
		keys  []string
		shape string
	}{
		{[]string{"ctrl+b", "%"}, "(a|(b/(c|bash-4)))"},
		{[]string{"ctrl+b", "!"}, "(a|(b/c)) bash-4"},
		{[]string{"ctrl+b", "m", "enter"}, "(a|(b/(c|bash-4)))"},
		{[]string{"ctrl+b", "{"}, "(a|(b/(bash-4|c)))"},
		{[]string{"ctrl+b", "space", "'rows", "enter"}, "(a/(b/(bash-4/c)))"},
	} {
		one.pressKeys(step.keys...)
		one.waitShape(step.shape)
		one.waitSaved()
		puts := one.engine.layouts.Calls()
		other.waitShape(step.shape)
		synctest.Wait()
		if other.m.sessions.FocusedPane() != focused || one.engine.layouts.Calls() != puts {
			t.Fatalf("after %v it has another focus, or has its own layout kept", step.keys)
		}
	}
	if diff := cmp.Diff(one.currentLayout().Tabs[0].Nodes, other.currentLayout().Tabs[0].Nodes); diff != "" {
		t.Error(diff)
	}
	other.pressKeys("ctrl+b", "}")
	other.waitShape("(b/(a/(bash-4/c)))")
	other.waitSaved()
	one.waitShape("(b/(a/(bash-4/c)))")
}

func TestSimultaneousLayoutChangesAreBothKept(t *testing.T) {
	one, other := openTwo(t)
	one.pressKeys("ctrl+b", "left", "ctrl+b", "}")
	one.waitShape("(b|(a/c))")
	one.waitSaved()
	other.pressKeys("ctrl+b", "=", "ctrl+b", "{") // it has not received that change yet
	if other.layoutShape() != "(a|(c/b))" {
		t.Fatal(other.layoutShape())
	}
	other.waitShape("(c|(a/b))")
	other.waitSaved()
	one.waitShape("(c|(a/b))")
}

func TestPaneOfStartingSessionStaysBesideNeighbour(t *testing.T) {
	one, other := openTwo(t)
	late := delayStarts(other)
	other.pressKeys("ctrl+b", "%")
	<-late.asked
	one.pressKeys("ctrl+b", "left", "ctrl+b", "}")
	one.waitSaved()
	other.waitShape("(b|(a/(c|)))")
	close(late.answer)
	other.waitShape("(b|(a/(c|bash-4)))")
	other.waitSaved()
	one.waitShape("(b|(a/(c|bash-4)))")
}

func TestHidingSessionHidesItInOtherDashboards(t *testing.T) {
	one, other := openTwo(t)
	code := 7
	one.nthSession(2).exitWith(api.StateFailed, &code)
	one.waitText("exited with status 7")
	other.waitText("exited with status 7")
	one.pressKeys("x")
	one.waitShape("(a|b)")
	one.waitSaved()
	other.waitShape("(a|b)")
	other.waitNoText("c ~/src")
	if !other.m.sessions.Tabs.IsClosed(one.nthSession(2).process.ID) {
		t.Error("it is listed")
	}
}

func TestLayoutIsFollowedOnlyAfterDrag(t *testing.T) {
	one, other := openTwo(t)
	border := other.m.sessions.Tabs.Current.Root
	held := keys.Mouse{X: border.BorderCell(), Y: 5, Button: keys.ButtonLeft}
	other.sendMouse(held)
	before := other.m.news.Revision
	one.pressKeys("ctrl+b", "left", "ctrl+b", "}")
	one.waitSaved()
	other.waitUntil("it is told of", func() bool { return other.m.news.Revision > before })
	other.waitShape("(a|(b/c))")
	held.Kind = keys.MouseUp
	other.sendMouse(held)
	other.waitShape("(b|(a/c))")
}

// TestDashboardsAgreeAfterAnyChanges changes the layout in two dashboards at the same time, in as many steps as
// TANDEM_STEPS says.
func TestDashboardsAgreeAfterAnyChanges(t *testing.T) {
	steps := 1000
	if n, err := strconv.Atoi(os.Getenv("TANDEM_STEPS")); err == nil {
		steps = n
	}
	random := seed.Rand(t)
	onFakeTime(t, func(t *testing.T) { changeInTwoDashboards(t, random, steps) })
}

func changeInTwoDashboards(t *testing.T, random *rand.Rand, steps int) {
	one := threePanes(t)
	s := &shutdown{random: random, engine: one.engine, open: []*driver{one, drive(t, one.engine, 120, 36)}}
	s.handleAll()
	changes := [][]string{{"%"}, {"\""}, {"!"}, {"m", "enter"}, {"{"}, {"}"}, {"="}, {"f"}, {"w"}, {"H"}, {"K"}, {"o"}, {"n"}, {"z"}, {"left"}, {"up"}, {".", "'tab", "enter"}}
	for step := range steps {
		d := s.open[random.IntN(2)]
		keys := changes[random.IntN(len(changes))]
		if random.IntN(8) == 0 || len(s.engine.sessions) > 12 && (keys[0] == "%" || keys[0] == "\"" || keys[0] == "f") {
			if running := s.engine.runningSessions(); len(running) > 2 {
				running[random.IntN(len(running))].exitWith(api.StateExited, new(int))
			}
		} else {
			d.pressKeys(append([]string{"ctrl+b"}, keys...)...)
			d.pressKeys("esc") // a dialog without choices
		}
		switch {
		case step%500 == 499:
			s.killEngine()
			d.pressKeys("ctrl+b", "%") // changed without an engine
			s.startEngine()
			s.handleAll()
		case random.IntN(4) == 0:
			s.handleAll()
		}
		if step%20 == 19 {
			s.handleAll()
			s.handleAll() // what the first one has sent meanwhile
			if a, b := one.layoutShape(), s.open[1].layoutShape(); a != b {
				t.Fatalf("step %d: one shows %s, the other %s", step, a, b)
			}
		}
	}
	s.handleAll()
	s.handleAll()
	next := drive(t, s.engine, 160, 40)
	next.waitShape(one.layoutShape())
}

// runningSessions returns the sessions that run.
func (e *fakeEngine) runningSessions() (all []*fakeSession) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range e.sessions {
		if !s.process.State.Ended() {
			all = append(all, s)
		}
	}
	return all
}
