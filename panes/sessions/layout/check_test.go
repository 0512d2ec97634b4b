package layout

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"tandem/engine/api"
	"tandem/panes/kit/look"
	"tandem/tests/seed"
)

// drawSession draws the id of one of a few sessions.
func drawSession(t *rapid.T) string {
	return fmt.Sprintf("s%d", rapid.IntRange(0, 6).Draw(t, "session"))
}

// listSessions returns the sessions that drawSession chooses from, as the engine lists
// them.
func listSessions() (all []api.Process) {
	for i := range 7 {
		all = append(all, api.Process{ID: fmt.Sprintf("s%d", i), Name: fmt.Sprintf("n%d", i%3), Kind: api.KindSession, State: api.StateRunning})
	}
	return all
}

// step performs a random operation of the dashboard.
func step(t *rapid.T, tabs *Tabs, kept *api.Layout) {
	var tab *Tab
	if every := tabs.EveryTab(); len(every) > 0 {
		tab = every[rapid.IntRange(0, len(every)-1).Draw(t, "tab")]
	}
	kind := rapid.SampledFrom([]string{"open", "open", "split", "split", "close", "break", "float", "show", "focus", "place", "keep", "arrange", "follow", "reshape"}).Draw(t, "step")
	switch {
	case kind == "open":
		id := drawSession(t)
		if found, l := tabs.FindSession(id); found != nil {
			found.SetFocus(l)
			tabs.SetCurrent(found)
			return
		}
		tabs.SetCurrent(tabs.AddTab(id))
	case tab == nil:
	case kind == "split":
		if id, x := drawSession(t), rapid.SampledFrom([]Axis{Beside, Below}).Draw(t, "axis"); tab.Focus.CanSplit(x) {
			if found, _ := tabs.FindSession(id); found == nil {
				var created *Node
				tab.Root, created = tab.Focus.SplitLeaf(x, id)
				tab.SetFocus(created)
			}
		}
	case kind == "close":
		tabs.DetachLeaf(tab, tab.Focus)
		tabs.SettleFloat()
		if tabs.Current == nil && len(tabs.All) > 0 {
			tabs.SetCurrent(tabs.All[0])
		}
	case kind == "break" && (!tab.Root.IsLeaf() || tab == tabs.Float):
		tabs.SetCurrent(tabs.BreakOut(tab, tab.Focus))
		tabs.SettleFloat()
	case kind == "float":
		if id := drawSession(t); tabs.Float == nil && tabs.Current != nil {
			if found, _ := tabs.FindSession(id); found == nil {
				tabs.Float = NewTab(id)
				tabs.SetCurrent(tabs.Float)
			}
		}
	case kind == "show":
		tabs.SetCurrent(tab)
		tabs.SettleFloat()
	case kind == "focus":
		tab.SetFocus(tab.Focus.NextLeaf(1))
	case kind == "place":
		tab.Root.SetRects(look.Rect{W: rapid.IntRange(0, 120).Draw(t, "w"), H: rapid.IntRange(0, 40).Draw(t, "h")})
		tab.Focus.PushBorder(Direction(rapid.IntRange(0, 3).Draw(t, "direction")), rapid.IntRange(1, 30).Draw(t, "by"))
	case kind == "keep":
		*kept = tabs.WriteLayout(func(id string) (string, bool) { return "n" + id[1:], true })
	case kind == "arrange":
		show, _ := tabs.ApplyLayout(*kept, listSessions())
		if show != nil {
			tabs.SetCurrent(show)
		} else if tabs.Current == nil && len(tabs.All) > 0 {
			tabs.SetCurrent(tabs.All[0])
		}
	case kind == "follow":
		tabs.FollowLayout(*kept, listSessions())
		if tabs.Current == nil {
			tabs.SetCurrent(tabs.All[0])
		}
	case kind == "reshape":
		tab.Root.EqualizeShares()
		if a := rapid.SampledFrom(Arrangements()).Draw(t, "arrangement"); !tab.Root.IsLeaf() {
			tab.Root, tab.Focus = tab.Rearrange(a)
		}
	}
}

func TestTabsKeepInvariantsUnderAnyOperation(t *testing.T) {
	seed.Check(t, func(t *rapid.T) {
		tabs := new(Tabs)
		var kept api.Layout
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			step(t, tabs, &kept)
			Check(tabs)
			for _, tab := range tabs.EveryTab() {
				tab.Root.SetRects(look.Rect{W: rapid.IntRange(0, 120).Draw(t, "w"), H: rapid.IntRange(0, 40).Draw(t, "h")})
			}
			if len(tabs.All) > 0 && tabs.Current == nil {
				t.Fatalf("no tab is shown of %d", len(tabs.All))
			}
		}
	})
}
