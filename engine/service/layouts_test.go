package service

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
	err = l.changeLayouts(func(current *layoutState, saved map[string]api.Layout) error {
		current.layout = &api.Layout{Tabs: []api.LayoutTab{split, paneTab("c")}, Current: 1}
		saved["work"] = api.Layout{Tabs: []api.LayoutTab{paneTab("a")}}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	again, err := NewLayouts(data)
	if err != nil {
		t.Fatal(err)
	}
	before, after := l.getLayouts(), again.getLayouts()
	if before.Revision, after.Revision = 0, 0; after.Current == nil {
		t.Fatal("the current layout is missing")
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Error(diff)
	}
	refused := errors.New("refused")
	if err := again.changeLayouts(func(_ *layoutState, saved map[string]api.Layout) error { delete(saved, "work"); return refused }); !errors.Is(err, refused) {
		t.Error(err)
	}
	if len(again.getLayouts().Saved) != 1 {
		t.Error("a failed change took effect")
	}
}

func TestHiddenSessionsOfAllDashboardsAreMerged(t *testing.T) {
	ended := map[string]bool{"a": true, "b": true, "runs": false}
	got := mergeHidden(&api.Layout{Closed: []string{"b", "gone", "runs"}}, api.Layout{Closed: []string{"b", "a"}}, ended)
	if diff := cmp.Diff([]string{"a", "b"}, got); diff != "" {
		t.Error(diff)
	}
	if got := mergeHidden(nil, api.Layout{}, ended); got != nil {
		t.Error(got)
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
		done <- l.changeLayouts(func(_ *layoutState, saved map[string]api.Layout) error { saved["x"] = api.Layout{}; return nil })
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

func TestOutdatedLayoutIsRejectedAndChangesAreAnnounced(t *testing.T) {
	data, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l, c, published := newLayouts(t, data, nil)
	if out := call(t, c, api.LayoutGet, api.Empty{}); out.Revision != 0 || out.Current != nil || out.Saved == nil {
		t.Errorf("without a layout: %+v", out)
	}
	var revisions []int64
	for i, step := range []struct {
		in     api.LayoutPutInput
		base   int // index in revisions of the layout it is based on; -1: none
		events []string
	}{
		{api.LayoutPutInput{Layout: layoutOf("a")}, -1, []string{"kept a"}},
		{api.LayoutPutInput{Layout: layoutOf("b")}, 0, []string{"kept b"}},
		{api.LayoutPutInput{Layout: layoutOf("b")}, 0, nil}, // a repeated call
		{api.LayoutPutInput{Layout: layoutOf("c"), ShowIn: "x"}, 1, []string{"kept c", "layout c"}},
		{api.LayoutPutInput{Name: "named", Layout: layoutOf("d")}, 0, nil},
		{api.LayoutPutInput{Name: "named", Layout: layoutOf("e"), ShowIn: "x"}, -1, []string{"layout e"}},
		{api.LayoutPutInput{Layout: layoutOf("f")}, -1, []string{"kept f"}},
	} {
		if step.base >= 0 {
			step.in.Revision = revisions[step.base]
		}
		*published = nil
		revisions = append(revisions, call(t, c, api.LayoutPut, step.in).Revision)
		var events []string
		for _, e := range *published {
			events = append(events, string(e.Type)+" "+e.Layout.Tabs[0].Nodes[0].ID)
		}
		if !slices.Equal(events, step.events) {
			t.Errorf("step %d published %q, want %q", i, events, step.events)
		}
	}
	if !slices.IsSorted(revisions) || revisions[1] == revisions[0] || revisions[2] != revisions[1] || revisions[4] != revisions[3] || revisions[6] == revisions[5] {
		t.Errorf("revisions are %v", revisions)
	}
	*published = nil
	wantError(t, c, api.LayoutPut, api.LayoutPutInput{Layout: layoutOf("g"), Revision: revisions[0]}, api.CodeConflict, "Call layout.get")
	wantError(t, c, api.LayoutPut, api.LayoutPutInput{Name: "a\nb", Layout: layoutOf("g")}, api.CodeInvalid, "must consist of printable characters")
	wantError(t, c, api.LayoutPut, api.LayoutPutInput{Layout: api.Layout{Tabs: []api.LayoutTab{{}}}}, api.CodeInvalid, "")
	wantError(t, c, api.LayoutRemove, api.LayoutRemoveInput{Name: "none\x1b"}, api.CodeNotFound, "no layout has this name")
	if current, revision := l.Current(); revision != revisions[6] || current.Tabs[0].Nodes[0].ID != "f" || len(*published) > 0 {
		t.Errorf("after rejected calls: %+v as %d, %+v", current, revision, *published)
	}
	call(t, c, api.LayoutRemove, api.LayoutRemoveInput{Name: "named"})
	if out := call(t, c, api.LayoutGet, api.Empty{}); len(out.Saved) != 0 || out.Current == nil {
		t.Errorf("after a removal: %+v", out)
	}
}

// When a dashboard is left, its last call may overtake the one before it.
func TestLastLayoutOfADashboardOverridesACallOnItsWay(t *testing.T) {
	data, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l, c, _ := newLayouts(t, data, nil)
	before := call(t, c, api.LayoutPut, api.LayoutPutInput{Layout: layoutOf("a")}).Revision
	last := call(t, c, api.LayoutPut, api.LayoutPutInput{Layout: layoutOf("a")}).Revision
	wantError(t, c, api.LayoutPut, api.LayoutPutInput{Layout: layoutOf("b"), Revision: before}, api.CodeConflict, "")
	if current, revision := l.Current(); revision != last || current.Tabs[0].Nodes[0].ID != "a" {
		t.Errorf("the layout is %+v as %d, want the last one as %d", current, revision, last)
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
	wantError(t, c, api.LayoutPut, api.LayoutPutInput{Layout: layoutOf("a"), ShowIn: "x"}, api.CodeUnavailable, "no space left")
	wantError(t, c, api.LayoutPut, api.LayoutPutInput{Name: "x", Layout: layoutOf("a")}, api.CodeUnavailable, "no space left")
	if out := l.getLayouts(); out.Current != nil || out.Revision != 0 || len(out.Saved) != 0 || len(*published) != 0 {
		t.Errorf("%+v, %+v", out, *published)
	}
	l.Ended = func(context.Context) (map[string]bool, error) { return nil, api.ErrEnding() }
	if _, err := api.LayoutPut.Call(t.Context(), c, api.LayoutPutInput{Layout: layoutOf("a")}); !api.IsEnding(err) {
		t.Errorf("while the engine stops: %v", err)
	}
}
