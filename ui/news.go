package ui

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"tandem/engine/api"
	"tandem/panes"
)

// changedMsg says that the link has news or a pane's session has; echo that it is what was
// typed into, and answers.
type changedMsg struct{ echo bool }

// sync takes in what the link has learnt.
func (m *model) sync() tea.Cmd {
	var cmd tea.Cmd
	if n := m.link.Latest(); n.Serial != m.news.Serial {
		cmd = m.takeNews(n)
	}
	return tea.Batch(cmd, m.sessions.Sync())
}

func (m *model) takeNews(n panes.News) tea.Cmd {
	before := m.news
	m.news = n
	m.tellPanes(&before)
	m.machines.News()
	cmd := m.notePalette(&before)
	if n.Stopped != "" {
		return m.leave()
	}
	if before.Snapshots > 0 {
		cmd = tea.Batch(cmd, m.notices.noteChanges(before.Processes))
	}
	if before.Snapshots > 0 && n.Snapshots > before.Snapshots {
		cmd = tea.Batch(cmd, m.notices.tell("reconnected", false))
	}
	cmd = tea.Batch(cmd, m.notices.noteRequests(before.Requests))
	if len(n.Notices) > 0 {
		cmd = tea.Batch(cmd, m.notices.tell(strings.Join(n.Notices, "; "), true))
	}
	if len(n.RemoteNotices) > 0 {
		cmd = tea.Batch(cmd, m.notices.tellElsewhere(strings.Join(n.RemoteNotices, "; ")))
	}
	return cmd
}

// learn takes in processes that were started here, before their events come.
func (m *model) learn(started ...api.Process) tea.Cmd {
	m.link.Learn(started...)
	return m.sync()
}

// How long leaving waits at most: for all, of which the layout is what counts (a busy
// disk takes its time), and for sessions that are being started.
const (
	lastWord   = 3 * time.Second
	lastStarts = 300 * time.Millisecond
)

// keepLast has the layout and the tabs of files kept that the person leaves behind.
func (m *model) keepLast() {
	ctx, cancel := context.WithTimeout(context.Background(), lastWord)
	defer cancel()
	m.sessions.keeper.keepLast(ctx, m.link.Start)
	m.files.KeepLast(ctx)
}

// call runs an operation on the engine as a command.
func (m *model) call(do func(context.Context, panes.Engine) tea.Msg, failed func(error) tea.Msg) tea.Cmd {
	return panes.Call(env{m}, do, failed)
}

func (m *model) done(msg panes.DoneMsg) tea.Cmd {
	if msg.Err != nil {
		return m.notices.say(panes.ErrorText(msg.Err), true)
	}
	return nil
}
