package sessions

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/engine/units"
	"tandem/panes/widget"
)

// defaultLong is how long a command has to take to be told of, if nobody says.
const defaultLong = 10 * time.Second

// longInput is how long a program has to have worked before its asking for
// input is told of: less is a program that is being used.
const longInput = 3 * time.Second

// maxNewAge is how old a session may be when first seen and still get notes about what
// happened since its start.
const maxNewAge = 10 * time.Second

// attention is what is kept of sessions to tell what is new.
type attention struct {
	began  map[string]time.Time // when a session's shell began to run something
	turned map[string]time.Time // when it last began or ended to wait
	marks  map[string]string    // what a session wants to be noticed for, until it is looked at
}

// Asks reports whether a session waits for the person.
func (p *Pane) Asks(id string) bool { return p.attention.marks[id] == "asks" }

// tellNews tells what has become of sessions that the person does not look at.
func (p *Pane) tellNews(before []api.Process, now time.Time) tea.Cmd {
	old := make(map[string]*api.Process, len(before))
	for i := range before {
		old[before[i].ID] = &before[i]
	}
	long := p.env.LongCommand()
	if long <= 0 {
		long = defaultLong
	}
	told, bad := p.Agents.tell(false)
	agents, marked := len(told), false
	all := p.env.News().Processes
	for i := range all {
		session := &all[i]
		was := old[session.ID]
		if was == nil && len(before) > 0 && now.Sub(session.StartedAt) < maxNewAge {
			was = &api.Process{Terminal: &api.Terminal{}} // it started after the last list
		}
		if session.Kind != api.KindSession || was == nil {
			continue
		}
		mark, text := p.attention.change(was, session, now, long)
		if text == "" || p.env.LooksAt(session.ID) {
			continue
		}
		bad = bad || widget.Failed(session)
		if mark != "" {
			p.attention.mark(session.ID, mark)
			marked = true
		}
		told = append(told, widget.FullName(session)+" "+text)
	}
	if marked {
		p.Refresh()
	}
	if len(told) == 0 {
		return nil
	}
	text := told[0]
	if len(told) > 1 {
		text = fmt.Sprintf("%s (and %d more)", text, len(told)-1)
	}
	hint := ""
	if agents > 0 {
		hint = p.Agents.howToGo()
	}
	return tea.Batch(p.env.Tell(text+hint, bad), p.env.Notify(text))
}

// change is what a change of a session amounts to: a mark for the list and words;
// empty if it is nothing to be told of.
func (a *attention) change(was, now *api.Process, at time.Time, long time.Duration) (mark, text string) {
	switch {
	case now.State.Ended() && !was.State.Ended():
		a.forget(now.ID)
		if now.State == api.StateStopped { // somebody wanted it
			return "", ""
		}
		return "", widget.HowEnded(now)
	case now.State.Ended() || now.Terminal == nil || was.Terminal == nil:
		return "", ""
	}
	worked, lasted := a.turn(now.ID, was.Terminal.Waiting, now.Terminal.Waiting, at)
	if widget.AgentTells(now) {
		return "", ""
	}
	if now.Terminal.Notices > was.Terminal.Notices {
		return "", "says: " + now.Terminal.Notice
	}
	switch need := now.Terminal.Waiting; {
	case need == was.Terminal.Waiting && now.Terminal.Rang && !was.Terminal.Rang:
		return "", "rings" // the list says so by itself
	case need == was.Terminal.Waiting:
		return "", ""
	case need == "prompt" && worked >= long:
		return "done", "is done after " + units.Age(worked)
	case need == "secret":
		return "asks", "asks for a password"
	case need == "input" && lasted >= longInput:
		return "asks", "waits for input"
	case now.Terminal.Rang && !was.Terminal.Rang:
		return "", "rings"
	}
	return "", ""
}

// TellEnded says who has ended a session that the person looks at, if it was not
// done here: a pane that goes away by itself needs a word.
func (p *Pane) TellEnded(ended *api.Process) tea.Cmd {
	here := p.ending[ended.ID]
	delete(p.ending, ended.ID)
	if ended.State != api.StateStopped || here {
		return nil
	}
	text := widget.FullName(ended) + " was ended"
	switch {
	case strings.HasPrefix(ended.EndedBy, "agent:"):
		text += " by " + widget.Who(ended.EndedBy)
	case ended.EndedBy != "":
		text += " from elsewhere"
	}
	return p.env.Tell(text, true)
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
func (p *Pane) seeMarks() {
	for id, mark := range p.attention.marks {
		session, ok := p.env.News().Process(id)
		answered := mark == "asks" && session.Terminal != nil && session.Terminal.Waiting != "input" && session.Terminal.Waiting != "secret"
		saysSo := mark == "asks" && widget.AgentTells(&session) // it was known by its terminal alone before
		if !ok || answered || saysSo || p.env.LooksAt(id) {
			delete(p.attention.marks, id)
		}
	}
}
