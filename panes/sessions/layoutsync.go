// Several dashboards share one saved layout, and each may change it. The engine numbers
// its versions: a dashboard sends its change with the number of the version it is based
// on, and a change based on an older one is rejected. The dashboard then adopts the newer
// layout and sends what remains of its own change.
//
// A shutdown ends one session after the other, and afterwards the user wants all of them back.
// So a session that starts or exits changes what a dashboard shows, but not the layout to be
// saved. That changes only with what the user does (see updateWanted), and keeps the panes of
// exited sessions until the user rearranges the others.

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
	opened    bool        // it is open, or the session started in place of one
	wanted    api.Layout  // as the user arranged the sessions, including those that exited since
	shown     api.Layout  // this dashboard's when wanted was updated, or a session started or exited
	changed   bool        // the layout may differ from shown
	unsent    bool        // the engine does not have wanted
	arranged  bool        // unsent is an arrangement of the user, not only the focus
	revision  int64       // version of the engine's layout, or of the one wanted is based on
	saving    bool        // a request is running
	conflict  bool        // another dashboard saved first; its layout must be adopted
	snapshots int         // number of the last snapshot seen
}

// noteChange marks the layout as changed; the next sendLayout sends it if it differs from the last.
func (k *layoutSync) noteChange() { k.changed = true }

// finishPut handles the answer to a request. After an error the layout is sent again with
// the next change. After a conflict the other dashboard's layout is adopted first.
func (k *layoutSync) finishPut(sent api.Layout, arranged bool, kept api.LayoutPutOutput, err error) tea.Cmd {
	k.saving, k.arranged = false, k.arranged || arranged && err != nil
	k.switcher.requestSettle()
	switch {
	case errors.Is(err, api.CodeConflict):
		k.conflict, k.changed, k.unsent = true, true, true
	case err != nil:
		k.unsent = true
	default:
		k.revision = kept.Revision
		k.tabs.NoteSaved(sent)
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
	k.updateWanted()
	if !k.unsent {
		return nil
	}
	arranged := k.arranged
	k.saving, k.unsent, k.arranged = true, false, false
	in := api.LayoutPutInput{Layout: k.wanted, Revision: k.revision}
	return panes.Ask(k.env.Context(), k.env, func(ctx context.Context, e panes.Engine) (api.LayoutPutOutput, error) {
		return api.LayoutPut.Call(ctx, e, in)
	}, func(kept api.LayoutPutOutput, err error) tea.Cmd { return k.finishPut(in.Layout, arranged, kept, err) })
}

// maxExitedTabs is how many tabs of exited sessions the wanted layout may have.
const maxExitedTabs = 100

// updateWanted adds to wanted what the user has changed.
func (k *layoutSync) updateWanted() {
	now := k.currentLayout()
	if reflect.DeepEqual(now, k.shown) {
		return
	}
	if !k.opened && len(k.wanted.Tabs) > 0 {
		k.shown = now
		return
	}
	wanted := now
	if len(now.Tabs) == 0 || layout.SameArrangement(now, k.shown) && len(k.wanted.Tabs) < len(now.Tabs)+maxExitedTabs {
		wanted = layout.Refocus(k.wanted, now)
	} else {
		k.arranged = true
	}
	k.shown = now
	if !reflect.DeepEqual(wanted, k.wanted) && len(wanted.Tabs)+len(wanted.Closed) > 0 {
		k.wanted, k.unsent = wanted, true
	}
}

// findFirst returns the tab to open with and its leaf to focus: of those with a session of this
// machine the one that was shown last; nil if there is none.
func (k *layoutSync) findFirst() (*layout.Tab, *layout.Node) {
	switch {
	case len(k.tabs.All) == 0:
		return nil, nil
	case k.tabs.IndexOf(k.first) < 0:
		return k.switcher.findLeafOn(k.tabs.All[0], "")
	}
	return k.switcher.findLeafOn(k.first, "")
}

// finishOpening marks the view as open: what it opened with is no change by the user.
func (k *layoutSync) finishOpening() {
	k.updateWanted()
	k.opened = true
}

// applyUnrequested runs a change of the layout that the user did not ask for, because a
// session started or exited. The first layout of all is saved nevertheless.
func (k *layoutSync) applyUnrequested(change func()) {
	if len(k.wanted.Tabs) == 0 {
		change()
		return
	}
	k.updateWanted()
	changed := k.changed
	change()
	k.shown, k.changed = k.currentLayout(), changed
}

// saveLast saves the layout when the dashboard is left, unless the engine has it.
func (k *layoutSync) saveLast(ctx context.Context) {
	k.updateWanted()
	if !k.saving && !k.unsent {
		return
	}
	in := api.LayoutPutInput{Layout: k.wanted, Revision: k.revision}
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
	l := k.tabs.WriteLayout(func(id string) (name string, ok bool) {
		if p := processes[id]; p != nil {
			name = p.Name
		}
		return name, !k.tabs.isStarting(id)
	})
	l.Closed, l.Zoomed = k.list.ListHidden(), k.display.zoomed
	return l
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
		for _, id := range l.Closed {
			k.list.HideSession(id)
		}
		k.first, _ = k.tabs.ApplyLayout(*l, news.WithLayout(*l))
		k.wanted, k.shown = *l, k.currentLayout()
	}
}

// followOthers adopts a layout saved by another dashboard.
func (k *layoutSync) followOthers() {
	l := k.newerLayout(k.env.News())
	if l == nil || !k.display.isOpen {
		return
	}
	k.revision, k.conflict = k.env.News().Revision, false
	k.updateWanted()
	changed := k.changed
	k.adoptLayout(*l)
	k.wanted, k.shown, k.changed, k.unsent = *l, k.currentLayout(), changed, changed && k.unsent
	k.arranged = k.arranged && k.unsent
	switch {
	case k.arranged:
		k.wanted = k.shown
	case k.unsent:
		k.wanted = layout.Refocus(*l, k.shown)
	}
}

// adoptLayout arranges sessions as in l and hides those hidden there. The shown tab and
// the focus stay. Sessions missing in l keep their neighbours.
func (k *layoutSync) adoptLayout(l api.Layout) {
	for _, id := range l.Closed {
		if p, ok := k.env.News().Process(id); ok && p.State.Ended() && k.list.HideSession(id) {
			// The user may be reading its scrollback.
			if t, leaf := k.tabs.FindSession(id); t != nil && !k.tabs.Pane(leaf.ID).Scroll.Active() {
				k.switcher.closeLeaf(t, leaf)
			}
		}
	}
	k.tabs.NameTabs(l)
	k.switcher.refreshList()
	if l.Check() != nil || layout.SameArrangement(l, k.currentLayout()) {
		return
	}
	k.tabs.FollowLayout(l, k.env.News().WithLayout(l))
	k.switcher.showAnyTab()
	k.switcher.relayout()
	k.switcher.refreshList()
}
