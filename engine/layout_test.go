package engine

import (
	"context"
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
	var l layouts
	if err := l.load(data); err != nil {
		t.Fatal(err)
	}
	split := api.LayoutTab{Focus: 2, Nodes: []api.LayoutNode{{Axis: api.AxisBeside, Share: 4000}, {ID: "a", Name: "x"}, {ID: "b"}}}
	err = l.change(func(current *keptLayout, saved map[string]api.Layout) error {
		current.layout = &api.Layout{Tabs: []api.LayoutTab{split, paneTab("c")}, Current: 1}
		saved["work"] = api.Layout{Tabs: []api.LayoutTab{paneTab("a")}}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var again layouts
	if err := again.load(data); err != nil {
		t.Fatal(err)
	}
	before, after := l.get(), again.get()
	if before.Revision, after.Revision = 0, 0; after.Current == nil {
		t.Fatal("it is gone")
	}
	if diff := cmp.Diff(before, after); diff != "" {
		t.Error(diff)
	}
	refused := errors.New("refused")
	if err := again.change(func(_ *keptLayout, saved map[string]api.Layout) error { delete(saved, "work"); return refused }); !errors.Is(err, refused) {
		t.Error(err)
	}
	if len(again.get().Saved) != 1 {
		t.Error("a change that failed counts")
	}
}

func TestWhatWasPutAwayIsKeptForAllDashboardsUntilItRunsAgainOrIsGone(t *testing.T) {
	ended := map[string]bool{"a": true, "b": true, "runs": false}
	got := putAway(&api.Layout{Closed: []string{"b", "gone", "runs"}}, api.Layout{Closed: []string{"b", "a"}}, ended)
	if diff := cmp.Diff([]string{"a", "b"}, got); diff != "" {
		t.Error(diff)
	}
	if got := putAway(nil, api.Layout{}, ended); got != nil {
		t.Error(got)
	}
}

func TestALayoutMadeFromAnOlderOneIsRefusedAndOthersAreTold(t *testing.T) {
	m := startMachine(t)
	lay := func(id string) api.Layout { return api.Layout{Tabs: []api.LayoutTab{paneTab(id)}} }
	put := func(id string, revision int64) int64 {
		t.Helper()
		return call(m, api.LayoutPut, api.LayoutPutInput{Layout: lay(id), Revision: revision}).Revision
	}
	if out := call(m, api.LayoutGet, api.Empty{}); out.Revision != 0 {
		t.Errorf("number %d of no layout", out.Revision)
	}
	var told []api.Event
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for e, err := range m.client.Watch(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		switch e.Type {
		case api.EventSnapshot:
			first := put("a", 0)
			second := put("b", first)
			if second <= first || put("b", second) != second {
				t.Errorf("numbers %d, %d", first, second)
			}
			_, err := api.LayoutPut.Call(ctx, m.client, api.LayoutPutInput{Layout: lay("c"), Revision: first})
			if !errors.Is(err, api.CodeConflict) || api.AsError(err).Hint == "" {
				t.Errorf("one made from an older one: %v", err)
			}
			if out := call(m, api.LayoutGet, api.Empty{}); out.Revision != second || out.Current.Tabs[0].Nodes[0].ID != "b" {
				t.Errorf("kept %+v as %d", out.Current, out.Revision)
			}
			call(m, api.LayoutPut, api.LayoutPutInput{Name: "named", Layout: lay("c"), Revision: first})
			put("d", 0)
		case api.EventKept:
			told = append(told, e)
		}
		if len(told) == 3 {
			break
		}
	}
	for i, id := range []string{"a", "b", "d"} {
		if told[i].Layout.Tabs[0].Nodes[0].ID != id || i > 0 && told[i].Revision <= told[i-1].Revision {
			t.Errorf("told of %+v as %d", told[i].Layout, told[i].Revision)
		}
	}
	for e, err := range m.client.Watch(ctx) {
		if err != nil || e.Revision != told[2].Revision || e.Layout.Tabs[0].Nodes[0].ID != "d" {
			t.Errorf("snapshot %+v: %v", e, err)
		}
		break
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
	var l layouts
	if err := l.load(data); err == nil {
		t.Error("a damaged file is no error")
	}
	if _, err := os.Stat(path + ".bad"); err != nil {
		t.Error(err)
	}
	// A layout that is none is left out and costs no other.
	text := `{"schema":1,"current":{"tabs":[{"nodes":[{"axis":"beside"}]}]},"saved":{"ok":{"tabs":[]},"bad":7,"":{"tabs":[]}}}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := l.load(data); err != nil {
		t.Fatal(err)
	}
	if out := l.get(); out.Current != nil || len(out.Saved) != 1 || out.Saved[0].Name != "ok" {
		t.Errorf("%+v", out)
	}
}

func TestALayoutThatIsNoTreeIsRefused(t *testing.T) {
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
	for i := range api.MostTabs + 1 {
		good.Tabs = append(good.Tabs, paneTab(fmt.Sprint(i)))
	}
	if err := good.Check(); !errors.Is(err, api.CodeInvalid) {
		t.Errorf("too many tabs: %v", err)
	}
}
