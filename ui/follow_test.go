package ui

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
	"tandem/keys"
)

// two are dashboards on the same three sessions.
func two(t *testing.T) (one, other *driver) {
	t.Helper()
	one = threePanes(t)
	one.press("ctrl+b", "=")
	one.isKept()
	other = drive(t, one.engine, 120, 36)
	other.hasShape("(a|(b/c))")
	return one, other
}

func TestADashboardFollowsWhatAnotherOneChanges(t *testing.T) {
	one, other := two(t)
	other.press("ctrl+b", "left")
	focused := other.m.sessions.focused()
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
		one.press(step.keys...)
		one.hasShape(step.shape)
		one.isKept()
		puts := one.engine.layouts.puts
		other.hasShape(step.shape)
		if other.m.sessions.focused() != focused || other.m.sessions.keeper.keeping || one.engine.layouts.puts != puts {
			t.Fatalf("after %v it has another focus, or has its own layout kept", step.keys)
		}
	}
	if diff := cmp.Diff(one.m.sessions.keeper.writeLayout().Tabs[0].Nodes, other.m.sessions.keeper.writeLayout().Tabs[0].Nodes); diff != "" {
		t.Error(diff)
	}
	other.press("ctrl+b", "}")
	other.hasShape("(b/(a/(bash-4/c)))")
	other.isKept()
	one.hasShape("(b/(a/(bash-4/c)))")
}

func TestAChangeThatComesSecondDestroysNotTheFirst(t *testing.T) {
	one, other := two(t)
	one.press("ctrl+b", "left", "ctrl+b", "}")
	one.hasShape("(b|(a/c))")
	one.isKept()
	other.press("ctrl+b", "=", "ctrl+b", "{") // it has not seen that yet
	if other.shape() != "(a|(c/b))" {
		t.Fatal(other.shape())
	}
	other.hasShape("(b|(a/c))")
	other.isKept()
	one.hasShape("(b|(a/c))")
	other.press("ctrl+b", "{")
	other.hasShape("(b|(c/a))")
	other.isKept()
	one.hasShape("(b|(c/a))")
}

func TestAPaneWhoseSessionIsStillBeingStartedStaysBesideItsNeighbour(t *testing.T) {
	one, other := two(t)
	late := lately(other)
	other.press("ctrl+b", "%")
	<-late.asked
	one.press("ctrl+b", "left", "ctrl+b", "}")
	one.isKept()
	other.hasShape("(b|(a/(c|)))")
	close(late.answer)
	other.hasShape("(b|(a/(c|bash-4)))")
	other.isKept()
	one.hasShape("(b|(a/(c|bash-4)))")
}

func TestWhatIsPutAwayInOneDashboardIsPutAwayInTheOthers(t *testing.T) {
	one, other := two(t)
	code := 7
	one.nth(2).end(api.StateFailed, &code)
	one.shows("exited with status 7")
	other.shows("exited with status 7")
	one.press("x")
	one.hasShape("(a|b)")
	one.isKept()
	other.hasShape("(a|b)")
	other.lacks("c ~/src")
	if !other.m.sessions.list.IsPutAway(one.nth(2).process.ID) {
		t.Error("it is listed")
	}
}

func TestALayoutIsFollowedAfterADragAlone(t *testing.T) {
	one, other := two(t)
	border := other.m.sessions.tabs.Current.Root
	held := keys.Mouse{X: border.Border(), Y: 5, Button: keys.ButtonLeft}
	other.mouse(held)
	one.press("ctrl+b", "left", "ctrl+b", "}")
	one.isKept()
	other.until("it is told of", func() bool { return other.m.news.Revision > other.m.sessions.keeper.revision })
	other.hasShape("(a|(b/c))")
	held.Kind = keys.MouseUp
	other.mouse(held)
	other.hasShape("(b|(a/c))")
}
