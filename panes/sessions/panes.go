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

// Panes holds the pane of each session by the session's id, and the attachments of the panes.
type Panes struct {
	env interface {
		panes.Caller
		panes.NewsSource
		Feeds
	}
	create  func(id string) *terminal.Pane
	all     map[string]*terminal.Pane     // also those in no tab for a moment
	cancels map[string]context.CancelFunc // of the attached ones

	display *api.Display // properties of the user's terminal; nil until it has reported them

	sizesChanged bool // a session may have an outdated size
	sizesPaused  bool // less than sizeInterval has passed since the last report of sizes
}

// Pane returns the pane of a session, created on first use; nil for "". It stays the same while
// its tab is hidden.
func (f *Panes) Pane(id string) *terminal.Pane {
	p := f.all[id]
	if p == nil && id != "" {
		p = f.create(id)
		f.all[id] = p
	}
	return p
}

// FinalState returns the state of a session after its exit, if its pane has received it; otherwise
// nil. The news may not contain the exit yet.
func (f *Panes) FinalState(id string) *api.Process {
	if p := f.all[id]; p != nil {
		return p.FinalState()
	}
	return nil
}

// isStarting reports whether the session of a leaf is still being started.
func (f *Panes) isStarting(id string) bool { return f.all[id] != nil && f.all[id].Starting }

// isInUse reports whether a session needs its pane although the news does not list it as open: this
// dashboard is starting the session, its machine has not reported its sessions yet, or its last
// output can still be read.
func (f *Panes) isInUse(id string) bool {
	return f.isStarting(id) || f.isAttached(id) || f.env.News().MayHave(id)
}

// setDisplay reports the user's terminal to every attached session.
func (f *Panes) setDisplay(d api.Display) {
	if f.display != nil && *f.display == d {
		return
	}
	f.display = &d
	for id := range f.cancels {
		f.Pane(id).View.SetDisplay(f.display)
	}
}

// attach starts to feed a pane with the output of its session, unless it is attached already or the
// session is still being started.
func (f *Panes) attach(id string) {
	p := f.Pane(id)
	if p.Starting || f.isAttached(id) {
		return
	}
	ctx, cancel := context.WithCancel(f.env.Context())
	f.cancels[id] = cancel
	p.View.SetDisplay(f.display)
	f.env.Attach(ctx, id, p.Feed)
}

// isAttached reports whether the pane of a session is attached.
func (f *Panes) isAttached(id string) bool { return f.cancels[id] != nil }

// release detaches the pane of a session. The pane keeps its last screen, its scroll position and
// its search.
func (f *Panes) release(id string) {
	if cancel := f.cancels[id]; cancel != nil {
		cancel()
		delete(f.cancels, id)
	}
}

// forget deletes the pane of a session.
func (f *Panes) forget(id string) {
	f.release(id)
	delete(f.all, id)
}

// isFed reports whether the pane of a leaf receives output: it is attached, and its program has not
// exited. The pane of an exited program is kept as it is, because attaching again would replace its
// last screen.
func (f *Panes) isFed(l *layout.Node) bool {
	return f.isAttached(l.ID) && f.Pane(l.ID).FinalState() == nil
}

// maxIdleTabs is how many hidden tabs stay attached, so that they can be shown again at once.
const maxIdleTabs = 3

// releaseIdle detaches the tabs hidden for the longest time, except those with queued input.
func (f *Panes) releaseIdle(tabs *layout.Tabs) {
	for {
		var oldest *layout.Tab
		idle := 0
		for _, t := range tabs.All {
			leaves := t.Root.Leaves(nil)
			if t == tabs.BaseTab() || !slices.ContainsFunc(leaves, f.isFed) || slices.ContainsFunc(leaves, f.hasQueued) {
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
		for _, l := range oldest.Root.Leaves(nil) {
			if f.isFed(l) {
				f.release(l.ID)
			}
		}
	}
}

// hasQueued reports whether input is queued for the pane of a leaf.
func (f *Panes) hasQueued(l *layout.Node) bool { return f.Pane(l.ID).Outbox.Waiting() > 0 }

// countQueued returns the number of inputs queued for sessions that cannot be reached.
func (f *Panes) countQueued() (n int) {
	for id := range f.cancels {
		n += f.Pane(id).Outbox.Waiting()
	}
	return n
}

// sync applies the output that has arrived for the panes. rang reports whether a program has rung
// the bell.
func (f *Panes) sync() (rang bool, cmd tea.Cmd) {
	for id := range f.cancels {
		p := f.Pane(id)
		rang = p.Sync() || rang
		cmd = tea.Batch(cmd, p.ReportLoss())
	}
	return rang, cmd
}

// sendSizes reports to each attached session its size and whether it is hidden. The first
// change is reported at once, further ones at most every sizeInterval.
func (f *Panes) sendSizes(visible func() []*layout.Node) (sent bool) {
	if !f.sizesChanged || f.sizesPaused {
		return false
	}
	f.sizesChanged, f.sizesPaused = false, true
	leaves := visible()
	for id := range f.cancels {
		p := f.Pane(id)
		p.View.SetHidden(!slices.ContainsFunc(leaves, func(l *layout.Node) bool { return l.ID == id }))
		p.View.SendSize()
	}
	return true
}
