package ui

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes/widget"
)

// Attention is when and how the person is told of what happens out of sight.
type Attention struct {
	NoNotify    bool          // no notifications of the desktop
	LongCommand time.Duration // a command that took this long is told of; default 10s
	Quiet       Hours         // when the desktop is left alone
}

// defaultLong is what Attention.LongCommand is without one.
const defaultLong = 10 * time.Second

// longInput is how long a program has to have worked before its asking for
// input is told of: less is a program that is being used.
const longInput = 3 * time.Second

// attention is what the dashboard keeps to tell what is new.
type attention struct {
	began  map[string]time.Time // when a session's shell began to run something
	turned map[string]time.Time // when it last began or ended to wait
	marks  map[string]string    // what a session wants to be noticed for, until it is looked at
	failed map[string]bool      // processes that were told to have failed
	desk   desk
}

// looksAt reports whether the person has a session before their eyes.
func (m *model) looksAt(id string) bool {
	if m.blurred {
		return false
	}
	for _, l := range m.visible() {
		if l.Pane.ID == id {
			return true
		}
	}
	return false
}

// noteSessions tells what has become of sessions that the person does not look
// at.
func (m *model) noteSessions(before []api.Process, now time.Time) tea.Cmd {
	old := make(map[string]*api.Process, len(before))
	for i := range before {
		old[before[i].ID] = &before[i]
	}
	var told []string
	bad := false
	for i := range m.news.Processes {
		p := &m.news.Processes[i]
		was := old[p.ID]
		if p.Kind != api.KindSession || was == nil {
			continue
		}
		mark, text := m.sessionNews(was, p, now)
		if text == "" || m.looksAt(p.ID) {
			continue
		}
		bad = bad || widget.Failed(p)
		if mark != "" {
			m.attention.mark(p.ID, mark)
		}
		told = append(told, widget.Clean(p.Name)+" "+text)
	}
	if len(told) == 0 {
		return nil
	}
	text := withMore(told)
	return tea.Batch(m.tell(text, bad), m.notify(text))
}

// sessionNews is what a change of a session amounts to: a mark for the list and
// words; empty if it is nothing to be told of.
func (m *model) sessionNews(was, p *api.Process, now time.Time) (mark, text string) {
	a := &m.attention
	switch {
	case p.State.Ended() && !was.State.Ended():
		a.forget(p.ID)
		if p.State == api.StateStopped { // somebody wanted it
			return "", ""
		}
		return "", widget.HowEnded(p)
	case p.State.Ended() || p.Terminal == nil || was.Terminal == nil:
		return "", ""
	}
	worked, lasted := a.turn(p.ID, was.Terminal.Waiting, p.Terminal.Waiting, now)
	long := m.o.Attention.LongCommand
	if long <= 0 {
		long = defaultLong
	}
	switch need := p.Terminal.Waiting; {
	case need == was.Terminal.Waiting && p.Terminal.Rang && !was.Terminal.Rang:
		return "", "rings" // the list says so by itself
	case need == was.Terminal.Waiting:
		return "", ""
	case need == "prompt" && worked >= long:
		return "done", "is done after " + widget.Age(worked)
	case need == "secret":
		return "asks", "asks for a password"
	case need == "input" && lasted >= longInput:
		return "asks", "waits for input"
	case p.Terminal.Rang && !was.Terminal.Rang:
		return "", "rings"
	}
	return "", ""
}

// tellEnded says who has ended a session that the person looks at, if it was not
// done here: a pane that goes away by itself needs a word.
func (m *model) tellEnded(ended *api.Process) tea.Cmd {
	here := m.ending[ended.ID]
	delete(m.ending, ended.ID)
	if ended.State != api.StateStopped || here {
		return nil
	}
	text := widget.Clean(ended.Name) + " was ended"
	switch {
	case strings.HasPrefix(ended.EndedBy, "agent:"):
		text += " by " + widget.Who(ended.EndedBy)
	case ended.EndedBy != "":
		text += " from elsewhere"
	}
	return m.tell(text, true)
}

// turn follows what a session waits for. It returns, when its shell has its
// prompt back, how long what it ran has taken, and how long it has been since it
// last began or ended to wait; 0 for what was not seen.
func (a *attention) turn(id, was, now string, at time.Time) (worked, lasted time.Duration) {
	if was == now {
		return 0, 0
	}
	if a.began == nil {
		a.began, a.turned = map[string]time.Time{}, map[string]time.Time{}
	}
	if since, ok := a.turned[id]; ok {
		lasted = at.Sub(since)
	}
	a.turned[id] = at
	switch {
	case was == "prompt":
		a.began[id] = at
	case now == "prompt":
		if since, ok := a.began[id]; ok {
			worked = at.Sub(since)
		}
		delete(a.began, id)
	}
	return worked, lasted
}

func (a *attention) mark(id, text string) {
	if a.marks == nil {
		a.marks = map[string]string{}
	}
	a.marks[id] = text
}

func (a *attention) forget(id string) {
	delete(a.began, id)
	delete(a.turned, id)
	delete(a.marks, id)
}

// seeMarks takes away the marks of sessions that are looked at now, and of those
// that are gone or go on.
func (m *model) seeMarks() {
	for id, mark := range m.attention.marks {
		p, ok := m.process(id)
		answered := mark == "asks" && p.Terminal != nil && p.Terminal.Waiting != "input" && p.Terminal.Waiting != "secret"
		if !ok || answered || m.looksAt(id) {
			delete(m.attention.marks, id)
			m.dirty = true
		}
	}
}

// Hours are a part of the day, in minutes since midnight; From may be later than
// To. The zero value is none of it.
type Hours struct{ From, To int }

// Have reports whether a time is among the hours, by its own clock.
func (h Hours) Have(t time.Time) bool {
	at := 60*t.Hour() + t.Minute()
	if h.From <= h.To {
		return h.From <= at && at < h.To
	}
	return at >= h.From || at < h.To
}
