package server

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"tandem/ui/cli/tmux/cells"
)

func TestCallsAtTheSameTimeLoseNoChange(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tmux", "default")
	var all sync.WaitGroup
	for n := range 40 {
		all.Go(func() {
			f, err := Open(path)
			if err != nil {
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
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Buffers) != 40 || f.Next.Buffer != 40 {
		t.Errorf("%d changes are kept, and %d numbers were given; want 40", len(f.Buffers), f.Next.Buffer)
	}
	if err := f.Release(); err != nil {
		t.Error(err)
	}
}

// place is a server with two sessions: work with the windows 0 (panes 0 and 1) and 3, and other.
func place() Finder {
	window := func(id, index int, name string, panes ...int) *Window {
		w := &Window{ID: id, Index: index, Name: name}
		for _, p := range panes {
			w.Panes = append(w.Panes, &Pane{ID: p})
			if w.Layout == nil {
				w.Layout = cells.New(p, 80, 24)
			} else {
				w.Layout, _ = w.Layout.Split(w.Layout.Panes()[0], p, cells.Split{Axis: cells.Beside})
			}
		}
		return w
	}
	work := &Session{ID: 0, Name: "work", Windows: []*Window{window(0, 0, "vim", 0, 1), window(1, 3, "logs", 2)}, Stack: []int{0, 1}}
	other := &Session{ID: 1, Name: "other", Windows: []*Window{window(2, 0, "sh", 3)}}
	state := &State{Sessions: []*Session{work, other}, Next: Numbers{2, 3, 4, 0}}
	return Finder{State: state, Here: Place{Session: work, Window: work.Windows[0], Pane: work.Windows[0].Panes[0]}}
}

func TestTargetsNamePanes(t *testing.T) {
	for target, want := range map[string]int{
		"": 0, "work": 0, "=work": 0, "wo": 0, "o*": 3, "$1": 3, "@1": 2, "%3": 3, ":3": 2, "work:logs": 2, "work:lo": 2,
		":0.1": 1, ".1": 1, "1": 1, ":.+": 1, "{next}": 1, "{previous}": 1, "{right-of}": 1,
		":+": 2, ":-": 2, ":^": 0, ":$": 2, ":!": 2, "other:0.0": 3, "work:3.0": 2,
	} {
		at, err := place().Find(target, WantPane)
		if err != nil || at.Pane.ID != want {
			t.Errorf("%q is %+v, %v; want pane %d", target, at.Pane, err, want)
		}
	}
}

func TestTargetThatIsNotThereIsNamed(t *testing.T) {
	for target, want := range map[string]string{
		"nope:": "can't find session: nope", "=wor:": "can't find session: wor", "work:9": "can't find window: 9", "@9": "can't find window: @9",
		"%9": "can't find pane: %9", "nope": "can't find pane: nope", "{marked}": "no marked target", ".7": "can't find pane: 7", "{top-left}": "can't find pane: {top-left}",
	} {
		if _, err := place().Find(target, WantPane); err == nil || err.Error() != want {
			t.Errorf("%q gives %v, want %s", target, err, want)
		}
	}
}
