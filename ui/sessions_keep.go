package ui

import (
	"context"
	"errors"
	"reflect"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/ui/layout"
)

// A keeper knows which layout the engine keeps, and what it is still to be told.
type keeper struct {
	v         *sessionsView
	restored  bool       // the layout that was kept has been brought back
	changed   bool       // the tabs may not be as they were kept
	kept      api.Layout // what the engine has
	unsaved   bool       // kept has a focus that the engine does not have yet
	revision  int64      // its number, or that of what it was made from
	keeping   bool       // it is being told
	behind    bool       // another dashboard's was kept first, and is to be followed
	snapshots int        // taken in
}

// next is what the engine is to be told of a layout, if that is anything. One call
// is on its way at a time; what changes meanwhile follows it.
func (k *keeper) next(now func() (api.Layout, bool)) (in api.LayoutPutInput, ok bool) {
	if k.behind || !k.changed || k.keeping {
		return in, false
	}
	k.changed = false
	l, ok := now()
	if !ok || reflect.DeepEqual(l, k.kept) {
		return in, false
	}
	k.kept, k.keeping, k.unsaved = l, true, false
	return api.LayoutPutInput{Layout: l, Revision: k.revision}, true
}

// last is next for a dashboard that is left.
func (k *keeper) last(now api.Layout) (in api.LayoutPutInput, ok bool) {
	in = api.LayoutPutInput{Layout: now, Revision: k.revision}
	if k.keeping { // under which number that is kept is not known yet
		in.Revision = 0
	}
	return in, k.keeping || k.unsaved || !reflect.DeepEqual(now, k.kept)
}

// keptMsg is the outcome of telling the engine of a layout.
type keptMsg struct {
	revision int64
	err      error
}

// done goes on after the engine was told. What it did not take is told again with
// the next change; if it has another dashboard's instead, that one is followed
// first, and what is left of this one's change is told after that.
func (k *keeper) done(msg keptMsg) {
	k.keeping = false
	switch {
	case errors.Is(msg.err, api.CodeConflict):
		k.behind, k.changed = true, true
	case msg.err != nil:
		k.kept = api.Layout{}
	default:
		k.revision = msg.revision
	}
}

// newer is the layout that another dashboard has had kept since this one's was;
// nil if none has, and before it is known what became of this one's own.
func (k *keeper) newer(news *panes.News) *api.Layout {
	if news.Snapshots != k.snapshots { // of another engine, maybe, that knows of less
		k.snapshots, k.behind = news.Snapshots, false
		k.revision = min(k.revision, news.Revision)
	}
	if k.keeping || news.Layout == nil || news.Revision <= k.revision {
		return nil
	}
	return news.Layout
}

// keep tells the engine of a layout that has changed.
func (k *keeper) keep() tea.Cmd {
	if !k.v.opened || !k.v.env.News().Connected || k.v.mouse.dragged != nil || len(k.v.starts.starting) > 0 {
		return nil
	}
	in, ok := k.next(k.layoutToKeep)
	if !ok {
		return nil
	}
	return panes.Call(k.v.env, func(ctx context.Context, e panes.Engine) tea.Msg {
		kept, err := api.LayoutPut.Call(ctx, e, in)
		return keptMsg{kept.Revision, err}
	}, func(err error) tea.Msg { return keptMsg{err: err} })
}

// unasked makes a change of the layout that nobody has asked for: a session has
// come or gone. Every dashboard makes it by itself, the next one too, so none has
// it kept, which would undo what the person has done in another one meanwhile. A
// focus that was moved before is saved with the next change, or by keepLast.
func (k *keeper) unasked(change func()) {
	kept := k.v.opened && !k.changed && len(k.kept.Tabs) > 0
	if kept && !k.unsaved {
		now, _ := k.layoutToKeep()
		k.unsaved = !reflect.DeepEqual(now, k.kept)
	}
	change()
	if kept {
		k.kept, _ = k.layoutToKeep()
		k.changed = false
	}
}

// keepLast has the layout kept that the person leaves behind, if the engine was
// not told of it yet. What was asked for last is in it. task runs beside it.
func (k *keeper) keepLast(ctx context.Context, task func(func())) {
	if !k.v.opened || !k.v.env.News().Connected {
		return
	}
	starts, stop := context.WithTimeout(ctx, lastStarts)
	defer stop()
	k.v.starts.finishStarts(starts, task)
	now, ok := k.layoutToKeep()
	in, changed := k.last(now)
	if !ok || !changed {
		return
	}
	if e, err := k.v.env.Engine(ctx); err == nil {
		_ = api.LayoutPut.Run(ctx, e, in) // there is nobody left to tell
	}
}

// writeLayout writes the tabs down, and what was put away.
func (k *keeper) writeLayout() api.Layout {
	l := k.v.tabs.Write(func(id string) string {
		p, _ := k.v.env.News().Process(id)
		return p.Name
	})
	l.Closed = k.v.list.WritePutAway()
	return l
}

// layoutToKeep is the layout as the next dashboard begins with it; ok is false if
// there is nothing to keep. When all sessions have ended it is how they lay last.
func (k *keeper) layoutToKeep() (l api.Layout, ok bool) {
	l = k.writeLayout()
	if len(l.Tabs) == 0 {
		l.Tabs, l.Current, l.Float = k.kept.Tabs, k.kept.Current, k.kept.Float
	}
	return l, len(l.Tabs) > 0 || len(l.Closed) > 0
}

// restoreLayout brings back the layout that was kept, once the first sessions
// are known.
func (k *keeper) restoreLayout() {
	news := k.v.env.News()
	if k.restored || !news.Connected {
		return
	}
	k.restored = true
	k.revision, k.snapshots = news.Revision, news.Snapshots
	if l := news.Layout; l != nil {
		k.kept = *l
		for _, id := range l.Closed {
			k.v.list.PutAway(id)
		}
		k.v.tabs.Arrange(*l, news.WithLayout(*l))
	}
}

// openingTab is what the view begins with: what was shown last.
func (k *keeper) openingTab() *layout.Tab {
	l := k.kept
	if l.Current < len(l.Tabs) {
		for _, n := range l.Tabs[l.Current].Nodes {
			if t, _ := k.v.tabs.Find(n.ID); t != nil {
				return t
			}
		}
	}
	return k.v.tabs.All[0]
}

// followOthers takes over the layout that another dashboard has had kept. Not while
// the mouse moves a border.
func (k *keeper) followOthers() {
	l := k.newer(k.v.env.News())
	if l == nil || !k.v.opened || k.v.mouse.dragged != nil {
		return
	}
	k.revision, k.behind = k.v.env.News().Revision, false
	changed := k.changed
	k.follow(*l)
	if k.changed = changed; !changed {
		k.kept, _ = k.layoutToKeep()
	}
}

// follow lays the sessions out as another dashboard has them, and puts away what
// was put away there. Which tab is shown here, and which pane has the keyboard,
// stays; so does what the other one does not know of, beside what it is beside.
func (k *keeper) follow(l api.Layout) {
	for _, id := range l.Closed {
		if p, ok := k.v.env.News().Process(id); ok && p.State.Ended() && k.v.list.PutAway(id) {
			if t, leaf := k.v.tabs.Find(id); t != nil && !leaf.Pane.Scroll.Active() { // unless it is being read
				k.v.closeLeaf(t, leaf)
			}
		}
	}
	k.v.refreshList()
	if l.Check() != nil || layout.Same(l, k.writeLayout()) {
		return
	}
	k.v.tabs.Follow(l, k.v.env.News().WithLayout(l))
	k.v.showSomething()
	k.v.relayout()
	k.v.refreshList()
}
