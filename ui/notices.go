package ui

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes/widget"
)

// noteChanges tells of processes that have failed or become ready.
func (n *notices) noteChanges(before []api.Process) tea.Cmd {
	old := make(map[string]*api.Process, len(before))
	for i := range before {
		old[before[i].ID] = &before[i]
	}
	var failed, ready []string
	for i := range n.m.news.Processes {
		p := &n.m.news.Processes[i]
		was := old[p.ID]
		if was == nil && time.Since(p.StartedAt) < unsteady {
			was = &api.Process{} // so new that its start was not seen
		}
		if was == nil || p.Kind != api.KindProcess || oneOff(p) {
			continue
		}
		switch {
		case inTrouble(p) && !inTrouble(was) && !n.toldAlready(p):
			failed = append(failed, widget.FullName(p)+" failed: "+widget.HowEnded(p))
		case p.IsReady() && !was.IsReady():
			ready = append(ready, widget.FullName(p)+" is ready")
		}
	}
	switch {
	case len(failed) > 0:
		return tea.Batch(n.tell(withMore(failed), true), n.notify(withMore(failed)))
	case len(ready) > 0:
		return tea.Batch(n.tell(withMore(ready), false), n.notify(withMore(ready)))
	}
	return nil
}

// unsteady is how long a process may run and still count as failing again
// rather than anew.
const unsteady = 10 * time.Second

// toldAlready keeps a process that fails over and over from being told of each
// time.
func (n *notices) toldAlready(p *api.Process) bool {
	a := &n.m.notices
	told := a.failed[p.ID]
	if a.failed == nil {
		a.failed = map[string]bool{}
	}
	a.failed[p.ID] = true
	return told && p.ExitedAt != nil && p.ExitedAt.Sub(p.StartedAt) < unsteady
}

func inTrouble(p *api.Process) bool {
	return widget.Failed(p) || p.State == api.StateBackoff && (p.ExitCode == nil || *p.ExitCode != 0)
}

func withMore(notes []string) string {
	if len(notes) == 1 {
		return notes[0]
	}
	return fmt.Sprintf("%s (and %d more)", notes[0], len(notes)-1)
}

// notifyGap is the least time between two notifications of the desktop; what
// comes meanwhile is told with the next.
const notifyGap = 5 * time.Second

// notices are what the person was told that they have not asked for.
type notices struct {
	m      *model
	toast  toast
	failed map[string]bool // processes that were told to have failed
	last   time.Time       // when the desktop was told something
	held   []string        // what it is to be told next
	timer  bool            // notifyDue is on its way
}

// notifyDue is the end of the gap after a notification.
type notifyDue struct{}

// notify has the terminal tell the desktop, unless the person looks at it, wants
// none, or has quiet hours.
func (n *notices) notify(text string) tea.Cmd {
	a := &n.m.o.Attention
	now := time.Now()
	if !n.m.input.blurred || a.NoNotify || n.m.terminal == nil || a.Quiet.Have(now) {
		return nil
	}
	d := &n.m.notices
	d.held = append(d.held, text)
	if wait := notifyGap - now.Sub(d.last); wait > 0 {
		if d.timer {
			return nil
		}
		d.timer = true
		return tea.Tick(wait, func(time.Time) tea.Msg { return notifyDue{} })
	}
	n.tellDesktop(now)
	return nil
}

// tellDesktop tells the desktop what was held back.
func (n *notices) tellDesktop(now time.Time) {
	d := &n.m.notices
	if len(d.held) == 0 || n.m.terminal == nil {
		return
	}
	text := withMore(d.held)
	d.held, d.last = nil, now
	n.m.terminal.Notify(text)
}

func (n *notices) due() {
	n.timer = false
	if n.m.input.blurred {
		n.tellDesktop(time.Now())
	}
	n.held = nil
}

// A toast is a message in the status bar that goes away by itself.
type toast struct {
	text   string
	bad    bool
	news   bool // it tells of what happened by itself, and not how a key has ended
	serial int
}

const toastTime = 4 * time.Second

// toastOver is the end of the toast with that number.
type toastOver int

// say shows a toast.
func (n *notices) say(text string, bad bool) tea.Cmd {
	n.toast = toast{text: widget.Clean(text), bad: bad, serial: n.toast.serial + 1}
	n.m.dirty = true
	serial := toastOver(n.toast.serial)
	return tea.Tick(toastTime, func(time.Time) tea.Msg { return serial })
}

// tell shows a toast of what nobody has asked for here.
func (n *notices) tell(text string, bad bool) tea.Cmd {
	cmd := n.say(text, bad)
	n.toast.news = true
	return cmd
}

// tellElsewhere tells of another machine, after what is wrong on this one: a mistake in
// the configuration often is in both.
func (n *notices) tellElsewhere(text string) tea.Cmd {
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
	return n.tell(text, true)
}

// unsay takes away what was said last.
func (n *notices) unsay() { n.toast = toast{serial: n.toast.serial + 1} }

func (n *notices) endToast(serial toastOver) tea.Cmd {
	if int(serial) == n.toast.serial {
		n.toast.text = ""
	}
	return nil
}
