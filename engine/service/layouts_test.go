package service

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tandem/engine/api"
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
