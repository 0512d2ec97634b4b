package list

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
	"tandem/panes/kit/look"
	"tandem/panes/kit/text"
	"tandem/panes/states"
)

// Agents tracks the coding agents in sessions: how many there are in each state, and which need the
// user.
type Agents struct {
	Count AgentCount

	p           *Pane
	inbox       *inbox.Inbox               // opened last
	reported    map[string]api.CodingAgent // by session: the last reported state
	seen        map[string]time.Time       // by session: start of the finished state last seen here
	lastVisited api.Process                // the session last visited by visitNext
	ageTimer    bool                       // an update of the ages is scheduled
}

// An AgentCount counts coding agents by state. Done counts those whose finished work the user has
// not seen.
type AgentCount struct{ Blocked, Done, Working int }

// NeedsUser reports whether the coding agent in a session needs the user's attention.
func (a *Agents) NeedsUser(session *api.Process) bool {
	now := session.Agent
	return now.NeedsAttention() && !(now.State == api.AgentDone && now.Since.Equal(a.seen[session.ID]))
}

// ListWaiting returns the sessions whose agents need the user, the longest wait first.
func (a *Agents) ListWaiting() (all []api.Process) {
	for _, session := range a.p.env.News().Processes {
		if a.NeedsUser(&session) {
			all = append(all, session)
		}
	}
	slices.SortStableFunc(all, func(a, b api.Process) int { return a.Agent.Since.Compare(b.Agent.Since) })
	return all
}

// visitNext shows the next session whose agent needs the user.
func (a *Agents) visitNext() tea.Cmd {
	all, p := a.ListWaiting(), a.p
	if len(all) == 0 {
		return p.env.Say("no agent needs you", false)
	}
	next := 0
	if p.shown {
		next = a.nextIndex(all, p.current)
	}
	if p.shown && all[next].ID == p.current {
		return p.env.Say("no other agent needs you", false)
	}
	a.lastVisited = all[next]
	return p.env.ShowSession(a.lastVisited.ID)
}

// nextIndex returns the index in all that follows session id. If that session was just visited and
// no longer waits, the index is that of the first session waiting for a shorter time.
func (a *Agents) nextIndex(all []api.Process, id string) int {
	at := slices.IndexFunc(all, func(s api.Process) bool { return s.ID == id })
	if at < 0 && id == a.lastVisited.ID {
		at = slices.IndexFunc(all, func(s api.Process) bool { return s.Agent.Since.After(a.lastVisited.Agent.Since) })
		return max(at, 0)
	}
	return (at + 1) % len(all)
}

// ShowInbox opens the inbox.
func (a *Agents) ShowInbox() tea.Cmd {
	env := a.p.env
	box := inbox.New(inbox.Options{Env: env, ListWaiting: a.ListWaiting, MarkSeen: a.markSeen, ShowRequest: env.ShowRequest, Describe: describeAgent,
		DescribeTree: a.p.Trees.describeTree, ShowDiff: a.showDiff})
	if box.Count() == 0 {
		return env.Say("nothing needs you", false)
	}
	a.inbox = box
	env.Ask(box)
	return nil
}

// showDiff shows the changes in a session's worktree.
func (a *Agents) showDiff(session *api.Process) tea.Cmd {
	tree := worktreeOf(session)
	if tree == "" {
		return a.p.env.Say("this agent is not in a worktree", true)
	}
	a.p.env.Close()
	return a.p.Trees.showDiff(tree, nil)
}

// fetchInbox loads missing data for the inbox if it is open.
func (a *Agents) fetchInbox() tea.Cmd {
	if a.inbox == nil || !a.p.env.Shows(a.inbox) {
		return nil
	}
	return a.inbox.Fetch()
}

// countAgents counts coding agents by state. If a session with finished work is on the screen, it
// marks the work as seen.
func (a *Agents) countAgents() {
	a.Count = AgentCount{}
	all := a.p.env.News().Processes
	for i := range all {
		session := &all[i]
		if session.Agent == nil {
			continue
		}
		// Finished work counts as seen once it is on the screen. A question stays until it is
		// answered.
		if session.Agent.State == api.AgentDone && a.NeedsUser(session) && a.p.env.IsVisible(session.ID) {
			a.markSeen(session)
		}
		switch {
		case session.Agent.State == api.AgentWorking:
			a.Count.Working++
		case session.Agent.State == api.AgentBlocked:
			a.Count.Blocked++
		case a.NeedsUser(session):
			a.Count.Done++
		}
	}
}

// markSeen records, here and in the engine, that the user has seen an agent's finished work, so
// that no dashboard reports it again.
func (a *Agents) markSeen(session *api.Process) {
	in := api.AgentSeenInput{ID: session.ID, Since: session.Agent.Since}
	a.seen[in.ID] = in.Since
	a.queueCmd(panes.Do(a.p.env, func(ctx context.Context, e panes.Engine) error {
		_ = api.AgentSeen.Run(ctx, e, in) // after an error, the next dashboard shows it again
		return nil
	}))
}

func (a *Agents) queueCmd(cmd tea.Cmd) { a.p.queued = tea.Batch(a.p.queued, cmd) }

// collectNews returns notes about agents in sessions that are not visible, those of blocked agents
// first, and the question of the agent in the first note. With silent it only records the states.
func (a *Agents) collectNews(silent bool) (notes []string, question string, urgency panes.Urgency) {
	all := a.p.env.News().Processes
	for i := range all {
		session := &all[i]
		if !a.isNew(session) || silent || a.p.env.IsVisible(session.ID) {
			continue
		}
		note := describeAgent(session) + " is " + string(session.Agent.State)
		if session.Agent.State != api.AgentBlocked {
			notes = append(notes, note)
			continue
		}
		question = text.Clean(session.Agent.Text)
		notes, urgency = append([]string{note}, notes...), panes.NeedsAnswer
	}
	return notes, question, urgency
}

// questionDelay is how long after an agent was blocked the text of its question may arrive. A later
// change is a new question.
const questionDelay = 2 * time.Second

// isNew reports whether an agent needs the user for something not reported yet, and records that it
// is reported now. It compares with earlier reports, because after a reconnect the engine sends all
// states again.
func (a *Agents) isNew(session *api.Process) bool {
	now := session.Agent
	if now == nil || now.State == api.AgentWorking || now.State == api.AgentIdle {
		delete(a.reported, session.ID)
		return false
	}
	if !now.NeedsAttention() {
		return false
	}
	before, known := a.reported[session.ID]
	a.reported[session.ID] = *now
	switch {
	case !known || before.State != now.State:
		return true
	// The text of a question may arrive after the state.
	case now.Since.Equal(before.Since):
		return before.Text != "" && now.Text != before.Text
	}
	return before.Text != "" || now.Since.Sub(before.Since) > questionDelay
}

// describeAgent names an agent with its session.
func describeAgent(session *api.Process) string {
	name, where := text.Clean(session.Agent.Name), text.Clean(session.Name)
	if name == where {
		where = text.Clean(path.Base(session.CWD))
	}
	machine, _ := api.MachineOf(session.ID)
	where = api.OnMachine(machine, where)
	return cmp.Or(name, "an agent") + " in " + where
}

func (a *Agents) keyHint() string {
	return a.p.env.Bindings().WithKey(" – ", keymap.SessionWaiting, " goes there", keymap.ScopePrefix)
}

// scheduleAges schedules an update of the list for the moment at which the shown age of an agent
// changes next.
func (a *Agents) scheduleAges() {
	if a.ageTimer || !a.p.shown {
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
	a.ageTimer = true
	a.queueCmd(panes.After(next+time.Second/10, func() tea.Cmd {
		a.ageTimer = false
		a.p.Refresh()
		return nil
	}))
}

// agentText returns the name, the state and the age of a coding agent for its row, or as many of
// these as fit into w cells.
func agentText(r *Row, w int) string {
	a := r.Process.Agent
	name, state := text.Clip(text.Clean(a.Name), maxAgentCells), string(a.State)
	if a.State == api.AgentUnknown {
		state = ""
	}
	for _, words := range [][]string{{name, state, r.Age}, {name, r.Age}, {name}, {r.Age}} {
		words = slices.DeleteFunc(words, func(word string) bool { return word == "" })
		if s := strings.Join(words, " "); text.Width(s) <= w {
			return s
		}
	}
	return ""
}

// tabMark returns the mark of a session for the tab bar, or "". A tab shows the mark of its session
// with the highest urgency.
func tabMark(r *Row, look *look.Look) (mark string, ink look.Ink, urgency int) {
	p := &r.Process
	tells := states.AgentTells(p)
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
	mark, ink = states.AgentGlyph(p.Agent, look)
	return mark, ink, urgency
}

// makeRow returns the row of a session.
func (a *Agents) makeRow(session api.Process) Row {
	r := Row{Process: session, Mark: a.p.attention.marks[session.ID], Tree: a.p.Trees.worktreeFor(&session)}
	if r.Mark == "done" && session.Terminal != nil && session.Terminal.Running != "" {
		r.Mark = "" // it would stand beside the name of another command
	}
	if states.AgentTells(&session) {
		now := *session.Agent
		now.Seen = now.State == api.AgentDone && !a.NeedsUser(&session)
		r.Process.Agent, r.Age = &now, states.AgentAge(&now, time.Now())
	}
	return r
}
