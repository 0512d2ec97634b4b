package ui

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes/kit/text"
	"tandem/panes/states"
)

// reportChanges shows which processes have failed or become ready since before.
func (n *notices) reportChanges(before []api.Process) tea.Cmd {
	old := make(map[string]*api.Process, len(before))
	for i := range before {
		old[before[i].ID] = &before[i]
	}
	var failed, ready []string
	for i := range n.m.news.Processes {
		p := &n.m.news.Processes[i]
		was := old[p.ID]
		if was == nil && time.Since(p.StartedAt) < minSteadyTime {
			// The process started and changed between two snapshots.
			was = &api.Process{}
		}
		if was == nil || p.Kind != api.KindProcess || isOneOff(p) {
			continue
		}
		switch {
		case isFailing(p) && !isFailing(was) && !n.isRepeatedFailure(p):
			failed = append(failed, states.FullName(p)+" failed: "+states.HowEnded(p))
		case p.IsReady() && !was.IsReady():
			ready = append(ready, states.FullName(p)+" is ready")
		}
	}
	switch {
	case len(failed) > 0:
		return tea.Batch(n.showNews(summarizeNotes(failed), true), n.notifyDesktop(summarizeNotes(failed)))
	case len(ready) > 0:
		return tea.Batch(n.showNews(summarizeNotes(ready), false), n.notifyDesktop(summarizeNotes(ready)))
	}
	return nil
}

// minSteadyTime is how long a process must run for its next failure to be reported as a
// new one.
const minSteadyTime = 10 * time.Second

// isRepeatedFailure records a failure of p, and reports whether it need not be shown: p
// has failed before and ran for less than minSteadyTime.
func (n *notices) isRepeatedFailure(p *api.Process) bool {
	a := &n.m.notices
	told := a.failed[p.ID]
	if a.failed == nil {
		a.failed = map[string]bool{}
	}
	a.failed[p.ID] = true
	return told && p.ExitedAt != nil && p.ExitedAt.Sub(p.StartedAt) < minSteadyTime
}

func isFailing(p *api.Process) bool {
	return p.Failed() || p.State == api.StateBackoff && (p.ExitCode == nil || *p.ExitCode != 0)
}

func summarizeNotes(notes []string) string {
	if len(notes) == 1 {
		return notes[0]
	}
	return fmt.Sprintf("%s (and %d more)", notes[0], len(notes)-1)
}

// notifyGap is the minimum time between two desktop notifications. Events in between are
// part of the next one.
const notifyGap = 5 * time.Second

// notices shows the user what happens without a key press: in the status bar and on the
// desktop.
type notices struct {
	m          *model
	toast      toast
	failed     map[string]bool // processes whose failure was shown
	notifiedAt time.Time       // time of the last desktop notification
	held       []string        // texts for the next one
	timer      bool            // a notifyDue message is scheduled
}

// notifyDue marks the end of the gap after a desktop notification.
type notifyDue struct{}

// notifyDesktop sends a desktop notification through the terminal, unless the terminal has
// focus, the user turned notifications off, or it is a quiet hour.
func (n *notices) notifyDesktop(text string) tea.Cmd {
	a := &n.m.o.Attention
	now := time.Now()
	if !n.m.input.blurred || !a.Notify || n.m.terminal == nil || a.Quiet.Have(now) {
		return nil
	}
	d := &n.m.notices
	d.held = append(d.held, text)
	if wait := notifyGap - now.Sub(d.notifiedAt); wait > 0 {
		if d.timer {
			return nil
		}
		d.timer = true
		return tea.Tick(wait, func(time.Time) tea.Msg { return notifyDue{} })
	}
	n.flushDesktop(now)
	return nil
}

// flushDesktop sends the collected texts as one notification.
func (n *notices) flushDesktop(now time.Time) {
	d := &n.m.notices
	if len(d.held) == 0 || n.m.terminal == nil {
		return
	}
	text := summarizeNotes(d.held)
	d.held, d.notifiedAt = nil, now
	n.m.terminal.Notify(text)
}

func (n *notices) endGap() {
	n.timer = false
	if n.m.input.blurred {
		n.flushDesktop(time.Now())
	}
	n.held = nil
}

// A toast is a temporary message in the status bar.
type toast struct {
	text   string
	bad    bool
	news   bool // it reports an event, not the result of a key
	serial int
}

const toastTime = 4 * time.Second

// A toastExpired is the serial of a toast whose time is over.
type toastExpired int

// showToast shows a message in the status bar for toastTime; bad marks an error.
func (n *notices) showToast(message string, bad bool) tea.Cmd {
	n.toast = toast{text: text.Clean(message), bad: bad, serial: n.toast.serial + 1}
	n.m.dirty = true
	serial := toastExpired(n.toast.serial)
	return tea.Tick(toastTime, func(time.Time) tea.Msg { return serial })
}

// showNews shows a toast about an event that is not the result of a key.
func (n *notices) showNews(text string, bad bool) tea.Cmd {
	cmd := n.showToast(text, bad)
	n.toast.news = true
	return cmd
}

// showRemoteNews shows a notice of another machine after this machine's own. A mistake in
// the configuration often affects both, so equal texts are merged.
func (n *notices) showRemoteNews(text string) tea.Cmd {
	own := n.m.faultNote()
	if n.toast.bad && n.toast.text != "" {
		own = n.toast.text
	}
	switch {
	case own == "":
	case strings.HasSuffix(own, text):
		text = own
	default:
		text = own + "; " + text
	}
	return n.showNews(text, true)
}

// clearToast removes the current toast.
func (n *notices) clearToast() { n.toast = toast{serial: n.toast.serial + 1} }

func (n *notices) expireToast(serial toastExpired) tea.Cmd {
	if int(serial) == n.toast.serial {
		n.toast.text = ""
	}
	return nil
}
