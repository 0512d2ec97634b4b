package ui

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
	"tandem/panes/sessions"
	"tandem/panes/widget"
)

// changedMsg says that the link has news or a pane's session has.
type changedMsg struct{}

// sync takes in what the link has learnt.
func (m *model) sync() tea.Cmd {
	var cmds []tea.Cmd
	if n := m.link.Latest(); n.Serial != m.news.Serial {
		cmds = append(cmds, m.takeNews(n))
	}
	rang := false
	for p := range m.attachments {
		if p.Sync() {
			rang = true
		}
	}
	cmds = append(cmds, m.takeClips())
	cmds = append(cmds, m.closeFinished())
	if rang && m.terminal != nil {
		m.terminal.Bell()
	}
	return tea.Batch(cmds...)
}

// takeClips passes on what the program in the focused pane put on the clipboard.
// Those in other panes have no business there.
func (m *model) takeClips() (cmd tea.Cmd) {
	for p := range m.attachments {
		if clip := p.Feed.TakeClip(); clip != nil && p == m.focused() {
			cmd = m.takeClip(clip)
		}
	}
	return cmd
}

func (m *model) takeNews(n panes.News) tea.Cmd {
	before := m.news
	m.news = n
	m.dirty = true
	m.restoreLayout()
	m.reopenRunning()
	m.unasked(m.adopt)
	if n.Show != nil {
		m.showLayout(*n.Show)
	}
	m.refreshList()
	m.tellPanes(&before)
	cmd := m.notePalette(&before)
	if n.Stopped != "" {
		return m.leave()
	}
	cmd = tea.Batch(cmd, m.open(), m.endCalledOff())
	if before.Snapshots > 0 {
		cmd = tea.Batch(cmd, m.noteSessions(before.Processes, time.Now()), m.noteChanges(before.Processes))
	}
	if before.Snapshots > 0 && n.Snapshots > before.Snapshots {
		cmd = tea.Batch(cmd, m.tell("reconnected", false))
	}
	cmd = tea.Batch(cmd, m.noteRequests(before.Requests))
	for _, notice := range n.Notices {
		cmd = tea.Batch(cmd, m.tell(notice, true))
	}
	return cmd
}

// reopenRunning takes sessions that run again out of those that were put away.
func (m *model) reopenRunning() {
	for _, p := range m.news.Processes {
		if m.closed[p.ID] && !p.State.Ended() {
			delete(m.closed, p.ID)
			m.layouts.changed = true
		}
	}
}

// adopt gives every live session that is in no tab one of its own, and drops
// tabs that were never opened when their session has ended. One that is being
// started here has its pane already.
func (m *model) adopt() {
	if !m.news.Connected {
		return
	}
	live := map[string]bool{}
	for _, p := range m.news.Processes {
		if p.Kind != api.KindSession || p.State.Ended() {
			continue
		}
		live[p.ID] = true
		m.revive(p)
		if g, _ := m.tabs.Find(p.ID); g == nil && !m.isAskedFor(p.ID) {
			m.tabs.Add(m.tabs.New(p.ID))
			m.layouts.changed = true
		}
	}
	for _, g := range slices.Clone(m.tabs.All) {
		if g == m.tabs.Current {
			continue
		}
		for _, l := range g.Root.Leaves(nil) {
			if l.Pane.ID != "" && !live[l.Pane.ID] && m.attachments[l.Pane] == nil {
				m.closeLeaf(g, l)
			}
		}
	}
	m.showSomething()
}

// showSomething shows the first session that there is, once none was shown
// because there was none.
func (m *model) showSomething() {
	if m.opened && m.tabs.Current == nil && len(m.tabs.All) > 0 {
		onList := m.listFocused
		m.show(m.tabs.All[0], nil)
		m.listFocused = onList
	}
}

// open shows the first session, or starts one, once both the screen's size and
// the sessions are known.
func (m *model) open() tea.Cmd {
	if m.opened || !m.news.Connected || m.w == 0 {
		return nil
	}
	m.opened = true
	if len(m.tabs.All) > 0 {
		m.show(m.openingTab(), nil)
		m.refreshList()
		return nil
	}
	return m.newSession()
}

// closeFinished puts away the panes whose program has ended well, or was ended
// on purpose; one that failed stays to be read.
func (m *model) closeFinished() (told tea.Cmd) {
	for p := range m.attachments {
		ended := p.Ended()
		if ended == nil {
			continue
		}
		g, l := m.tabs.Of(p)
		switch {
		case g == nil:
			m.release(p)
		case !widget.Failed(ended):
			if slices.Contains(m.visible(), l) {
				told = m.tellEnded(ended)
			}
			m.unasked(func() { m.closeLeaf(g, l) })
			m.refreshList()
		}
	}
	return told
}

// maxEndedRows is how many sessions that ended badly the list shows.
const maxEndedRows = 20

// refreshList makes the list's rows: sessions in the order of their tabs,
// then those that ended badly.
func (m *model) refreshList() {
	m.seeMarks()
	var rows []sessions.Row
	var current string
	if m.tabs.Current != nil {
		current = m.tabs.Current.Focus.Pane.ID
	}
	for _, g := range m.tabs.All {
		leaves := g.Root.Leaves(nil)
		for i, l := range leaves {
			if p, ok := m.process(l.Pane.ID); ok {
				rows = append(rows, sessions.Row{Process: p, Branch: branch(i, len(leaves)), Current: p.ID == current, Mark: m.attention.marks[p.ID]})
			}
		}
	}
	rows = slices.DeleteFunc(append(rows, m.endedRows()...), func(r sessions.Row) bool {
		return !matches(r.Process, m.filter)
	})
	m.list.SetRows(rows)
	m.list.Focused, m.list.Filter = m.listFocused, m.filter
	if !m.listFocused {
		m.list.Select(current)
	}
	m.dirty = true
}

func branch(i, n int) string {
	switch {
	case n == 1:
		return ""
	case i == 0:
		return "┌"
	case i == n-1:
		return "└"
	}
	return "│"
}

// endedRows are the newest sessions that ended badly and are in no tab.
func (m *model) endedRows() []sessions.Row {
	var rows []sessions.Row
	for _, p := range slices.Backward(m.news.Processes) {
		if p.Kind != api.KindSession || !widget.Failed(&p) || m.closed[p.ID] || len(rows) == maxEndedRows {
			continue
		}
		if g, _ := m.tabs.Find(p.ID); g == nil {
			rows = append(rows, sessions.Row{Process: p})
		}
	}
	return rows
}

func matches(p api.Process, filter string) bool {
	if filter == "" {
		return true
	}
	text := p.Name + " " + p.Command + " " + p.CWD + " " + p.Actor
	if p.Terminal != nil {
		text += " " + p.Terminal.Title
	}
	return strings.Contains(strings.ToLower(text), strings.ToLower(filter))
}
