package ui

import (
	"context"
	"slices"

	"tandem/engine/api"
	"tandem/panes/terminal"
	"tandem/ui/layout"
)

// feeds are the terminals that are fed by their sessions.
type feeds struct {
	env   sessionsEnv
	stops map[*terminal.Pane]context.CancelFunc

	display *api.Display // what the person's terminal is like; nil if that is not known
}

// setDisplay tells all sessions what the person's terminal is like.
func (f *feeds) setDisplay(d api.Display) {
	if f.display != nil && *f.display == d {
		return
	}
	f.display = &d
	for p := range f.stops {
		p.SetDisplay(f.display)
	}
}

// attach lets a terminal be fed, if it is not yet.
func (f *feeds) attach(p *terminal.Pane) {
	if p.ID == "" || f.stops[p] != nil {
		return
	}
	ctx, cancel := context.WithCancel(f.env.Context())
	f.stops[p] = cancel
	p.SetDisplay(f.display)
	f.env.Attach(ctx, p.ID, p.Feed)
}

// release ends that. A terminal that is shown again later gets a new feed and
// keeps nothing of the old.
func (f *feeds) release(p *terminal.Pane) {
	if cancel := f.stops[p]; cancel != nil {
		cancel()
		delete(f.stops, p)
	}
}

// feeds reports whether a terminal of a tab is fed, and so could be retired.
func (f *feeds) feeds(t *layout.Tab) bool { return slices.ContainsFunc(t.Root.Leaves(nil), f.fed) }

// fed reports whether the terminal of a leaf is fed still. One that has ended keeps what it
// shows.
func (f *feeds) fed(l *layout.Node) bool { return f.stops[l.Pane] != nil && l.Pane.Ended() == nil }

// maxIdleTabs is how many tabs that are not shown keep their feeds, so that going
// back to them is instant.
const maxIdleTabs = 3

// releaseIdle ends the feeds of the tabs that were not shown for longest.
func (f *feeds) releaseIdle(tabs *layout.Tabs) {
	for {
		var oldest *layout.Tab
		idle := 0
		for _, t := range tabs.All {
			if t == tabs.Base() || !f.feeds(t) {
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
		f.retire(oldest, tabs.New)
	}
}

// retire replaces the terminals of a tab by ones that are not fed.
func (f *feeds) retire(t *layout.Tab, create func(id string) *terminal.Pane) {
	for _, l := range t.Root.Leaves(nil) {
		if f.fed(l) {
			f.release(l.Pane)
			l.Pane = create(l.Pane.ID)
		}
	}
}

// waiting is how many inputs wait for sessions that are not reached.
func (f *feeds) waiting() (n int) {
	for p := range f.stops {
		n += p.Outbox.Waiting()
	}
	return n
}
