package layout

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"tandem/engine/api"
	"tandem/panes/terminal"
	"tandem/panes/widget"
)

// session draws the id of one of a few sessions.
func session(t *rapid.T) string { return fmt.Sprintf("s%d", rapid.IntRange(0, 6).Draw(t, "session")) }

// running are the sessions that session draws, as the engine lists them.
func running() (all []api.Process) {
	for i := range 7 {
		all = append(all, api.Process{ID: fmt.Sprintf("s%d", i), Name: fmt.Sprintf("n%d", i%3), Kind: api.KindSession, State: api.StateRunning})
	}
	return all
}

// step does to the tabs what the dashboard may.
func step(t *rapid.T, tabs *Tabs, kept *api.Layout) {
	var tab *Tab
	if every := tabs.Every(); len(every) > 0 {
		tab = every[rapid.IntRange(0, len(every)-1).Draw(t, "tab")]
	}
	kind := rapid.SampledFrom([]string{"open", "open", "split", "split", "close", "break", "float", "show", "focus", "place", "keep", "arrange", "follow", "reshape"}).Draw(t, "step")
	switch {
	case kind == "open":
		id := session(t)
		if found, l := tabs.Find(id); found != nil {
			found.Go(l)
			tabs.Go(found)
			return
		}
		tabs.Go(tabs.Add(tabs.New(id)))
	case tab == nil:
	case kind == "split":
		if id, x := session(t), rapid.SampledFrom([]Axis{Beside, Below}).Draw(t, "axis"); tab.Focus.CanSplit(x) {
			if found, _ := tabs.Find(id); found == nil {
				var created *Node
				tab.Root, created = tab.Focus.Split(x, tabs.New(id))
				tab.Go(created)
			}
		}
	case kind == "close":
		tabs.Detach(tab, tab.Focus)
		tabs.Settle()
		if tabs.Current == nil && len(tabs.All) > 0 {
			tabs.Go(tabs.All[0])
		}
	case kind == "break" && (tab.Root.Pane == nil || tab == tabs.Float):
		tabs.Go(tabs.BreakOut(tab, tab.Focus))
		tabs.Settle()
	case kind == "float":
		if id := session(t); tabs.Float == nil && tabs.Current != nil {
			if found, _ := tabs.Find(id); found == nil {
				tabs.Float = NewTab(tabs.New(id))
				tabs.Go(tabs.Float)
			}
		}
	case kind == "show":
		tabs.Go(tab)
		tabs.Settle()
	case kind == "focus":
		tab.Go(tab.Focus.Next(1))
	case kind == "place":
		tab.Root.Place(widget.Rect{W: rapid.IntRange(0, 120).Draw(t, "w"), H: rapid.IntRange(0, 40).Draw(t, "h")})
		tab.Focus.Push(Direction(rapid.IntRange(0, 3).Draw(t, "direction")), rapid.IntRange(1, 30).Draw(t, "by"))
	case kind == "keep":
		*kept = tabs.Write(func(id string) string { return "n" + id[1:] })
	case kind == "arrange":
		show, _ := tabs.Arrange(*kept, running())
		if show != nil {
			tabs.Go(show)
		} else if tabs.Current == nil && len(tabs.All) > 0 {
			tabs.Go(tabs.All[0])
		}
	case kind == "follow":
		tabs.Follow(*kept, running())
		if tabs.Current == nil {
			tabs.Go(tabs.All[0])
		}
	case kind == "reshape":
		tab.Root.Equalise()
		if a := rapid.SampledFrom(Arrangements()).Draw(t, "arrangement"); tab.Root.Pane == nil {
			tab.Root, tab.Focus = tab.ArrangedAs(a)
		}
	}
}

func TestTabsHoldTheirInvariantsWhateverIsDoneToThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tabs := &Tabs{New: func(id string) *terminal.Pane { return terminal.New(nil, nil, id) }}
		var kept api.Layout
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			step(t, tabs, &kept)
			Check(tabs)
			for _, tab := range tabs.Every() {
				tab.Root.Place(widget.Rect{W: rapid.IntRange(0, 120).Draw(t, "w"), H: rapid.IntRange(0, 40).Draw(t, "h")})
			}
			if len(tabs.All) > 0 && tabs.Current == nil {
				t.Fatalf("no tab is shown of %d", len(tabs.All))
			}
		}
	})
}
