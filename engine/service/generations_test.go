package service

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/persist/store"
	"tandem/tests/seed"
)

// layoutFrom returns a layout with a tab for each word, and a pane for each of its letters.
func layoutFrom(tabs ...string) api.Layout {
	l := api.Layout{}
	for _, tab := range tabs {
		var t api.LayoutTab
		for i, id := range tab {
			if i < len(tab)-1 {
				t.Nodes = append(t.Nodes, api.LayoutNode{Axis: api.AxisBeside, Share: 5000})
			}
			t.Nodes = append(t.Nodes, api.LayoutNode{ID: string(id)})
		}
		l.Tabs = append(l.Tabs, t)
	}
	return l
}

// tabsOf is the inverse of layoutFrom.
func tabsOf(l *api.Layout) string {
	var tabs []string
	for _, t := range l.Tabs {
		tab := ""
		for _, n := range t.Nodes {
			tab += n.ID
		}
		tabs = append(tabs, tab)
	}
	return strings.Join(tabs, " ")
}

func wantedIDs(ids string) map[string]bool {
	wanted := map[string]bool{}
	for _, id := range ids {
		wanted[string(id)] = true
	}
	return wanted
}

// A diskOfLayouts keeps layouts.json in memory, and may be full.
type diskOfLayouts struct {
	kept store.Layouts
	full bool
}

func (d *diskOfLayouts) LoadLayouts() (store.Layouts, error) { return d.kept, nil }

func (d *diskOfLayouts) SaveLayouts(l store.Layouts) error {
	if d.full {
		return errors.New("no space left on device")
	}
	d.kept = l
	return nil
}

// reopen returns the layouts as the next engine loads them.
func (d *diskOfLayouts) reopen(t *testing.T) *Layouts {
	t.Helper()
	l, err := NewLayouts(d)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// put saves a layout as a dashboard does.
func put(l *Layouts, layout api.Layout) error {
	return l.changeLayouts(func(current *layoutState, _ map[string]api.Layout) error {
		_, err := current.replace(api.LayoutPutInput{Layout: layout}, nil)
		return err
	})
}

func TestFullestLayoutComesBack(t *testing.T) {
	for name, c := range map[string]struct {
		put    []api.Layout
		wanted string
		want   string
	}{
		"nothing lost":                      {[]api.Layout{layoutFrom("ab", "c")}, "abc", "ab c"},
		"an empty layout over a full one":   {[]api.Layout{layoutFrom("ab", "c"), {}}, "abc", "ab c"},
		"panes closed one by one":           {[]api.Layout{layoutFrom("ab", "c"), layoutFrom("a", "c"), layoutFrom("c"), {}}, "abc", "ab c"},
		"closed on purpose":                 {[]api.Layout{layoutFrom("ab", "c"), layoutFrom("ab")}, "ab", "ab"},
		"the newest of several":             {[]api.Layout{layoutFrom("ab", "c"), layoutFrom("abd"), layoutFrom("abc"), layoutFrom("a")}, "abc", "abc"},
		"the same sessions, another layout": {[]api.Layout{layoutFrom("ab", "c"), layoutFrom("c", "ab")}, "abc", "c ab"},
		"no session left":                   {[]api.Layout{layoutFrom("ab"), layoutFrom("c")}, "", "c"},
	} {
		disk := &diskOfLayouts{}
		l := disk.reopen(t)
		for _, layout := range c.put {
			if err := put(l, layout); err != nil {
				t.Fatal(err)
			}
		}
		l = disk.reopen(t)
		_, before := l.Current()
		if err := l.Recover(wantedIDs(c.wanted)); err != nil {
			t.Fatal(err)
		}
		for range 2 { // as it is now, and as the next engine finds it
			got, revision := l.Current()
			if last := c.put[len(c.put)-1]; tabsOf(got) != c.want || tabsOf(&last) != c.want && revision <= before {
				t.Errorf("%s: %s with revision %d after %d, want %s", name, tabsOf(got), revision, before, c.want)
			}
			l = disk.reopen(t)
		}
	}
}

func TestClosingManyPanesKeepsTheLayoutThatHadThem(t *testing.T) {
	disk := &diskOfLayouts{}
	l := disk.reopen(t)
	const all = "abcdefghijklmnopqrstuvwxyz"
	for n := len(all); n >= 0; n-- {
		if err := put(l, layoutFrom(strings.Split(all[:n], "")...)); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(disk.kept.Earlier); n > maxEarlier {
		t.Errorf("%d earlier layouts are kept", n)
	}
	l = disk.reopen(t)
	if err := l.Recover(wantedIDs(all)); err != nil {
		t.Fatal(err)
	}
	if got, _ := l.Current(); len(got.Tabs) != len(all) {
		t.Errorf("%d tabs come back", len(got.Tabs))
	}
}

func TestRecoveredLayoutListsItsSessionsAgain(t *testing.T) {
	disk := &diskOfLayouts{}
	l := disk.reopen(t)
	layout := layoutFrom("a")
	layout.Closed = []string{"b", "c"}
	err := l.changeLayouts(func(current *layoutState, _ map[string]api.Layout) error {
		current.layout, current.revision = &layout, 1
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Recover(wantedIDs("ab")); err != nil {
		t.Fatal(err)
	}
	if got, _ := l.Current(); !slices.Equal(got.Closed, []string{"c"}) {
		t.Errorf("closed sessions are %q", got.Closed)
	}
}

// TestLayoutSurvivesAnyShutdown lets programs exit, a dashboard save what it still sees, the disk
// fill up and the engine die in random orders, while the user closes nothing.
func TestLayoutSurvivesAnyShutdown(t *testing.T) {
	const all, full = "abcdefghijkl", "abc def gh ijkl"
	random := seed.Rand(t)
	for order := range 200 {
		disk := &diskOfLayouts{}
		l := disk.reopen(t)
		if err := put(l, layoutFrom(strings.Fields(full)...)); err != nil {
			t.Fatal(err)
		}
		left := full
		var steps []string
		for range 30 {
			step := []string{"exit", "save", "fill", "kill"}[random.IntN(4)]
			steps = append(steps, step)
			switch step {
			case "exit":
				left = strings.ReplaceAll(left, string(all[random.IntN(len(all))]), "")
			case "save":
				_ = put(l, layoutFrom(strings.Fields(left)...)) // fails on a full disk
			case "fill":
				disk.full = true
			case "kill":
				l = disk.reopen(t)
			}
		}
		disk.full = random.IntN(2) == 0
		l = disk.reopen(t)
		_ = l.Recover(wantedIDs(all)) // fails on a full disk
		if got, _ := l.Current(); tabsOf(got) != full {
			t.Fatalf("order %d, %s: %q came back", order, strings.Join(steps, " "), tabsOf(got))
		}
	}
}
