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
	"tandem/panes/sessions/list"
)

// layoutSync keeps the layout of this dashboard and the engine's in step.
type layoutSync struct {
	env interface {
		panes.Caller
		panes.NewsSource
	}
	tabs     *Tabs
	list     *list.Pane
	display  *display
	switcher *switcher

	restored  bool        // the saved layout was applied
	first     *layout.Tab // the tab to open with; nil without a saved layout, and once open
	saved     api.Layout  // the layout the engine has
	changed   bool        // the layout may differ from saved
	unsaved   bool        // saved includes a focus change not sent yet
	revision  int64       // version of saved, or of the one it is based on
	saving    bool        // a request is running
	conflict  bool        // another dashboard saved first; its layout must be adopted
	snapshots int         // number of the last snapshot seen
}

// noteChange has the layout compared with the saved one, and sent if it differs.
func (k *layoutSync) noteChange() { k.changed = true }

// finishPut handles the answer to a request. After an error the layout is sent again with
// the next change. After a conflict the other dashboard's layout is adopted first.
func (k *layoutSync) finishPut(kept api.LayoutPutOutput, err error) tea.Cmd {
	k.saving = false
	k.switcher.requestSettle()
	switch {
	case errors.Is(err, api.CodeConflict):
		k.conflict, k.changed = true, true
	case err != nil:
		k.saved = api.Layout{}
	default:
		k.revision = kept.Revision
	}
	return nil
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

// sendLayout sends a changed layout. Only one request runs at a time; changes made meanwhile
// are part of the next.
func (k *layoutSync) sendLayout() tea.Cmd {
	if !k.display.isOpen || !k.env.News().Connected || k.conflict || !k.changed || k.saving {
		return nil
	}
	k.changed = false
	l, ok := k.layoutToSave()
	if !ok || reflect.DeepEqual(l, k.saved) {
		return nil
	}
	k.saved, k.saving, k.unsaved = l, true, false
	in := api.LayoutPutInput{Layout: l, Revision: k.revision}
	return panes.Ask(k.env.Context(), k.env, func(ctx context.Context, e panes.Engine) (api.LayoutPutOutput, error) {
		return api.LayoutPut.Call(ctx, e, in)
	}, k.finishPut)
}

// applyUnrequested runs a change of the layout that the user did not ask for, because a
// session started or exited. Every dashboard makes the same change, so none sends it: that
// would undo the user's changes in another one. An unsent change of focus is sent with the
// next change, or by saveLast.
func (k *layoutSync) applyUnrequested(change func()) {
	kept := k.display.isOpen && !k.changed && len(k.saved.Tabs) > 0
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
	if !ok || !k.saving && !k.unsaved && reflect.DeepEqual(now, k.saved) {
		return
	}
	in := api.LayoutPutInput{Layout: now, Revision: k.revision}
	// The new revision of the layout being saved is not known yet.
	if k.saving {
		in.Revision = 0
	}
	if e, err := k.env.Engine(ctx); err == nil {
		// There is no way left to report an error.
		_ = api.LayoutPut.Run(ctx, e, in)
	}
}

// currentLayout describes the tabs and the hidden sessions.
func (k *layoutSync) currentLayout() api.Layout {
	processes := k.env.News().ByID()
	l := k.tabs.WriteLayout(func(id string) string {
		if p := processes[id]; p != nil {
			return p.Name
		}
		return ""
	})
	l.Closed = k.list.ListHidden()
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
	news := k.env.News()
	if k.restored || !news.Connected {
		return
	}
	k.restored = true
	k.revision, k.snapshots = news.Revision, news.Snapshots
	if l := news.Layout; l != nil {
		k.saved = *l
		for _, id := range l.Closed {
			k.list.HideSession(id)
		}
		k.first, _ = k.tabs.ApplyLayout(*l, news.WithLayout(*l))
	}
}

// followOthers adopts a layout saved by another dashboard.
func (k *layoutSync) followOthers() {
	l := k.newerLayout(k.env.News())
	if l == nil || !k.display.isOpen {
		return
	}
	k.revision, k.conflict = k.env.News().Revision, false
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
		if p, ok := k.env.News().Process(id); ok && p.State.Ended() && k.list.HideSession(id) {
			// The user may be reading its scrollback.
			if t, leaf := k.tabs.FindSession(id); t != nil && !leaf.Pane.Scroll.Active() {
				k.switcher.closeLeaf(t, leaf)
			}
		}
	}
	k.switcher.refreshList()
	if l.Check() != nil || layout.SameArrangement(l, k.currentLayout()) {
		return
	}
	k.tabs.FollowLayout(l, k.env.News().WithLayout(l))
	k.switcher.showAnyTab()
	k.switcher.relayout()
	k.switcher.refreshList()
}
