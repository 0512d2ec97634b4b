package service

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
	"tandem/engine/api/server"
	"tandem/persist/store"
)

func paneTab(id string) api.LayoutTab {
	return api.LayoutTab{Nodes: []api.LayoutNode{{ID: id}}}
}

func TestLayoutsSurviveTheEngine(t *testing.T) {
	dir := t.TempDir()
	data, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	l, err := NewLayouts(data)
	if err != nil {
		t.Fatal(err)
	}
	split := api.LayoutTab{Focus: 2, Nodes: []api.LayoutNode{{Axis: api.AxisBeside, Share: 4000}, {ID: "a", Name: "x"}, {ID: "b"}}}
	kept := layoutState{api.Layout{Tabs: []api.LayoutTab{split, paneTab("c")}, Current: 1}, 7}
	if err := l.save(&kept, map[string]api.Layout{"work": layoutOf("a")}); err != nil {
		t.Fatal(err)
	}
	again, err := NewLayouts(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(l.getLayouts(), again.getLayouts()); diff != "" {
		t.Error(diff)
	}
	refused := errors.New("refused")
	if err := again.changeSaved(func(saved map[string]api.Layout) error { delete(saved, "work"); return refused }); !errors.Is(err, refused) {
		t.Error(err)
	}
	if len(again.getLayouts().Saved) != 1 {
		t.Error("a failed change took effect")
	}
}

func TestDamagedLayoutsAreSetAside(t *testing.T) {
	dir := t.TempDir()
	data, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "layouts.json")
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := NewLayouts(data); err == nil {
		t.Error("no error for a damaged file")
	}
	if _, err := os.Stat(path + ".bad"); err != nil {
		t.Error(err)
	}
	// An invalid layout is dropped without affecting the others.
	text := `{"schema":1,"current":{"tabs":[{"nodes":[{"axis":"beside"}]}]},"saved":{"ok":{"tabs":[]},"bad":7,"":{"tabs":[]}}}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := NewLayouts(data)
	if err != nil {
		t.Fatal(err)
	}
	if out := l.getLayouts(); out.Current != nil || len(out.Saved) != 1 || out.Saved[0].Name != "ok" {
		t.Errorf("%+v", out)
	}
}

func TestLayoutCheckRejectsInvalidTrees(t *testing.T) {
	split := api.LayoutNode{Axis: api.AxisBelow, Share: 5000}
	pane := api.LayoutNode{ID: "a"}
	for i, nodes := range [][]api.LayoutNode{
		{}, {split}, {split, pane}, {pane, pane}, {split, pane, pane, pane}, {{Axis: "across"}, pane, pane},
		{{Axis: api.AxisBelow, Share: -1}, pane, pane}, {{Axis: api.AxisBelow, Share: 10_001}, pane, pane},
	} {
		if err := (api.Layout{Tabs: []api.LayoutTab{{Nodes: nodes}}}).Check(); !errors.Is(err, api.CodeInvalid) {
			t.Errorf("%d: %v", i, err)
		}
	}
	good := api.Layout{Tabs: []api.LayoutTab{{Nodes: []api.LayoutNode{split, pane, split, pane, pane}}}}
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	for i := range api.MaxTabs + 1 {
		good.Tabs = append(good.Tabs, paneTab(fmt.Sprint(i)))
	}
	if err := good.Check(); !errors.Is(err, api.CodeInvalid) {
		t.Errorf("too many tabs: %v", err)
	}
}

func TestReadingLayoutsDoesNotWaitForTheDisk(t *testing.T) {
	saving, saved := make(chan struct{}), make(chan struct{})
	l, err := NewLayouts(slowLayouts{saving, saved})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		done <- l.changeSaved(func(saved map[string]api.Layout) error { saved["x"] = api.Layout{}; return nil })
	}()
	<-saving
	if got := l.getLayouts(); len(got.Saved) != 0 {
		t.Errorf("%+v before it is on disk", got)
	}
	saved <- struct{}{}
	if err := <-done; err != nil || len(l.getLayouts().Saved) != 1 {
		t.Errorf("%+v, %v", l.getLayouts(), err)
	}
}

// A slowLayouts blocks each write until saved receives a token.
type slowLayouts struct{ saving, saved chan struct{} }

func (slowLayouts) LoadLayouts() (store.Layouts, error) { return store.Layouts{}, nil }
func (s slowLayouts) SaveLayouts(store.Layouts) error {
	s.saving <- struct{}{}
	<-s.saved
	return nil
}

// newLayouts returns layouts on disk, a client of them, and the events that they publish.
func newLayouts(t *testing.T, disk layoutStore, ended map[string]bool) (*Layouts, client, *[]api.Event) {
	t.Helper()
	l, err := NewLayouts(disk)
	if err != nil {
		t.Fatal(err)
	}
	var published []api.Event
	l.Ended = func(context.Context) (map[string]bool, error) { return ended, nil }
	l.Publish = func(e api.Event) { published = append(published, e) }
	c := client{mux: server.NewMux(nil)}
	l.Handle(c.mux)
	return l, c, &published
}

func layoutOf(id string) api.Layout { return api.Layout{Tabs: []api.LayoutTab{paneTab(id)}} }

func addTab(id string) api.LayoutChange {
	return api.LayoutChange{Do: api.LayoutArrange, Nodes: []api.LayoutNode{{ID: id}}, Own: api.OwnEnd}
}

func TestChangesAreNumberedAndAnnounced(t *testing.T) {
	data, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l, c, published := newLayouts(t, data, map[string]bool{"a": false, "b": true})
	if out := call(t, c, api.LayoutGet, api.Empty{}); out.Revision != 0 || out.Current != nil || out.Saved == nil {
		t.Errorf("without a layout: %+v", out)
	}
	focus := api.LayoutChange{Do: api.LayoutFocus, ID: "a", Zoomed: true}
	var last int64
	for i, step := range []struct {
		in     api.LayoutChangeInput
		events string
	}{
		{api.LayoutChangeInput{Changes: []api.LayoutChange{addTab("a"), addTab("b")}}, "layout 2"},
		{api.LayoutChangeInput{Changes: []api.LayoutChange{addTab("b")}}, ""}, // a repeated call
		{api.LayoutChangeInput{Changes: []api.LayoutChange{focus}}, ""},
		{api.LayoutChangeInput{Changes: []api.LayoutChange{addTab("c"), focus}, Show: "c", ShowIn: "a"}, "layout 2 show c in a"},
		{api.LayoutChangeInput{Show: "c", ShowIn: "a"}, "show c in a"},
		{api.LayoutChangeInput{Changes: []api.LayoutChange{{Do: api.LayoutClose, ID: "a", Hide: true}, {Do: api.LayoutClose, ID: "b", Hide: true}}}, "layout 2"},
	} {
		*published = nil
		out := call(t, c, api.LayoutChanges, step.in)
		var events []string
		for _, e := range *published {
			switch e.Type {
			case api.EventLayout:
				events = append(events, fmt.Sprint("layout ", len(e.Changes)))
				if e.Revision != out.Revision || e.Revision <= last {
					t.Errorf("step %d is number %d, announced as %d after %d", i, out.Revision, e.Revision, last)
				}
			case api.EventShow:
				events = append(events, "show "+e.Show+" in "+e.ID)
			}
		}
		if got := strings.Join(events, " "); got != step.events {
			t.Errorf("step %d published %q, want %q", i, got, step.events)
		}
		if !strings.HasPrefix(step.events, "layout") && out.Revision != last {
			t.Errorf("step %d changed the number from %d to %d", i, last, out.Revision)
		}
		last = out.Revision
	}
	again, err := NewLayouts(data)
	if err != nil {
		t.Fatal(err)
	}
	want := &api.Layout{Tabs: []api.LayoutTab{paneTab("c")}, Closed: []string{"b"}, Zoomed: true} // a runs
	for _, l := range []*Layouts{l, again} {
		if got, revision := l.Current(); !cmp.Equal(got, want) || revision != last {
			t.Errorf("%+v as %d, want %+v as %d", got, revision, want, last)
		}
	}
	*published = nil
	wantError(t, c, api.LayoutChanges, api.LayoutChangeInput{Changes: []api.LayoutChange{addTab("d"), {Do: api.LayoutArrange}}}, api.CodeInvalid, "")
	wantError(t, c, api.LayoutPut, api.LayoutPutInput{Name: "a\nb", Layout: layoutOf("g")}, api.CodeInvalid, "must consist of printable characters")
	wantError(t, c, api.LayoutPut, api.LayoutPutInput{Name: "x", Layout: api.Layout{Tabs: []api.LayoutTab{{}}}}, api.CodeInvalid, "")
	wantError(t, c, api.LayoutRemove, api.LayoutRemoveInput{Name: "none\x1b"}, api.CodeNotFound, "no layout has this name")
	if got, revision := l.Current(); !cmp.Equal(got, want) || revision != last || len(*published) > 0 {
		t.Errorf("after rejected calls: %+v as %d, %+v", got, revision, *published)
	}
	call(t, c, api.LayoutPut, api.LayoutPutInput{Name: "named", Layout: layoutOf("d")})
	call(t, c, api.LayoutRemove, api.LayoutRemoveInput{Name: "named"})
	if out := call(t, c, api.LayoutGet, api.Empty{}); len(out.Saved) != 0 || out.Current == nil {
		t.Errorf("after a removal: %+v", out)
	}
}

func TestDashboardOfAnOlderReleaseIsToldOnceToRestart(t *testing.T) {
	l, c, published := newLayouts(t, memoryLayouts{}, nil)
	call(t, c, api.LayoutChanges, api.LayoutChangeInput{Changes: []api.LayoutChange{addTab("a")}})
	*published = nil
	for range 2 {
		wantError(t, c, api.LayoutPut, api.LayoutPutInput{Layout: layoutOf("b")}, api.CodeConflict, "Restart the dashboard.")
	}
	if len(*published) != 1 || !strings.Contains((*published)[0].Notice, "restart the dashboard") {
		t.Errorf("published %+v", *published)
	}
	if got, _ := l.Current(); got.Tabs[0].Nodes[0].ID != "a" {
		t.Errorf("the layout is %+v", got)
	}
}

func TestPanesOfExitedSessionsAreLimited(t *testing.T) {
	ended := map[string]bool{"open": false}
	l, c, _ := newLayouts(t, memoryLayouts{}, ended)
	changes := []api.LayoutChange{addTab("open")}
	for i := range maxGone + 5 {
		ended[fmt.Sprint(i)] = true
		changes = append(changes, addTab(fmt.Sprint(i)))
	}
	call(t, c, api.LayoutChanges, api.LayoutChangeInput{Changes: changes})
	got, _ := l.Current()
	if len(got.Tabs) != maxGone+1 || got.Tabs[0].Nodes[0].ID != "open" || got.Tabs[1].Nodes[0].ID != "5" {
		t.Errorf("%d tabs are left, the first of %+v and %+v", len(got.Tabs), got.Tabs[0], got.Tabs[1])
	}
}

func TestSavedLayoutsAreLimited(t *testing.T) {
	_, c, _ := newLayouts(t, memoryLayouts{}, nil)
	for i := range maxLayouts {
		call(t, c, api.LayoutPut, api.LayoutPutInput{Name: fmt.Sprint("layout ", i), Layout: layoutOf("a")})
	}
	wantError(t, c, api.LayoutPut, api.LayoutPutInput{Name: "one more", Layout: layoutOf("a")}, api.CodeInvalid, "200 layouts are already saved")
	call(t, c, api.LayoutPut, api.LayoutPutInput{Name: "layout 7", Layout: layoutOf("b")})
	if out := call(t, c, api.LayoutGet, api.Empty{}); len(out.Saved) != maxLayouts {
		t.Errorf("saved %d", len(out.Saved))
	}
}

// A memoryLayouts accepts layouts and keeps none.
type memoryLayouts struct{}

func (memoryLayouts) LoadLayouts() (store.Layouts, error) { return store.Layouts{}, nil }
func (memoryLayouts) SaveLayouts(store.Layouts) error     { return nil }

func TestLayoutsStayUnchangedIfTheyCannotBeSaved(t *testing.T) {
	l, c, published := newLayouts(t, fullDisk{}, nil)
	change := api.LayoutChangeInput{Changes: []api.LayoutChange{addTab("a")}, Show: "a", ShowIn: "x"}
	wantError(t, c, api.LayoutChanges, change, api.CodeUnavailable, "no space left")
	wantError(t, c, api.LayoutPut, api.LayoutPutInput{Name: "x", Layout: layoutOf("a")}, api.CodeUnavailable, "no space left")
	if out := l.getLayouts(); out.Current != nil || out.Revision != 0 || len(out.Saved) != 0 || len(*published) != 0 {
		t.Errorf("%+v, %+v", out, *published)
	}
	l.Ended = func(context.Context) (map[string]bool, error) { return nil, api.ErrEnding() }
	if _, err := api.LayoutChanges.Call(t.Context(), c, change); !api.IsEnding(err) {
		t.Errorf("while the engine stops: %v", err)
	}
}

func TestLayoutInUseIsNotChangedInPlace(t *testing.T) {
	ended := map[string]bool{"a": true, "b": true}
	l, c, _ := newLayouts(t, memoryLayouts{}, ended)
	call(t, c, api.LayoutChanges, api.LayoutChangeInput{Changes: []api.LayoutChange{
		{Do: api.LayoutClose, ID: "a", Hide: true}, {Do: api.LayoutClose, ID: "b", Hide: true}, addTab("c")}})
	before, _ := l.Current()
	ended["a"] = false // it runs again
	call(t, c, api.LayoutChanges, api.LayoutChangeInput{Show: "c", ShowIn: "c"})
	if now, _ := l.Current(); !slices.Equal(before.Closed, []string{"a", "b"}) || !slices.Equal(now.Closed, []string{"b"}) {
		t.Errorf("closed are now %q, and were %q", now.Closed, before.Closed)
	}
}
