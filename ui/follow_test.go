package ui

import (
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
	"tandem/keys"
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

func TestSecondChangeKeepsFirst(t *testing.T) {
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
