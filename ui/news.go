package ui

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/keys/keymap"
	"tandem/panes"
	"tandem/panes/kit/dialog"
)

// changedMsg reports new data from the link or for a session's pane. echo is set if it
// includes the answer to a key.
type changedMsg struct{ echo bool }

// syncNews applies the news of the link, if there are any, and updates the panes.
func (m *model) syncNews() tea.Cmd {
	var cmd tea.Cmd
	if n := m.link.Latest(); n.Serial != m.news.Serial {
		cmd = m.applyNews(n)
	}
	return tea.Batch(cmd, m.sessions.Sync())
}

func (m *model) applyNews(n panes.News) tea.Cmd {
	before := m.news
	if m.o.Restore == "no" {
		n.DropInterruptions()
	}
	m.news = n
	for _, v := range m.views.all {
		v.pane.HandleNews(&before)
	}
	if m.isUserIn(n.ShowIn) && n.Show != "" {
		m.dialog.ForUser(func() tea.Cmd { return m.sessions.OpenSession(n.Show) })
	}
	m.frame.redraw()
	m.machines.UpdateChoices()
	var cmd tea.Cmd
	if u, ok := m.dialog.open.(*palette); ok {
		cmd = u.update(&before, &m.news)
	}
	if n.Stopped != "" {
		return m.detach()
	}
	cmd = tea.Batch(cmd, m.top.awaitSteady(m.frame.redraw))
	if before.Snapshots > 0 {
		cmd = tea.Batch(cmd, m.notices.reportChanges(&before, n.Processes))
	}
	if before.Snapshots > 0 && n.Snapshots > before.Snapshots {
		cmd = tea.Batch(cmd, m.notices.toast.ShowNote("reconnected", false))
	}
	_, listed := m.dialog.open.(*dialog.Approval)
	key := m.o.Bindings.WithKey(" (", keymap.Requests, " answers)", keymap.ScopePrefix)
	cmd = tea.Batch(cmd, m.notices.announceRequests(n.Requests, key, listed))
	if len(n.Notices) > 0 {
		cmd = tea.Batch(cmd, m.notices.toast.ShowNote(strings.Join(n.Notices, "; "), true))
	}
	if len(n.RemoteNotices) > 0 {
		cmd = tea.Batch(cmd, m.notices.showRemoteNews(strings.Join(n.RemoteNotices, "; "), m.faultNote()))
	}
	return cmd
}

// isUserIn reports whether a command run in a session counts as the user's input. The session must
// have the keyboard, and must not run a coding agent: the agent could have run the command while
// the user types.
func (m *model) isUserIn(session string) bool {
	p := m.sessions.FocusedPane()
	if p == nil || p.ID != session || m.dialog.open != nil {
		return false
	}
	process, known := m.news.Process(session)
	return known && process.Agent == nil
}

// maxLeaveTime is how long detaching may take, most of it for saving the layout on a busy disk.
const maxLeaveTime = 3 * time.Second

// saveOnExit saves the layout and the tabs of the Files view when the user detaches.
func (m *model) saveOnExit() {
	ctx, cancel := context.WithTimeout(context.Background(), maxLeaveTime)
	defer cancel()
	m.sessions.Leave(ctx, m.link.StartTask)
	m.files.SaveTabs(ctx)
}
