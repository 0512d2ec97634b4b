package sessions

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	engine "tandem/engine/api/layout"
	"tandem/panes"
	"tandem/panes/sessions/layout"
)

// SharedTabs are the engine's layout as this dashboard shows it: with the changes made here that the
// engine has not announced yet, and without sessions that have no pane here. A session that exits
// keeps its place in the layout. An open session of this machine without a place gets a tab of its
// own at the end.
type SharedTabs struct {
	layout.Tabs
	env interface {
		panes.Caller
		panes.NewsSource
		panes.Reporter
	}
	panes *Panes
	show  func() // shows the layout as it is now

	isCancelled func(id string) bool // reports whether the start of a session was cancelled here

	base   *api.Layout     // the engine's; nil without one
	stale  bool            // wanted is to be made again
	held   bool            // a border is dragged, and the engine's layout is not followed
	wanted api.Layout      // base with sent and unsent
	placed map[string]bool // sessions in wanted
	closed map[string]bool // exited sessions removed from the list

	sent      []api.LayoutChange // not announced yet
	calling   bool               // a call with sent is running
	revision  int64              // the answer to the last call with sent
	unsent    []api.LayoutChange
	told      []api.LayoutChange // the focus known to the engine
	refocused bool               // the user has moved the focus or the zoom
	snapshots int                // number of the last snapshot seen
}

// change changes the layout. It is shown with the next refresh, and sent to the engine after it.
func (t *SharedTabs) change(changes ...api.LayoutChange) {
	// Give sessions without a place one now, so that their order stays as it is shown.
	for _, id := range t.unplaced() {
		t.unsent = append(t.unsent, ownTab(id, api.OwnEnd))
	}
	for _, c := range changes {
		if last := len(t.unsent) - 1; last >= 0 && c.Do == api.LayoutResize && t.unsent[last].Do == c.Do && t.unsent[last].ID == c.ID && t.unsent[last].Other == c.Other {
			t.unsent = t.unsent[:last] // a border that is dragged
		}
		t.unsent = append(t.unsent, c)
	}
	t.stale = true
}

// ownTab returns the change giving a session a tab of its own.
func ownTab(id string, own api.Own) api.LayoutChange {
	return api.LayoutChange{Do: api.LayoutArrange, Nodes: []api.LayoutNode{{ID: id}}, Own: own}
}

// unplaced returns the sessions of this machine with no place in the layout yet, although they need
// a pane.
func (t *SharedTabs) unplaced() (ids []string) {
	t.apply()
	var found []*api.Process
	for i := range t.env.News().Processes {
		p := &t.env.News().Processes[i]
		if p.Kind != api.KindSession || t.placed[p.ID] || t.closed[p.ID] || t.isCancelled(p.ID) || t.panes.isStarting(p.ID) {
			continue
		}
		if !t.isOpen(p) && !t.panes.isAttached(p.ID) {
			continue
		}
		if machine, _ := api.MachineOf(p.ID); machine == "" {
			found = append(found, p)
		}
	}
	// Sort them, so that all dashboards show them in the same order, whatever the order of their
	// news.
	slices.SortFunc(found, func(a, b *api.Process) int {
		return cmp.Or(a.StartedAt.Compare(b.StartedAt), strings.Compare(a.ID, b.ID))
	})
	for _, p := range found {
		ids = append(ids, p.ID)
	}
	return ids
}

// isOpen reports whether p is an open or restorable session. It is not open if its pane has seen
// the exit and was detached, even if the news does not have the exit yet.
func (t *SharedTabs) isOpen(p *api.Process) bool {
	if p.Kind != api.KindSession || !p.IsOpen() {
		return false
	}
	ended := t.panes.FinalState(p.ID)
	return ended == nil || t.panes.isAttached(p.ID) || !ended.StartedAt.Equal(p.StartedAt)
}

// openSessions returns the ids of all open or restorable sessions.
func (t *SharedTabs) openSessions() map[string]bool {
	all := t.env.News().Processes
	open := make(map[string]bool, len(all))
	for i := range all {
		if t.isOpen(&all[i]) {
			open[all[i].ID] = true
		}
	}
	return open
}

// apply takes over the engine's layout.
func (t *SharedTabs) apply() {
	news := t.env.News()
	if news.Snapshots != t.snapshots {
		t.snapshots = news.Snapshots
		if !t.calling { // an engine that was lost may not have announced it
			t.unsent, t.sent = append(t.sent, t.unsent...), nil
		}
	}
	if t.held && !t.stale {
		return
	}
	base := news.Layout
	if t.held {
		base = t.base
	}
	if !t.calling && !t.held && t.sent != nil && news.Revision >= t.revision {
		t.sent, t.stale = nil, true
	}
	if !t.stale && t.base == base {
		return
	}
	t.stale, t.base, t.wanted = false, base, api.Layout{}
	if t.base != nil {
		t.wanted = *t.base
	}
	t.wanted = engine.Apply(t.wanted, slices.Concat(t.sent, t.unsent)...)
	t.placed, t.closed = map[string]bool{}, map[string]bool{}
	for _, tab := range t.wanted.AllTabs() {
		for _, id := range engine.Sessions(tab.Nodes) {
			t.placed[id] = true
		}
	}
	for _, id := range t.wanted.Closed {
		t.closed[id] = true
	}
}

// refresh shows the layout as it is now, and reports whether any tab has changed.
func (t *SharedTabs) refresh() (changed bool) {
	unplaced := t.unplaced()
	l, open := t.wanted, t.openSessions()
	l.Tabs = slices.Clip(l.Tabs)
	for _, id := range unplaced {
		l.Tabs = append(l.Tabs, api.LayoutTab{Nodes: []api.LayoutNode{{ID: id}}})
	}
	used := map[string]bool{} // a damaged layout may have a session twice
	return t.Update(l, func(id string) bool {
		has := !used[id] && (open[id] || t.panes.isInUse(id))
		used[id] = true
		return has
	})
}

// CurrentMachine returns the machine of the session focused last; "" for this machine or if there
// is no session.
func (t *SharedTabs) CurrentMachine() string {
	machine, _ := api.MachineOf(t.CurrentID())
	return machine
}

// reopen gives closed sessions that run again a place in the layout. News may also be old, and say
// that a session runs which another dashboard has closed by now. Therefore a session counts as
// running again only if its exit was known before, or if it was unknown.
func (t *SharedTabs) reopen(before *panes.News) {
	t.apply()
	for i := range t.env.News().Processes {
		p := &t.env.News().Processes[i]
		if t.closed[p.ID] && p.IsOpen() {
			if was, known := before.Process(p.ID); !known || was.State.Ended() {
				t.change(ownTab(p.ID, api.OwnEnd))
			}
		}
	}
}

// IsClosed reports whether an exited session was removed from the list.
func (t *SharedTabs) IsClosed(id string) bool { return t.closed[id] }

// focusChanges returns changes that store the focus and the zoom, so that the next dashboard opens
// with them.
func (t *SharedTabs) focusChanges(zoomed bool) (changes []api.LayoutChange) {
	for _, tab := range []*layout.Tab{t.Under, t.Current} {
		if tab != nil {
			changes = append(changes, api.LayoutChange{Do: api.LayoutFocus, ID: tab.Focus.ID, Zoomed: zoomed && tab == t.Current})
		}
	}
	return changes
}

// send sends changes unknown to the engine.
func (t *SharedTabs) send(zoomed bool) tea.Cmd {
	if t.calling || !t.env.News().Connected {
		return nil
	}
	in := api.LayoutChangeInput{Changes: t.takeUnsent(zoomed)}
	if len(in.Changes) == 0 {
		return nil
	}
	t.calling = true
	return panes.Call(t.env.Context(), t.env, func(ctx context.Context, e panes.Engine) (api.LayoutChangeOutput, error) {
		return api.LayoutChanges.Call(ctx, e, in)
	}, func(out api.LayoutChangeOutput, err error) tea.Cmd {
		t.calling, t.stale = false, true
		switch {
		case errors.Is(err, api.CodeInvalid): // such as too many tabs
			t.sent = nil
			return t.env.Say(panes.ErrorText(err), true)
		case err != nil:
			t.sent, t.unsent = nil, append(t.sent, t.unsent...)
			t.told, t.refocused = nil, true
		default:
			t.revision = out.Revision
			t.show() // later changes of others may have been announced before the answer
		}
		return nil
	})
}

// takeUnsent returns the changes to send, and counts them as sent.
func (t *SharedTabs) takeUnsent(zoomed bool) []api.LayoutChange {
	changes := t.unsent
	if focus := t.focusChanges(zoomed); t.refocused && (len(changes) > 0 || !reflect.DeepEqual(focus, t.told)) {
		t.change()
		changes, t.told = append(t.unsent, focus...), focus
	}
	t.refocused, t.unsent = false, nil
	t.sent = append(t.sent, changes...)
	return changes
}

// sendLast sends all changes that the engine may not know. It is called when the dashboard exits.
func (t *SharedTabs) sendLast(ctx context.Context, zoomed bool) {
	t.takeUnsent(zoomed)
	if e, err := t.env.Engine(ctx); err == nil && len(t.sent) > 0 {
		// There is no way left to report an error.
		_ = api.LayoutChanges.Run(ctx, e, api.LayoutChangeInput{Changes: t.sent})
	}
}
