package sessions

import (
	"context"
	"slices"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/sessions/layout"
	"tandem/panes/terminal"
)

// attachments connects the panes on the screen to their sessions.
type attachments struct {
	env interface {
		panes.Caller
		Feeds
	}
	cancels map[*terminal.Pane]context.CancelFunc

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
	for p := range f.cancels {
		p.View.SetDisplay(f.display)
	}
}

// attach starts feeding a pane with its session's output, unless it is attached already.
func (f *attachments) attach(p *terminal.Pane) {
	if p.ID == "" || f.cancels[p] != nil {
		return
	}
	ctx, cancel := context.WithCancel(f.env.Context())
	f.cancels[p] = cancel
	p.View.SetDisplay(f.display)
	f.env.Attach(ctx, p.ID, p.Feed)
}

// has reports whether a pane is attached.
func (f *attachments) has(p *terminal.Pane) bool { return f.cancels[p] != nil }

// release stops a pane's output. The pane keeps its last screen, its scroll position and its search.
func (f *attachments) release(p *terminal.Pane) {
	if cancel := f.cancels[p]; cancel != nil {
		cancel()
		delete(f.cancels, p)
	}
}

// isTabAttached reports whether any pane of a tab is attached.
func (f *attachments) isTabAttached(t *layout.Tab) bool {
	return slices.ContainsFunc(t.Root.Leaves(nil), f.isAttached)
}

// isAttached reports whether the pane of a leaf is attached and its program has not exited.
// The pane of an exited program keeps its last screen, so it must not be replaced.
func (f *attachments) isAttached(l *layout.Node) bool {
	return f.cancels[l.Pane] != nil && l.Pane.FinalState() == nil
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
			f.release(l.Pane)
		}
	}
}

// hasQueued reports whether input is queued for a pane of a tab.
func (f *attachments) hasQueued(t *layout.Tab) bool {
	return slices.ContainsFunc(t.Root.Leaves(nil), func(l *layout.Node) bool { return l.Pane.Outbox.Waiting() > 0 })
}

// countQueued returns the number of inputs queued for sessions that cannot be reached.
func (f *attachments) countQueued() (n int) {
	for p := range f.cancels {
		n += p.Outbox.Waiting()
	}
	return n
}

// sync applies output that has arrived for the panes. rang is set if a program rang the bell.
func (f *attachments) sync() (rang bool, cmd tea.Cmd) {
	for p := range f.cancels {
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
	for p := range f.cancels {
		p.View.SetHidden(!slices.ContainsFunc(leaves, func(l *layout.Node) bool { return l.Pane == p }))
		p.View.SendSize()
	}
	return true
}
