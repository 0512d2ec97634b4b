package engine

import (
	"context"
	"errors"
	"testing"

	"tandem/engine/api"
)

func paneTab(id string) api.LayoutTab {
	return api.LayoutTab{Nodes: []api.LayoutNode{{ID: id}}}
}

func TestOutdatedLayoutIsRejectedAndChangesAreAnnounced(t *testing.T) {
	t.Parallel()
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
