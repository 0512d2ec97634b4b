package sessions

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/sessions/layout"
)

// attachments connects the panes on the screen to their sessions.
type attachments struct {
	env interface {
		panes.Caller
		Feeds
	}
	tabs    *Tabs
	cancels map[string]context.CancelFunc // by session

	display *api.Display // properties of the user's terminal; nil until it has reported them

	sizesChanged bool // a session may have an outdated size
	sizesPaused  bool // less than sizeInterval has passed since the last report of sizes
}

// setDisplay reports the user's terminal to every attached session.
func (f *attachments) setDisplay(d api.Display) {
	if f.display != nil && *f.display == d {
		return
	}
	f.display = &d
	for id := range f.cancels {
		f.tabs.Pane(id).View.SetDisplay(f.display)
	}
}

// attach starts feeding the pane of a session with its output, unless it is attached already or still
// being started.
func (f *attachments) attach(id string) {
	p := f.tabs.Pane(id)
	if p.Starting || f.cancels[id] != nil {
		return
	}
	ctx, cancel := context.WithCancel(f.env.Context())
	f.cancels[id] = cancel
	p.View.SetDisplay(f.display)
	f.env.Attach(ctx, id, p.Feed)
}

// has reports whether the pane of a session is attached.
func (f *attachments) has(id string) bool { return f.cancels[id] != nil }

// release stops the output of a session's pane, which keeps its last screen, its scroll position and
// its search.
func (f *attachments) release(id string) {
	if cancel := f.cancels[id]; cancel != nil {
		cancel()
		delete(f.cancels, id)
	}
}

// isTabAttached reports whether any pane of a tab is attached.
func (f *attachments) isTabAttached(t *layout.Tab) bool {
	return slices.ContainsFunc(t.Root.Leaves(nil), f.isAttached)
}

// isAttached reports whether the pane of a leaf is attached and its program has not exited.
// The pane of an exited program keeps its last screen, so it must not be replaced.
func (f *attachments) isAttached(l *layout.Node) bool {
	return f.has(l.ID) && f.tabs.Pane(l.ID).FinalState() == nil
}

// maxIdleTabs is how many hidden tabs stay attached, to make going back to them instant.
const maxIdleTabs = 3

// releaseIdle detaches the tabs hidden for the longest time, except those with queued input.
func (f *attachments) releaseIdle(tabs *layout.Tabs) {
	for {
		var oldest *layout.Tab
		idle := 0
		for _, t := range tabs.All {
			if t == tabs.BaseTab() || !f.isTabAttached(t) || f.hasQueued(t) {
				continue
			}
			idle++
			if oldest == nil || t.Shown < oldest.Shown {
				oldest = t
			}
		}
		if idle <= maxIdleTabs {
			return
		}
		f.detachTab(oldest)
	}
}

// detachTab releases the attached panes of a tab.
func (f *attachments) detachTab(t *layout.Tab) {
	for _, l := range t.Root.Leaves(nil) {
		if f.isAttached(l) {
			f.release(l.ID)
		}
	}
}

// hasQueued reports whether input is queued for a pane of a tab.
func (f *attachments) hasQueued(t *layout.Tab) bool {
	return slices.ContainsFunc(t.Root.Leaves(nil), func(l *layout.Node) bool { return f.tabs.Pane(l.ID).Outbox.Waiting() > 0 })
}

// countQueued returns the number of inputs queued for sessions that cannot be reached.
func (f *attachments) countQueued() (n int) {
	for id := range f.cancels {
		n += f.tabs.Pane(id).Outbox.Waiting()
	}
	return n
}

// sync applies output that has arrived for the panes. rang is set if a program rang the bell.
func (f *attachments) sync() (rang bool, cmd tea.Cmd) {
	for id := range f.cancels {
		p := f.tabs.Pane(id)
		rang = p.Sync() || rang
		cmd = tea.Batch(cmd, p.ReportLoss())
	}
	return rang, cmd
}

// sendSizes reports to each attached session its size and whether it is hidden. The first
// change is reported at once, further ones at most every sizeInterval.
func (f *attachments) sendSizes(visible func() []*layout.Node) (sent bool) {
	if !f.sizesChanged || f.sizesPaused {
		return false
	}
	f.sizesChanged, f.sizesPaused = false, true
	leaves := visible()
	for id := range f.cancels {
		p := f.tabs.Pane(id)
		p.View.SetHidden(!slices.ContainsFunc(leaves, func(l *layout.Node) bool { return l.ID == id }))
		p.View.SendSize()
	}
	return true
}
