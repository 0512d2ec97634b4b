package sessions

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/inbox"
	"tandem/panes/widget"
)

// Agents are the coding agents in sessions: what they need the person for.
type Agents struct {
	Count AgentCount

	p     *Pane
	inbox *inbox.Inbox               // as it was opened last
	told  map[string]api.CodingAgent // by session: what it was told to need the person for
	seen  map[string]time.Time       // by session: since when it had been done what was looked at here
	went  api.Process                // where next went last: what is done there is seen by that
	aging bool                       // a look at their ages is on its way
}

// An AgentCount is how many agents do what; those that are done count until that is looked
// at.
type AgentCount struct{ Blocked, Done, Working int }

// Wants reports whether the coding agent in a session needs the person.
func (a *Agents) Wants(session *api.Process) bool {
	now := session.Agent
	return now.NeedsAttention() && !(now.State == api.AgentDone && now.Since.Equal(a.seen[session.ID]))
}

// Waiting are the sessions whose agents need the person, those first that have waited
// longest.
func (a *Agents) Waiting() (all []api.Process) {
	for _, session := range a.p.env.News().Processes {
		if a.Wants(&session) {
			all = append(all, session)
		}
	}
	slices.SortStableFunc(all, func(a, b api.Process) int { return a.Agent.Since.Compare(b.Agent.Since) })
	return all
}

// next goes to the next session whose agent needs the person.
func (a *Agents) next() tea.Cmd {
	all, p := a.Waiting(), a.p
	if len(all) == 0 {
		return p.env.Say("no agent needs you", false)
	}
	next := 0
	if p.shown {
		next = a.after(all, p.current)
	}
	if p.shown && all[next].ID == p.current {
		return p.env.Say("no other agent needs you", false)
	}
	a.went = all[next]
	return p.env.ShowSession(a.went.ID)
}

// after is the place behind a session among those that wait. One that next went to keeps
// the place that it had.
func (a *Agents) after(all []api.Process, id string) int {
	at := slices.IndexFunc(all, func(s api.Process) bool { return s.ID == id })
	if at < 0 && id == a.went.ID {
		at = slices.IndexFunc(all, func(s api.Process) bool { return s.Agent.Since.After(a.went.Agent.Since) })
		return max(at, 0)
	}
	return (at + 1) % len(all)
}

// ShowInbox opens what needs the person.
func (a *Agents) ShowInbox() tea.Cmd {
	env := a.p.env
	box := inbox.New(inbox.Options{Env: env, Waiting: a.Waiting, See: a.see, Request: env.ShowRequest, Name: agentIn,
		Tree: a.p.Trees.words, Diff: a.diff})
	if box.Count() == 0 {
		return env.Say("nothing needs you", false)
	}
	a.inbox = box
	env.Ask(box)
	return nil
}

// diff shows what was changed in a session's worktree, and then the inbox again.
func (a *Agents) diff(session *api.Process) tea.Cmd {
	tree := treeOf(session)
	if tree == "" {
		return a.p.env.Say("this agent is in no worktree", true)
	}
	a.p.env.Close()
	return a.p.Trees.diff(tree, a.ShowInbox)
}

// fetch asks for what the inbox shows, if it is open.
func (a *Agents) fetch() tea.Cmd {
	if a.inbox == nil || !a.p.env.Shows(a.inbox) {
		return nil
	}
	return a.inbox.Fetch()
}

// look counts coding agents, and notes which of those that are done are looked at now.
func (a *Agents) look() {
	a.Count = AgentCount{}
	all := a.p.env.News().Processes
	for i := range all {
		session := &all[i]
		if session.Agent == nil {
			continue
		}
		if session.Agent.State == api.AgentDone && a.Wants(session) && a.p.env.LooksAt(session.ID) {
			a.see(session)
		}
		switch {
		case session.Agent.State == api.AgentWorking:
			a.Count.Working++
		case session.Agent.State == api.AgentBlocked:
			a.Count.Blocked++
		case a.Wants(session):
			a.Count.Done++
		}
	}
}

// see notes that what an agent has done was looked at, for other dashboards too.
func (a *Agents) see(session *api.Process) {
	if a.seen == nil {
		a.seen = map[string]time.Time{}
	}
	in := api.AgentSeenInput{ID: session.ID, Since: session.Agent.Since}
	a.seen[in.ID] = in.Since
	a.due(panes.Call(a.p.env, func(ctx context.Context, e panes.Engine) tea.Msg {
		api.AgentSeen.Run(ctx, e, in) // what cannot be noted is shown again by the next dashboard
		return nil
	}, func(error) tea.Msg { return nil }))
}

// due has a command run by the next Fetch.
func (a *Agents) due(cmd tea.Cmd) { a.p.told = tea.Batch(a.p.told, cmd) }

// tell gives what agents have begun to need the person for, where nobody looks, questions
// first; silent only notes it.
func (a *Agents) tell(silent bool) (told []string, blocked bool) {
	all := a.p.env.News().Processes
	for i := range all {
		session := &all[i]
		if !a.isNew(session) || silent || a.p.env.LooksAt(session.ID) {
			continue
		}
		text := agentIn(session) + " is " + string(session.Agent.State)
		if session.Agent.State != api.AgentBlocked {
			told = append(told, text)
			continue
		}
		if asks := widget.Clean(session.Agent.Text); asks != "" {
			text += ": " + asks
		}
		told, blocked = append([]string{text}, told...), true
	}
	return told, blocked
}

// sameQuestion is how soon after an agent was blocked its question may be seen and is no
// new one.
const sameQuestion = 2 * time.Second

// isNew reports whether an agent needs the person for something that was not noted yet,
// and notes it. An engine that was started again, or reached again, tells what was known.
func (a *Agents) isNew(session *api.Process) bool {
	now := session.Agent
	if now == nil || now.State == api.AgentWorking || now.State == api.AgentIdle {
		delete(a.told, session.ID)
		return false
	}
	if !now.NeedsAttention() {
		return false
	}
	before, known := a.told[session.ID]
	if a.told == nil {
		a.told = map[string]api.CodingAgent{}
	}
	a.told[session.ID] = *now
	switch {
	case !known || before.State != now.State:
		return true
	case now.Since.Equal(before.Since):
		return before.Text != "" && now.Text != before.Text
	}
	return before.Text != "" || now.Since.Sub(before.Since) > sameQuestion
}

// agentIn names an agent and where it is.
func agentIn(session *api.Process) string {
	name, where := widget.Clean(session.Agent.Name), widget.Clean(session.Name)
	if name == where {
		where = widget.Clean(path.Base(session.CWD))
	}
	machine, _ := api.MachineOf(session.ID)
	where = api.OnMachine(machine, where)
	return cmp.Or(name, "an agent") + " in " + where
}

// howToGo says which key leads to it.
func (a *Agents) howToGo() string {
	return panes.WithKey(a.p.env.Bindings(), " – ", keymap.SessionWaiting, " goes there", keymap.ScopePrefix)
}

// ageAgain has the ages of agents in the list drawn again when the next of them changes.
func (a *Agents) ageAgain() {
	if a.aging || !a.p.shown {
		return
	}
	now, next := time.Now(), time.Duration(0)
	for _, r := range a.p.list.Rows() {
		if r.Age == "" {
			continue
		}
		age := max(now.Sub(r.Process.Agent.Since), 0)
		if due := time.Minute - age%time.Minute; next == 0 || due < next {
			next = due
		}
	}
	if next == 0 {
		return
	}
	a.aging = true
	a.due(panes.After(next+time.Second/10, func() tea.Cmd {
		a.aging = false
		a.p.Refresh()
		return nil
	}))
}

// agentText is what a row tells of the coding agent in its session, in at most w cells.
func agentText(r *Row, w int) string {
	a := r.Process.Agent
	name, state := widget.Clip(widget.Clean(a.Name), agentCells), string(a.State)
	if a.State == api.AgentUnknown {
		state = ""
	}
	for _, words := range [][]string{{name, state, r.Age}, {name, r.Age}, {name}, {r.Age}} {
		words = slices.DeleteFunc(words, func(word string) bool { return word == "" })
		if text := strings.Join(words, " "); widget.Width(text) <= w {
			return text
		}
	}
	return ""
}

// tabMark is what the bar of tabs shows of a session, "" for nothing, and how much that
// wants to be seen before what others of the tab show.
func tabMark(r *Row, look *widget.Look) (mark string, ink widget.Ink, urgency int) {
	p := &r.Process
	tells := widget.AgentTells(p)
	mark, ink = rowMark(r, look)
	switch {
	case tells && p.Agent.State == api.AgentBlocked:
		urgency = 4
	case mark != "":
		return mark, ink, 3
	case tells && p.Agent.NeedsAttention():
		urgency = 2
	case tells && p.Agent.State == api.AgentWorking:
		urgency = 1
	default:
		return "", ink, 0
	}
	mark, ink = widget.AgentGlyph(p.Agent, look)
	return mark, ink, urgency
}

// row is a session as the list shows it.
func (a *Agents) row(session api.Process) Row {
	r := Row{Process: session, Mark: a.p.attention.marks[session.ID], Tree: a.p.Trees.of(&session)}
	if widget.AgentTells(&session) {
		now := *session.Agent
		now.Seen = now.State == api.AgentDone && !a.Wants(&session)
		r.Process.Agent, r.Age = &now, widget.AgentAge(&now, time.Now())
	}
	return r
}
