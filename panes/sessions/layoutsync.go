// Several dashboards share one saved layout, and each may change it. The engine numbers
// its versions: a dashboard sends its change with the number of the version it is based
// on, and a change based on an older one is rejected. The dashboard then adopts the newer
// layout and sends what remains of its own change.
//
// A session that starts or exits changes the layout in every dashboard at once. If each
// sent that, the last to do so would undo what the user had done in another one meanwhile.
// So only changes made by the user are sent (see applyUnrequested).

package sessions

import (
	"context"
	"errors"
	"reflect"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/sessions/layout"
)

// layoutSync keeps the layout of this dashboard and the engine's in step.
type layoutSync struct {
	v         *View
	restored  bool       // the saved layout was applied
	changed   bool       // the layout may differ from saved
	saved     api.Layout // the layout the engine has
	unsaved   bool       // saved includes a focus change not sent yet
	revision  int64      // version of saved, or of the one it is based on
	saving    bool       // a request is running
	conflict  bool       // another dashboard saved first; its layout must be adopted
	snapshots int        // number of the last snapshot seen
}

// nextPut returns the next layout to send, if there is one. Only one request runs at a
// time; changes made meanwhile are part of the next.
func (k *layoutSync) nextPut(now func() (api.Layout, bool)) (in api.LayoutPutInput, ok bool) {
	if k.conflict || !k.changed || k.saving {
		return in, false
	}
	k.changed = false
	l, ok := now()
	if !ok || reflect.DeepEqual(l, k.saved) {
		return in, false
	}
	k.saved, k.saving, k.unsaved = l, true, false
	return api.LayoutPutInput{Layout: l, Revision: k.revision}, true
}

// lastPut returns the layout to send when the user detaches, if there is one.
func (k *layoutSync) lastPut(now api.Layout) (in api.LayoutPutInput, ok bool) {
	in = api.LayoutPutInput{Layout: now, Revision: k.revision}
	// The new revision of the layout being saved is not known yet.
	if k.saving {
		in.Revision = 0
	}
	return in, k.saving || k.unsaved || !reflect.DeepEqual(now, k.saved)
}

// layoutPutMsg is the result of sending the layout.
type layoutPutMsg struct {
	revision int64
	err      error
}

// finishPut handles the result. After an error the layout is sent again with the next
// change. After a conflict the other dashboard's layout is adopted first.
func (k *layoutSync) finishPut(msg layoutPutMsg) {
	k.saving = false
	switch {
	case errors.Is(msg.err, api.CodeConflict):
		k.conflict, k.changed = true, true
	case msg.err != nil:
		k.saved = api.Layout{}
	default:
		k.revision = msg.revision
	}
}

// newerLayout returns the layout saved by another dashboard since this one's; nil if there
// is none, or while a request is running and its revision is unknown.
func (k *layoutSync) newerLayout(news *panes.News) *api.Layout {
	// Another engine may have taken over, with fewer revisions.
	if news.Snapshots != k.snapshots {
		k.snapshots, k.conflict = news.Snapshots, false
		k.revision = min(k.revision, news.Revision)
	}
	if k.saving || news.Layout == nil || news.Revision <= k.revision {
		return nil
	}
	return news.Layout
}

// sendLayout sends a changed layout, but not in the middle of a drag or of a start.
func (k *layoutSync) sendLayout() tea.Cmd {
	if !k.v.isOpen || !k.v.env.News().Connected || k.v.grab.dragged != nil || len(k.v.Launcher.starting) > 0 {
		return nil
	}
	in, ok := k.nextPut(k.layoutToSave)
	if !ok {
		return nil
	}
	return panes.Call(k.v.env, func(ctx context.Context, e panes.Engine) tea.Msg {
		kept, err := api.LayoutPut.Call(ctx, e, in)
		return layoutPutMsg{kept.Revision, err}
	}, func(err error) tea.Msg { return layoutPutMsg{err: err} })
}

// applyUnrequested runs a change of the layout that the user did not ask for, because a
// session started or exited. Every dashboard makes the same change, so none sends it: that
// would undo the user's changes in another one. An unsent change of focus is sent with the
// next change, or by saveLast.
func (k *layoutSync) applyUnrequested(change func()) {
	kept := k.v.isOpen && !k.changed && len(k.saved.Tabs) > 0
	if kept && !k.unsaved {
		now, _ := k.layoutToSave()
		k.unsaved = !reflect.DeepEqual(now, k.saved)
	}
	change()
	if kept {
		k.saved, _ = k.layoutToSave()
		k.changed = false
	}
}

// saveLast saves the layout when the user detaches, if it differs from the saved one.
func (k *layoutSync) saveLast(ctx context.Context) {
	now, ok := k.layoutToSave()
	in, changed := k.lastPut(now)
	if !ok || !changed {
		return
	}
	if e, err := k.v.env.Engine(ctx); err == nil {
		// There is no way left to report an error.
		_ = api.LayoutPut.Run(ctx, e, in)
	}
}

// currentLayout describes the tabs and the hidden sessions.
func (k *layoutSync) currentLayout() api.Layout {
	processes := k.v.env.News().ByID()
	l := k.v.Tabs.WriteLayout(func(id string) string {
		if p := processes[id]; p != nil {
			return p.Name
		}
		return ""
	})
	l.Closed = k.v.List.ListHidden()
	return l
}

// layoutToSave returns the layout for the next dashboard. Once all sessions have exited,
// it keeps the last arrangement. ok is false if there is nothing to save.
func (k *layoutSync) layoutToSave() (l api.Layout, ok bool) {
	l = k.currentLayout()
	if len(l.Tabs) == 0 {
		l.Tabs, l.Current, l.Float = k.saved.Tabs, k.saved.Current, k.saved.Float
	}
	return l, len(l.Tabs) > 0 || len(l.Closed) > 0
}

// restoreLayout applies the saved layout once the sessions are known.
func (k *layoutSync) restoreLayout() {
	news := k.v.env.News()
	if k.restored || !news.Connected {
		return
	}
	k.restored = true
	k.revision, k.snapshots = news.Revision, news.Snapshots
	if l := news.Layout; l != nil {
		k.saved = *l
		for _, id := range l.Closed {
			k.v.List.HideSession(id)
		}
		k.v.Tabs.ApplyLayout(*l, news.WithLayout(*l))
	}
}

// initialTab returns the tab to open with: the one shown last.
func (k *layoutSync) initialTab() *layout.Tab {
	l := k.saved
	if l.Current < len(l.Tabs) {
		for _, n := range l.Tabs[l.Current].Nodes {
			if t, _ := k.v.Tabs.FindSession(n.ID); t != nil {
				return t
			}
		}
	}
	return k.v.Tabs.All[0]
}

// followOthers adopts a layout saved by another dashboard, but not during a drag.
func (k *layoutSync) followOthers() {
	l := k.newerLayout(k.v.env.News())
	if l == nil || !k.v.isOpen || k.v.grab.dragged != nil {
		return
	}
	k.revision, k.conflict = k.v.env.News().Revision, false
	changed := k.changed
	k.adoptLayout(*l)
	if k.changed = changed; !changed {
		k.saved, _ = k.layoutToSave()
	}
}

// adoptLayout arranges sessions as in l and hides those hidden there. The shown tab and
// the focus stay. Sessions missing in l keep their neighbours.
func (k *layoutSync) adoptLayout(l api.Layout) {
	for _, id := range l.Closed {
		if p, ok := k.v.env.News().Process(id); ok && p.State.Ended() && k.v.List.HideSession(id) {
			// The user may be reading its scrollback.
			if t, leaf := k.v.Tabs.FindSession(id); t != nil && !leaf.Pane.Scroll.Active() {
				k.v.closeLeaf(t, leaf)
			}
		}
	}
	k.v.refreshList()
	if l.Check() != nil || layout.SameArrangement(l, k.currentLayout()) {
		return
	}
	k.v.Tabs.FollowLayout(l, k.v.env.News().WithLayout(l))
	k.v.showAnyTab()
	k.v.relayout()
	k.v.refreshList()
}
