package sessions

import (
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/keys"
	"tandem/panes/sessions/layout"
)

func TestPanesAreSwappedEqualisedAndMoved(t *testing.T) {
	d := threePanes(t)
	d.Press("ctrl+b", "{")
	d.waitShape("(a|(c/b))")
	d.Press("ctrl+b", "=")
	if s := d.view.Tabs.Current.Root.Share; s != layout.ShareUnit/2 {
		t.Errorf("the left half has %d", s)
	}
	d.Press("ctrl+b", "!")
	d.waitShape("(a|b) c")
	d.Press("ctrl+b", "m", "enter")
	d.waitShape("(a|(b|c))")
	d.Press("ctrl+b", "=")
	if s := d.view.Tabs.Current.Root.Share; s != layout.ShareUnit/3 {
		t.Errorf("one of three panes in a row has %d", s)
	}
	d.Press("ctrl+b", "m")
	d.WaitText("no other tab")
}

func TestLayoutsAreSavedShownAndRemovedByName(t *testing.T) {
	d := threePanes(t)
	d.Press("ctrl+b", "S", "'work", "enter")
	d.WaitText("saved layout work")
	d.Press("ctrl+b", "!", "ctrl+b", "S", "'apart", "enter")
	d.WaitText("saved layout apart")
	d.waitShape("(a|b) c")
	d.Press("ctrl+b", "space")
	d.WaitText("Show the layout")
	d.Press("'work", "enter")
	d.waitShape("(a|(b/c))")
	d.Press("ctrl+b", "space")
	d.WaitText("enter show it   ↑ ↓ choose   delete remove it   esc close")
	d.Press("'main left")
	d.WaitNoText("delete remove it")
	d.WaitText("this one large, the others below each other")
	d.Press("delete", "ctrl+u", "delete", "esc")
	d.Wait("one layout is left", func() bool { return len(d.engine.layouts.Saved()) == 1 })
}

// If the dashboard does not know which layouts exist, saving one could replace another without
// asking.
func TestLayoutIsNotSavedIfTheOthersCannotBeRead(t *testing.T) {
	d := threePanes(t)
	d.engine.layouts.Fail(api.Errorf(api.CodeUnavailable, "read layouts: away"))
	d.Press("ctrl+b", "S", "'work", "enter")
	d.WaitText("read layouts: away")
	if saved := d.engine.layouts.Saved(); len(saved) != 0 {
		t.Errorf("saved %+v", saved)
	}
}

func TestSinglePaneHasNoArrangements(t *testing.T) {
	d := drive(t, nil, "a")
	d.Press("ctrl+b", "space")
	d.WaitText("no saved layouts yet; ctrl+b S saves this one")
}

func TestPanesAreArrangedInStandardWays(t *testing.T) {
	d := threePanes(t)
	for _, c := range []struct{ name, want string }{
		{"columns", "(a|(b|c))"}, {"rows", "(a/(b/c))"}, {"main left", "(c|(a/b))"}, {"main above", "(c/(a|b))"}, {"tiles", "((c|a)/b)"},
	} {
		d.Press("ctrl+b", "space")
		d.WaitText("Show the layout")
		d.Press("'"+c.name, "enter")
		d.waitShape(c.want)
		if p := d.view.FocusedPane(); p.ID != "c" {
			t.Errorf("%s: the focus went to %s", c.name, p.ID)
		}
		for _, l := range d.view.Tabs.Current.Root.Leaves(nil) {
			if g, at := d.view.Tabs.FindSession(l.ID); g != d.view.Tabs.Current || at != l || l.Root() != d.view.Tabs.Current.Root {
				t.Errorf("%s: the tree is not whole", c.name)
			}
		}
	}
}

func TestMeetingBordersAreJoined(t *testing.T) {
	d := threePanes(t)
	d.Press("ctrl+b", "space")
	d.WaitText("Show the layout")
	d.Press("'rows", "enter")
	d.waitShape("(a/(b/c))")
	d.Press("ctrl+b", "k", "ctrl+b", "k", "ctrl+b", "%")
	d.waitShape("((a|new-1)/(b/c))")
	below := d.view.Tabs.Current.Root.B
	wall := d.view.Tabs.Current.Root.A.BorderCell()
	at := func(x, y int) string { return string([]rune(strings.Split(d.Screen(), "\n")[y])[x]) }
	if got := at(wall, d.row(below)); got != "┴" {
		t.Errorf("the border ends in %s", got)
	}
	d.Press("ctrl+b", "j", "ctrl+b", "%")
	d.waitShape("((a|new-1)/((b|new-2)/c))")
	if got := at(wall, d.row(below)); got != "┼" {
		t.Errorf("two borders meet in %s", got)
	}
}

func TestNextPaneSkipsList(t *testing.T) {
	d := threePanes(t)
	all := d.view.Tabs.Current.Root.Leaves(nil)
	d.focusLeaf(all[0])
	for _, step := range []struct {
		key  string
		want int
	}{{"o", 1}, {"o", 2}, {"o", 0}, {"O", 2}, {"O", 1}} {
		d.Press("ctrl+b", step.key)
		if d.view.FocusedPane() == nil || d.view.Tabs.Current.Focus != all[step.want] {
			t.Errorf("%s goes elsewhere than to pane %d", step.key, step.want)
		}
	}
	d.Press("ctrl+b", "s", "tab")
	if d.view.FocusedPane() == nil {
		t.Error("tab does not lead out of the list")
	}
}

func TestClickOnTitleRowOnBorderFocusesPane(t *testing.T) {
	d := threePanes(t)
	d.Press("ctrl+b", "h")
	below := d.view.Tabs.Current.Root.B.B
	d.Click(below.Rect.X+3, d.row(below))
	if d.view.FocusedPane() != d.view.Panes.Pane(below.ID) {
		t.Error("the pane below has no focus")
	}
	d.Press("ctrl+b", "h")
	d.Mouse(keys.Mouse{X: below.Rect.X + 3, Y: d.row(below), Button: keys.ButtonLeft, Kind: keys.MouseDown})
	d.Mouse(keys.Mouse{X: below.Rect.X + 3, Y: 9, Button: keys.ButtonLeft, Kind: keys.MouseMove})
	d.Mouse(keys.Mouse{X: below.Rect.X + 3, Y: 9, Button: keys.ButtonLeft, Kind: keys.MouseUp})
	if d.view.FocusedPane() == d.view.Panes.Pane(below.ID) || d.row(below) != 9 {
		t.Errorf("after a drag to 9 the border is at %d", d.row(below))
	}
}

func TestReplacingLayoutAsksFirst(t *testing.T) {
	d := threePanes(t)
	d.Press("ctrl+b", "S", "'work", "enter")
	d.WaitText("saved layout work")
	old := len(d.engine.layouts.Saved()["work"].Tabs)
	d.Press("ctrl+b", "!", "ctrl+b", "S", "'work", "enter")
	d.WaitText("Replace the layout work?")
	d.Press("n")
	d.WaitNoText("Replace")
	if got := len(d.engine.layouts.Saved()["work"].Tabs); got != old {
		t.Errorf("it has %d tabs", got)
	}
	d.Press("ctrl+b", "S", "'work", "enter")
	d.WaitText("Replace the layout work?")
	d.Press("y")
	d.Wait("it is replaced", func() bool { return len(d.engine.layouts.Saved()["work"].Tabs) == old+1 })
}

func TestLastPaneKeyTogglesBetweenTwoPanes(t *testing.T) {
	d := threePanes(t)
	all := d.view.Tabs.Current.Root.Leaves(nil)
	d.focusLeaf(all[2])
	d.focusLeaf(all[0])
	for _, want := range []int{2, 0, 2} {
		d.Press("ctrl+b", ";")
		if d.view.Tabs.Current.Focus != all[want] {
			t.Fatalf("; does not go to pane %d", want)
		}
	}
	d.Press("ctrl+b", "s", "ctrl+b", ";")
	if d.view.FocusedPane() != d.view.Panes.Pane(all[2].ID) {
		t.Error("; does not lead out of the list to the pane used last")
	}
	d.Press("ctrl+b", "{", "ctrl+b", ";")
	if d.view.FocusedPane() != d.view.Panes.Pane(all[0].ID) {
		t.Error("a pane that was moved is not the one to go back to")
	}
}
