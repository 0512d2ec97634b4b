package server

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"tandem/ui/cli/tmux/cells"
)

func TestConcurrentCallsLoseNoChange(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tmux", "default")
	var all sync.WaitGroup
	for n := range 40 {
		all.Go(func() {
			f := NewFile(path)
			if err := f.Acquire(); err != nil {
				t.Error(err)
				return
			}
			f.Buffers = append(f.Buffers, Buffer{Name: fmt.Sprint(n)})
			f.Next.Buffer++
			if err := f.Release(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	f := NewFile(path)
	if err := f.Acquire(); err != nil {
		t.Fatal(err)
	}
	if len(f.Buffers) != 40 || f.Next.Buffer != 40 {
		t.Errorf("%d buffers and counter %d after 40 concurrent calls; want 40", len(f.Buffers), f.Next.Buffer)
	}
	if err := f.Release(); err != nil {
		t.Error(err)
	}
}

// newFinder returns a finder for two sessions: work, with windows 0 (panes 0 and 1) and 3 (pane 2),
// and other, with pane 3. The default target is pane 0.
func newFinder() Finder {
	window := func(id, index int, name string, panes ...int) *Window {
		w := &Window{ID: id, Index: index, Name: name}
		for _, p := range panes {
			w.Panes = append(w.Panes, &Pane{ID: p})
			if w.Layout == nil {
				w.Layout = cells.New(p, 80, 24)
			} else {
				w.Layout, _ = w.Layout.Split(w.Layout.Leaves()[0], p, cells.Split{Axis: cells.Beside})
			}
		}
		return w
	}
	work := &Session{ID: 0, Name: "work", Windows: []*Window{window(0, 0, "vim", 0, 1), window(1, 3, "logs", 2)}, Stack: []int{0, 1}}
	other := &Session{ID: 1, Name: "other", Windows: []*Window{window(2, 0, "sh", 3)}}
	state := &State{Sessions: []*Session{work, other}, Next: Counters{2, 3, 4, 0}}
	return Finder{State: state, Default: Target{Session: work, Window: work.Windows[0], Pane: work.Windows[0].Panes[0]}}
}

func TestFindTargetResolvesPanes(t *testing.T) {
	for target, want := range map[string]int{
		"": 0, "work": 0, "=work": 0, "wo": 0, "o*": 3, "$1": 3, "@1": 2, "%3": 3, ":3": 2, "work:logs": 2, "work:lo": 2,
		":0.1": 1, ".1": 1, "1": 1, "other:0.0": 3, "work:3.0": 2,
	} {
		at, err := newFinder().FindTarget(target, TargetPane)
		if err != nil || at.Pane.ID != want {
			t.Errorf("FindTarget(%q) = %+v, %v; want pane %d", target, at.Pane, err, want)
		}
	}
}

func TestFindTargetRejectsTokensAndOffsetsByName(t *testing.T) {
	for target, part := range map[string]string{
		"{last}": "{last}", "work:{end}": "{end}", ":!": "!", "work:^": "^", "work:$": "$", ":+": "+", ":.-1": "-1", "{top-left}": "{top-left}",
	} {
		if _, err := newFinder().FindTarget(target, TargetPane); err == nil || err.Error() != "target "+part+" is not supported by tandem; use an index, name or id" {
			t.Errorf("FindTarget(%q) = %v", target, err)
		}
	}
}

func TestFindTargetErrorNamesTheMissingPart(t *testing.T) {
	for target, want := range map[string]string{
		"nope:": "can't find session: nope", "=wor:": "can't find session: wor", "work:9": "can't find window: 9", "@9": "can't find window: @9",
		"%9": "can't find pane: %9", "nope": "can't find pane: nope", ".7": "can't find pane: 7",
	} {
		if _, err := newFinder().FindTarget(target, TargetPane); err == nil || err.Error() != want {
			t.Errorf("FindTarget(%q) = %v, want %s", target, err, want)
		}
	}
}
