package sessions

import (
	"strings"
	"testing"

	"tandem/engine/api"
	"tandem/panes/terminal"
)

func TestPaneOfDeletedSessionIsClosed(t *testing.T) {
	leaf := func(id string) api.LayoutTab { return api.LayoutTab{Nodes: []api.LayoutNode{{ID: id}}} }
	split := func(focus int) api.LayoutTab {
		return api.LayoutTab{Focus: focus, Nodes: []api.LayoutNode{{Axis: api.AxisBeside, Share: 5000}, {ID: "gone"}, {ID: "other"}}}
	}
	floating := leaf("gone")
	scenes := map[string]struct {
		layout api.Layout
		prefix string // a key pressed after the prefix
	}{
		"focused":             {layout: api.Layout{Tabs: []api.LayoutTab{leaf("gone"), leaf("other")}}},
		"last tab":            {layout: api.Layout{Tabs: []api.LayoutTab{leaf("other"), leaf("gone")}, Current: 1}},
		"hidden":              {layout: api.Layout{Tabs: []api.LayoutTab{leaf("other"), leaf("gone")}}},
		"focused in a split":  {layout: api.Layout{Tabs: []api.LayoutTab{split(1)}}},
		"beside the focus":    {layout: api.Layout{Tabs: []api.LayoutTab{split(2)}}},
		"zoomed":              {layout: api.Layout{Tabs: []api.LayoutTab{split(1)}}, prefix: "z"},
		"beside a zoomed one": {layout: api.Layout{Tabs: []api.LayoutTab{split(2)}}, prefix: "z"},
		"floating":            {layout: api.Layout{Tabs: []api.LayoutTab{leaf("other")}, Float: &floating, Floats: true}},
		"hidden floating":     {layout: api.Layout{Tabs: []api.LayoutTab{leaf("other")}, Float: &floating}},
	}
	for name, scene := range scenes {
		for _, order := range []string{
			"exit end delete", "exit delete end", "end exit delete", "end delete exit", "delete exit end", "delete end exit",
			"exit lost delete", "exit delete lost", "lost exit delete", "lost delete exit", "delete exit lost", "delete lost exit",
			"delete",
		} {
			for _, state := range []api.State{api.StateStopped, api.StateFailed} {
				t.Run(strings.Join([]string{name, order, string(state)}, "/"), func(t *testing.T) {
					d := drive(t, &scene.layout, "gone", "other")
					if scene.prefix != "" {
						d.Press("ctrl+b", scene.prefix)
					}
					for _, event := range strings.Fields(order) {
						d.endSession(d.view.Panes.Pane("gone"), event, state)
					}
					d.waitShape("other")
					if p := d.view.FocusedPane(); p == nil || p.ID != "other" {
						t.Errorf("the remaining session is not focused")
					}
					if d.view.Tabs.Float != nil || d.view.Panes.isAttached("gone") {
						t.Errorf("the pane of the deleted session remains")
					}
				})
			}
		}
	}
}

// endSession reports one event of the end of a session: its exit, the end of its attachment, the
// loss of its attachment after its deletion, or the deletion.
func (d *driver) endSession(p *terminal.Pane, event string, state api.State) {
	ended := newSession(p.ID, p.ID)
	ended.State = state
	announce := func(e api.Event) {
		serial := d.view.env.News().Serial
		d.Announce(e)
		d.Wait("the news has arrived", func() bool { return d.view.env.News().Serial != serial })
	}
	switch event {
	case "exit":
		announce(api.Event{Type: api.EventProcess, Process: &ended})
	case "delete":
		announce(api.Event{Type: api.EventRemoved, ID: p.ID})
	case "end":
		p.Feed.Receive(api.Output{Ended: &ended})
	case "lost":
		p.Feed.Fail(api.Errorf(api.CodeNotFound, "find session %q: there is none", p.ID))
	}
	d.Run(d.view.Sync())
}

func TestPaneWithFailedAttachmentSaysWhyUntilClosed(t *testing.T) {
	for name, code := range map[string]api.Code{"conflict": api.CodeConflict, "unknown session": api.CodeNotFound} {
		t.Run(name, func(t *testing.T) {
			d := drive(t, nil, "other")
			d.view.OpenSession("unknown")
			p := d.view.FocusedPane()
			p.Feed.Fail(api.Errorf(code, "cannot show it"))
			d.Run(d.view.Sync())
			other := newSession("third", "third")
			d.Announce(api.Event{Type: api.EventProcess, Process: &other})
			d.waitShape("other  third")
			d.WaitText("cannot show it")
			d.WaitText("x close")
			d.Press("ctrl+b", "x")
			d.waitShape("other third")
		})
	}
}

// Another dashboard may close a session before this one has news of its exit.
func TestClosedSessionIsShownAgainOnlyWhenItRunsAgain(t *testing.T) {
	d := drive(t, nil, "a", "b")
	announce := func(s api.State) {
		p := newSession("b", "b")
		p.State = s
		d.Announce(api.Event{Type: api.EventProcess, Process: &p})
	}
	d.Announce(api.Event{Type: api.EventLayout, Revision: 1, Changes: []api.LayoutChange{{Do: api.LayoutClose, ID: "b", Hide: true}}})
	d.waitShape("a")
	announce(api.StateRunning)
	announce(api.StateFailed)
	d.Wait("the exit is known", func() bool { p, _ := d.view.env.News().Process("b"); return p.State == api.StateFailed })
	d.waitShape("a")
	if !d.view.Tabs.IsClosed("b") {
		t.Error("it is listed")
	}
	announce(api.StateRunning)
	d.waitShape("a b")
}
