package list

import (
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/engine/base/units"
	"tandem/panes"
	"tandem/panes/kit/text"
	"tandem/panes/states"
)

// minInputWait is how long a program must have worked before a note says that it waits for input. A
// program that asks sooner is being used by the user.
const minInputWait = 3 * time.Second

// maxNewAge is the maximum age of a session that is new to this dashboard and still gets notes
// about changes since its start.
const maxNewAge = 10 * time.Second

// attention holds what is remembered about sessions to tell which changes deserve a note.
type attention struct {
	startedAt   map[string]time.Time // start of the command in a session's shell
	waitChanged map[string]time.Time // when the session last started or stopped waiting
	marks       map[string]string    // shown in the list until the session is seen
}

// NeedsInput reports whether a session waits for the user.
func (p *Pane) NeedsInput(id string) bool { return p.attention.marks[id] == "asks" }

// reportNews shows a note about changes of sessions the user does not see.
func (p *Pane) reportNews(before *panes.News, now time.Time) tea.Cmd {
	old := before.ByID()
	long := p.env.Settings().Attention.LongCommand.Value()
	notes, question, urgency := p.Agents.collectNews(false)
	agents, marked := len(notes), false
	all := p.env.News().Processes
	for i := range all {
		session := &all[i]
		was := old[session.ID]
		if was == nil && len(old) > 0 && now.Sub(session.StartedAt) < maxNewAge {
			was = &api.Process{Terminal: &api.Terminal{}} // it started after the last list
		}
		if session.Kind != api.KindSession || was == nil {
			continue
		}
		mark, event := p.attention.classify(was, session, now, long)
		// Classify visible sessions too, because trackWaiting must see every change.
		if event == "" || p.env.IsVisible(session.ID) || session.State.Ended() && p.env.IsVisit(session.ID) {
			continue
		}
		switch {
		case session.Failed():
			urgency = panes.HasFailed
		case mark == "asks":
			urgency = max(urgency, panes.NeedsAnswer)
		}
		if mark != "" {
			p.attention.marks[session.ID], marked = mark, true
		}
		notes = append(notes, states.FullName(session)+" "+event)
	}
	if marked {
		p.Refresh()
	}
	if len(notes) == 0 {
		return nil
	}
	note, hint := text.First(notes), ""
	if agents > 0 {
		hint = p.Agents.keyHint()
	}
	if question != "" {
		question = ": " + question
	}
	// The key comes early so that it is not cut off.
	return p.env.ReportEvent(note+hint+question, note+question, urgency)
}

// classify returns the mark and the note for a change of a session from before to now. Both are
// empty if the change deserves no note. minRun is how long a command must have run for a note about
// its end.
func (a *attention) classify(before, now *api.Process, at time.Time, minRun time.Duration) (mark, text string) {
	switch {
	case now.State.Ended() && !before.State.Ended():
		a.dropSession(now.ID)
		if now.State == api.StateStopped { // on request
			return "", ""
		}
		return "", states.HowEnded(now)
	case now.State.Ended() || now.Terminal == nil || before.Terminal == nil:
		return "", ""
	}
	worked, lasted := a.trackWaiting(now.ID, before.Terminal.Waiting, now.Terminal.Waiting, at)
	// The agent's own reports are better than guesses from its terminal.
	if states.AgentTells(now) {
		return "", ""
	}
	if now.Terminal.Notices > before.Terminal.Notices {
		return "", "says: " + now.Terminal.Notice
	}
	switch need := now.Terminal.Waiting; {
	case need == before.Terminal.Waiting && now.Terminal.Rang && !before.Terminal.Rang:
		return "", "rings" // the list shows this itself
	case need == before.Terminal.Waiting:
		return "", ""
	case need == "prompt" && worked >= minRun:
		return "done", "is done after " + units.Age(worked)
	case need == "secret":
		return "asks", "asks for a password"
	case need == "input" && lasted >= minInputWait:
		return "asks", "waits for input"
	case now.Terminal.Rang && !before.Terminal.Rang:
		return "", "rings"
	}
	return "", ""
}

// ReportExit shows a note about who has stopped a visible session, because its pane closes. It
// shows no note if the user stopped the session in this dashboard.
func (p *Pane) ReportExit(ended *api.Process) tea.Cmd {
	if here := p.takeStop(ended); ended.State != api.StateStopped || here {
		return nil
	}
	text := states.FullName(ended) + " was stopped"
	switch {
	case strings.HasPrefix(ended.EndedBy, "agent:"):
		text += " by " + states.Who(ended.EndedBy)
	case ended.EndedBy != "":
		text += " from elsewhere"
	}
	return p.env.ShowNote(text, true)
}

// trackWaiting records changes of Terminal.Waiting. worked is how long a command ran if the prompt
// has just returned; lasted is the time since the previous change. Either is 0 if unknown.
func (a *attention) trackWaiting(id, before, now string, at time.Time) (worked, lasted time.Duration) {
	if before == now {
		return 0, 0
	}
	if a.startedAt == nil {
		a.startedAt, a.waitChanged = map[string]time.Time{}, map[string]time.Time{}
	}
	if since, ok := a.waitChanged[id]; ok {
		lasted = at.Sub(since)
	}
	a.waitChanged[id] = at
	switch {
	case before == "prompt":
		a.startedAt[id] = at
	case now == "prompt":
		if since, ok := a.startedAt[id]; ok {
			worked = at.Sub(since)
		}
		delete(a.startedAt, id)
	}
	return worked, lasted
}

func (a *attention) dropSession(id string) {
	delete(a.startedAt, id)
	delete(a.waitChanged, id)
	delete(a.marks, id)
}

// clearSeenMarks removes the marks of sessions that are visible, gone, or no longer waiting.
func (p *Pane) clearSeenMarks() {
	for id, mark := range p.attention.marks {
		session, ok := p.env.News().Process(id)
		answered := mark == "asks" && session.Terminal != nil && session.Terminal.Waiting != "input" && session.Terminal.Waiting != "secret"
		saysSo := mark == "asks" && states.AgentTells(&session) // marked before it was known as an agent
		if !ok || answered || saysSo || p.env.IsVisible(id) {
			delete(p.attention.marks, id)
		}
	}
}
