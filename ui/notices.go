package ui

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes/widget"
)

// noteChanges tells of processes that have failed or become ready.
func (m *model) noteChanges(before []api.Process) tea.Cmd {
	old := make(map[string]*api.Process, len(before))
	for i := range before {
		old[before[i].ID] = &before[i]
	}
	var failed, ready []string
	for i := range m.news.Processes {
		p := &m.news.Processes[i]
		was := old[p.ID]
		if was == nil && time.Since(p.StartedAt) < unsteady {
			was = &api.Process{} // so new that its start was not seen
		}
		if was == nil || p.Kind != api.KindProcess || oneOff(p) {
			continue
		}
		switch {
		case inTrouble(p) && !inTrouble(was) && !m.toldAlready(p):
			failed = append(failed, widget.Clean(p.Name)+" failed: "+widget.HowEnded(p))
		case isReady(p) && !isReady(was):
			ready = append(ready, widget.Clean(p.Name)+" is ready")
		}
	}
	switch {
	case len(failed) > 0:
		return tea.Batch(m.tell(withMore(failed), true), m.notify(withMore(failed)))
	case len(ready) > 0:
		return tea.Batch(m.tell(withMore(ready), false), m.notify(withMore(ready)))
	}
	return nil
}

// unsteady is how long a process may run and still count as failing again
// rather than anew.
const unsteady = 10 * time.Second

// toldAlready keeps a process that fails over and over from being told of each
// time.
func (m *model) toldAlready(p *api.Process) bool {
	a := &m.notices
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

func isReady(p *api.Process) bool {
	return p.State == api.StateRunning && p.Supervision != nil && p.Supervision.Ready != nil && *p.Supervision.Ready
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
	failed map[string]bool // processes that were told to have failed
	last   time.Time       // when the desktop was told something
	held   []string        // what it is to be told next
	timer  bool            // notifyDue is on its way
}

// notifyDue is the end of the gap after a notification.
type notifyDue struct{}

// notify has the terminal tell the desktop, unless the person looks at it, wants
// none, or has quiet hours.
func (m *model) notify(text string) tea.Cmd {
	a := &m.o.Attention
	now := time.Now()
	if !m.blurred || a.NoNotify || m.terminal == nil || a.Quiet.Have(now) {
		return nil
	}
	d := &m.notices
	d.held = append(d.held, text)
	if wait := notifyGap - now.Sub(d.last); wait > 0 {
		if d.timer {
			return nil
		}
		d.timer = true
		return tea.Tick(wait, func(time.Time) tea.Msg { return notifyDue{} })
	}
	m.tellDesktop(now)
	return nil
}

// tellDesktop tells the desktop what was held back.
func (m *model) tellDesktop(now time.Time) {
	d := &m.notices
	if len(d.held) == 0 || m.terminal == nil {
		return
	}
	text := withMore(d.held)
	d.held, d.last = nil, now
	m.terminal.Notify(text)
}

func (m *model) notifyDue() {
	m.notices.timer = false
	if m.blurred {
		m.tellDesktop(time.Now())
	}
	m.notices.held = nil
}
